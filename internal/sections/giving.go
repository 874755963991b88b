package sections

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// What is given up of what people said, where there is no room for all.

const (
	// A longer message has something pasted into it, most likely: nine in ten in the recorded sessions are shorter.
	pastedChars = 1_500
	pastedHead  = 700 // characters that stay of it at its beginning, and 350 at its end
	pastedTail  = 350
	// What stays of a message for which there is no other room.
	sentenceChars = 160

	saidLow = 0.7 // of the room: what is given up is given up for several summaries at once

	mostPerToken = 128 // bytes: the longest token of the vocabularies, a run of spaces
)

// NewestSaid is how many messages of people stay whole as long as the request can be made so.
const NewestSaid = 3

// Room says how many tokens the section may have.
type Room struct {
	Old   int // for what stands before the newest messages; these may take half of it
	Free  int // for all, likewise
	Whole int // for all, with the newest messages whole
	Most  int // for all, with the least beside it: above that, even the newest messages are cut

	Behind int // how many of the newest messages are newer than all in the section
}

// Section returns the section. It is not ok if its newest messages have no room as they are, although with less beside
// them they have.
//
// What it gives up follows from the messages in their order, as if it had been written behind each of them: so what is
// given up once stays so, and another message changes nothing that stands before it as long as there is room.
func (d *Dialogue) Section(tokens func(string) int, room Room) (section string, ok bool) {
	if d.open > 0 && (!d.stays || d.open == len(d.list)) { // it needs no mark at the end
		d.list, d.open = slices.Delete(d.list, d.open-1, d.open), 0
	}
	g := giving{Dialogue: d, tokens: tokens}
	g.inOrder(room.Old, max(room.Free, room.Whole, room.Most))
	for ; room.Behind < NewestSaid; room.Behind++ { // else as many of them as there is room for
		if section, fits, ok := g.wholeNewest(room); fits {
			return section, ok
		}
	}
	g.cutsNewest = true
	if section = g.fit(func() int { return len(g.list) }, room.Free); tokens(section) > room.Free {
		g.most, g.goal = -1, -1
		g.upTo(len(g.list))
		g.list = nil
		section = g.write()
	}
	if tokens(section) > room.Free {
		section = ""
	}
	return section, true
}

// wholeNewest returns the section with its newest messages whole, if it can be had; ok is as in [Dialogue.Section].
func (g *giving) wholeNewest(room Room) (section string, fits, ok bool) {
	newest, words := g.newest(0, room.Behind), 0
	for i := newest; i < len(g.list); i++ {
		if g.list[i].isOfPerson() {
			words += g.sizes[i]
		}
	}
	whole := max(room.Free, room.Whole)
	limit := max(whole, room.Most)
	if words > limit { // older words would go in vain
		return "", false, false
	}
	recent := count.Sum(g.sizes[newest:])
	most := max(room.Free, min(room.Whole, recent+room.Free/2))
	if section = g.fit(func() int { return g.newest(0, room.Behind) }, most); g.tokens(section) <= whole {
		return section, true, true
	}
	g.measure(section, whole) // what came of the newest goes before their words
	g.each(len(g.list), g.dropAnswer)
	g.dropEmpty()
	section = g.write()
	return section, g.tokens(section) <= limit, g.tokens(section) <= whole
}

// giving gives up items of a dialogue, always the oldest first, until what is counted has at most goal tokens. Words go
// only where it has more than `most` without what was pasted and without answers.
type giving struct {
	*Dialogue
	tokens          func(string) int
	sizes           []int // of the items
	sum, most, goal int

	cutsNewest bool // even the newest messages have no room
}

// inOrder gives up, behind each message, what has no room then, and of a text what has no room in `most` tokens even
// alone: to count 50 MB again and again takes seconds.
func (g *giving) inOrder(room, most int) {
	all := g.list
	g.list = make([]saying, 0, len(all))
	old, recent, newest := 0, 0, 0 // tokens before and from index newest on
	for i := range all {
		last := len(g.list)
		g.list, g.sizes = append(g.list, all[i]), append(g.sizes, 0)
		if len(all[i].text)/mostPerToken > most {
			g.cutPasted(last)
		}
		g.sizes[last] = g.tokens(g.list[last].write())
		recent += g.sizes[last]
		for n := g.newest(newest, 0); newest < n; newest++ {
			old, recent = old+g.sizes[newest], recent-g.sizes[newest]
		}
		if left := room - min(recent, room/2); old > left {
			g.sum, g.most, g.goal = old+recent, left+recent, int(saidLow*float64(left))+recent
			g.upTo(newest)
			newest = g.newest(0, 0)
			recent = count.Sum(g.sizes[newest:])
			old = g.sum - recent
		}
	}
}

// newest returns the index of the oldest of the newest messages, n of which are behind the section. It is not before
// from.
func (d *Dialogue) newest(from, n int) int {
	if n >= NewestSaid {
		return len(d.list)
	}
	for i := len(d.list) - 1; i >= from; i-- {
		if d.list[i].isOfPerson() {
			if n++; n == NewestSaid {
				return i
			}
		}
	}
	return from
}

// fit gives up what stands before index end() until the section has at most `most` tokens, and returns the section.
func (g *giving) fit(end func() int, most int) string {
	for range 2 { // the items together may have more tokens than each for itself
		section := g.write()
		if g.tokens(section) <= most {
			return section
		}
		g.measure(section, most)
		g.upTo(end())
	}
	return g.write()
}

// measure counts all items; the goal is a section of `most` tokens.
func (g *giving) measure(section string, most int) {
	g.sum = count.Sum(g.sizes)
	g.goal = most - (g.tokens(section) - g.sum)
	g.most = g.goal
}

// upTo gives up what stands before index end: first elements in front of words, then what was pasted, then the answers,
// also the newest ones but for the last, then messages to their first sentences. At last messages are left out.
func (g *giving) upTo(end int) {
	chars := sentenceChars
	if g.cutsNewest {
		chars /= 4
	}
	g.each(end, g.cutElements)
	g.each(end, g.cutPasted)
	g.each(max(end, len(g.list)-2), g.dropAnswer)
	if g.sum > g.most {
		whole := slices.Clone(g.list)
		g.each(end, func(i int) { g.cutToSentence(i, chars) })
		g.each(end, g.dropMessage)
		if g.cutsNewest { // what is left of an old message may be no less than a newer one
			g.restore(whole)
		}
	}
	g.dropEmpty()
}

// restore gives items that were cut their text in whole again where that has room, the newest first.
func (g *giving) restore(whole []saying) {
	for i := len(g.list) - 1; i >= 0; i-- {
		s := &g.list[i]
		if s.text == "" || s.text == whole[i].text {
			continue
		}
		if n := g.tokens(whole[i].write()); g.sum+n-g.sizes[i] <= g.goal {
			s.text = whole[i].text
			g.sum, g.sizes[i] = g.sum+n-g.sizes[i], n
		}
	}
}

func (g *giving) each(end int, f func(i int)) {
	for i := 0; i < end && g.sum > g.goal; i++ {
		f(i)
	}
}

// shorten gives item i another text; none leaves it out.
func (g *giving) shorten(i int, text string) {
	s, n := &g.list[i], 0
	if s.text = text; text != "" {
		n = g.tokens(s.write())
	}
	g.sum, g.sizes[i] = g.sum+n-g.sizes[i], n
}

func (g *giving) cutElements(i int) {
	s := &g.list[i]
	own := ownWords(s.text)
	if s.isOfPerson() && runes.AtLeast(s.text[:own], sentenceChars) {
		g.shorten(i, strings.TrimLeft(leftOutOf(s.text[:own], s.note), " ")+s.text[own:])
	}
}

func (g *giving) cutPasted(i int) {
	s := &g.list[i]
	if s.isOfPerson() && runes.AtLeast(s.text, pastedChars+1) {
		head := markup.CutAt(s.text, runes.HeadWords(s.text, pastedHead))
		tail := markup.CutAt(s.text, runes.TailWords(s.text, pastedTail))
		g.shorten(i, s.text[:head]+leftOutOf(s.text[head:tail], s.note)+s.text[tail:])
	}
}

// dropAnswer leaves out item i if it is an answer of the agent.
func (g *giving) dropAnswer(i int) {
	if g.list[i].kind == byAgent {
		g.shorten(i, "")
	}
}

func (g *giving) cutToSentence(i, chars int) {
	s := &g.list[i]
	start := len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n"))
	line, _, _ := strings.Cut(s.text[start:], "\n")
	head := start + headOf(line, chars)
	rest := s.text[head:]
	if s.isOfPerson() && runes.AtLeast(rest, chars) && !strings.HasSuffix(s.text, leftOutEnd) {
		g.shorten(i, s.text[:head]+strings.TrimSuffix(leftOutOf(rest, s.note), " "))
	}
}

// headOf returns where to cut line, behind its first sentence or behind about n characters. A path in front is whole,
// so that some of the message stays: half a path is another path.
func headOf(line string, n int) (head int) {
	for ; head == 0 && n <= 2*sentenceChars; n *= 2 {
		head = runes.HeadWords(line, n)
	}
	return markup.CutAt(line, min(prose.SentenceEnd(line), head))
}

// dropMessage leaves out what a person said in item i.
func (g *giving) dropMessage(i int) {
	if s := &g.list[i]; s.isOfPerson() && s.text != "" {
		g.left++
		g.shorten(i, "")
	}
}

// dropEmpty takes out the items of which nothing is left.
func (g *giving) dropEmpty() {
	kept := 0
	for i := range g.list {
		if g.list[i].text == "" && g.list[i].kind != openHere {
			continue
		}
		if g.open == i+1 {
			g.open = kept + 1
		}
		g.list[kept], g.sizes[kept] = g.list[i], g.sizes[i]
		kept++
	}
	g.list, g.sizes = slices.Delete(g.list, kept, len(g.list)), g.sizes[:kept]
}

const leftOutEnd = " …]"

// leftOutOf says that a text is left out.
func leftOutOf(text, note string) string {
	return fmt.Sprintf(" [… %d characters left out%s"+leftOutEnd+" ", utf8.RuneCountInString(text), note)
}
