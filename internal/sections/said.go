package sections

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
)

// What people said, word for word, as the first part of a summary, and what came of it. Each text has its number of
// lines in front of it, so that no text can pass for another one. The bytes of an item follow from its message and
// from what stood around it alone: the beginning of the section stays the same from one summary to the next.

const (
	saidTag   = "people-said"
	saidIntro = "What people said, word for word, oldest first. An agent line is the end of what was answered to it."
	// A longer message has something pasted into it, most likely: nine in ten in the recorded sessions are shorter.
	pastedChars = 1_500
	pastedHead  = 700 // characters that stay of it at its beginning, and 350 at its end
	pastedTail  = 350
	// What stays of a message for which there is no other room.
	sentenceChars = 160
	// The end of an answer is one line. What a short message answers is quoted at more length: "B2." means nothing
	// without what the agent had listed.
	answerChars, askedChars, shortChars = 160, 600, 80

	newestSaid = 3   // messages of people that stay whole, whatever there is no room for
	saidLow    = 0.7 // of the room: what is given up is given up for several summaries at once
)

// saying is one item of the section.
type saying struct {
	kind sayingKind
	head string // what stands in front of the number of lines
	text string
	note string // how to recall the message
}

type sayingKind string

const (
	byPerson sayingKind = "person"
	byAnswer sayingKind = "answer"
	byAgent  sayingKind = "agent: "
	openHere sayingKind = "(Here stands the open request, which is a message of its own.)"
)

// Dialogue is what people said in the messages that a summary stands for, oldest first.
type Dialogue struct {
	list []saying
	left int // messages that are left out
	open int // one more than the index of the open request, which has no text here; 0: none
}

// Person adds what a person said, who may have a name. note says how to recall it.
func (d *Dialogue) Person(when time.Time, name, text, note string) {
	s := saying{byPerson, byWhom(byPerson, when, name), saidText(text), note}
	if d.open > 0 { // it was open when an earlier summary was written
		d.list[d.open-1], d.open = s, 0
		return
	}
	d.list = append(d.list, s)
}

// Answer adds what a person, who may have a name, answered through a tool to a question.
func (d *Dialogue) Answer(when time.Time, name, question, text, note string) {
	head := byWhom(byAnswer, when, name) + ", to " + quoted([]string{secret.Mask(question)})
	d.list = append(d.list, saying{byAnswer, head, saidText(text), note})
}

// Open marks the place of the open request, which is a message of its own behind the summary.
func (d *Dialogue) Open() {
	if d.open == 0 {
		d.list = append(d.list, saying{kind: openHere})
		d.open = len(d.list)
	}
}

// Agent adds the end of what the agent answered; next is what a person said to that.
func (d *Dialogue) Agent(text, next string) {
	most := answerChars
	if IsShort(next) {
		most = askedChars
	}
	text = secret.Mask(runes.OneLine(strings.ToValidUTF8(text, "\uFFFD")))
	switch start := runes.TailWords(text, most); {
	case text == "":
		text = "(no text before the next message)"
	case start > 0:
		text = "… " + strings.TrimSpace(text[start:])
	}
	d.list = append(d.list, saying{kind: byAgent, text: markup.Escape(text)})
}

// IsShort reports whether a text says little without the one that it answers.
func IsShort(text string) bool { return !runes.AtLeast(strings.TrimSpace(text), shortChars+1) }

// EndsOpen reports whether nothing says yet what came of the newest message.
func (d *Dialogue) EndsOpen() bool {
	return len(d.list) > 0 && d.list[len(d.list)-1].kind != byAgent
}

// byWhom returns the head of what a person said, with the day and the time as the host's clock showed them.
func byWhom(kind sayingKind, when time.Time, name string) string {
	head := string(kind)
	if !when.IsZero() {
		head += when.Format(", 2006-01-02 15:04")
	}
	if name = runes.OneLine(name); name != "" {
		head += ", " + quoted([]string{name})
	}
	return head
}

// saidText returns a text as the section has it: with its own line ends, and without markup of the frame.
func saidText(s string) string {
	parts := strings.Split(strings.ToValidUTF8(s, "\uFFFD"), "\r")
	for i := range parts {
		parts[i] = markup.Escape(parts[i])
	}
	return strings.Join(parts, "\r")
}

func (s *saying) write() string {
	switch s.kind {
	case openHere:
		return string(openHere) + "\n"
	case byAgent:
		return string(byAgent) + s.text + "\n"
	}
	return fmt.Sprintf("%s (%d lines):\n%s\n", s.head, strings.Count(s.text, "\n")+1, s.text)
}

func (s *saying) isOfPerson() bool { return s.kind == byPerson || s.kind == byAnswer }

// Read adds what an earlier summary of this library quotes. The host may have dropped the messages.
func (d *Dialogue) Read(summary string) {
	if inner, framed := strings.CutPrefix(summary, Begin); framed {
		d.Take(inner)
	}
}

// Take adds what a section at the beginning of text quotes, and returns the rest of text.
func (d *Dialogue) Take(text string) (rest string) {
	rest, found := strings.CutPrefix(text, "<"+saidTag+">\n"+saidIntro+"\n")
	first := len(d.list)
	for found {
		var line string
		line, rest, found = strings.Cut(rest, "\n")
		lines, at := 0, strings.LastIndex(line, " (")
		switch n, _ := fmt.Sscanf(line, leftOut, &lines); {
		case line == "</"+saidTag+">":
			return strings.TrimLeft(rest, "\n")
		case n == 1:
			d.left += lines
		case line == string(openHere):
			// What the host kept of the last request may have the open one in front of the summary.
			if n := len(d.list); n == 0 || n > first || d.list[n-1].kind != byPerson {
				d.Open()
			}
		case strings.HasPrefix(line, string(byAgent)):
			d.list = append(d.list, saying{kind: byAgent, text: strings.TrimPrefix(line, string(byAgent))})
		default:
			if _, err := fmt.Sscanf(line[max(0, at):], " (%d lines):", &lines); at < 0 || err != nil || lines < 1 {
				return text
			}
			end := nthLine(rest, lines)
			s := saying{head: line[:at], kind: byAnswer, text: rest[:max(0, end-1)]}
			if strings.HasPrefix(line, string(byPerson)) {
				s.kind = byPerson
			}
			d.list, rest = append(d.list, s), rest[end:]
		}
	}
	return text
}

// nthLine returns where line n of s begins, from 0, or len(s).
func nthLine(s string, n int) (at int) {
	for ; n > 0; n-- {
		k := strings.IndexByte(s[at:], '\n')
		if k < 0 {
			return len(s)
		}
		at += k + 1
	}
	return at
}

const leftOut = "(%d messages of people that came next have no room here.)"

// Section returns the section. It has room tokens for all but the newest messages, and never more than most. What it
// gives up follows from the messages in their order, as if it had been written behind each of them: so what is given up
// once stays so, and another message changes nothing that stands before it as long as there is room.
func (d *Dialogue) Section(tokens func(string) int, room, most int) string {
	if d.open > 0 && d.open == len(d.list) { // it needs no mark at the end
		d.list, d.open = d.list[:d.open-1], 0
	}
	all := d.list
	sizes := make([]int, 0, len(all))
	d.list = make([]saying, 0, len(all))
	old, recent, newest := 0, 0, 0 // tokens before and from index newest on
	for i := range all {
		d.list, sizes = append(d.list, all[i]), append(sizes, tokens(all[i].write()))
		recent += sizes[len(sizes)-1]
		for n := d.newest(newest); newest < n; newest++ {
			old, recent = old+sizes[newest], recent-sizes[newest]
		}
		if left := room - min(recent, room/2); old > left {
			old, sizes = d.giveUp(tokens, sizes, newest, old, int(saidLow*float64(left)))
			newest = d.newest(0)
		}
	}
	section := d.write()
	for try := 0; tokens(section) > most && try <= 3; try++ { // less than the room is free
		sum, end := 0, len(d.list)
		for i := range sizes {
			sum += sizes[i]
		}
		goal := most - (tokens(section) - sum) // the items together may have more tokens than each for itself
		switch try {
		case 0: // the newest stay, as long as there is something else
			end = newest
		case 3:
			goal = -1
		}
		_, sizes = d.giveUp(tokens, sizes, end, sum, goal)
		section = d.write()
	}
	if tokens(section) > most {
		return ""
	}
	return section
}

// newest returns the index of the oldest of the newest messages, which is not before from.
func (d *Dialogue) newest(from int) int {
	n := 0
	for i := len(d.list) - 1; i >= from; i-- {
		if d.list[i].isOfPerson() {
			if n++; n == newestSaid {
				return i
			}
		}
	}
	return from
}

// giveUp shortens the items before index end, whose tokens are sum, to goal, and returns what is left of both: first
// what was pasted, then the answers, then long messages to their first sentences, always the oldest first. Short
// messages take little, and with what they answer they say most. At last messages are left out.
func (d *Dialogue) giveUp(tokens func(string) int, sizes []int, end, sum, goal int) (left int, after []int) {
	shorten := func(i int, text string) {
		s := &d.list[i]
		s.text = text
		n := 0
		if text != "" {
			n = tokens(s.write())
		}
		sum, sizes[i] = sum+n-sizes[i], n
	}
	each := func(first int, f func(i int, s *saying)) {
		for i := first; i < end && sum > goal; i++ {
			f(i, &d.list[i])
		}
	}
	dropAnswer := func(isAsked bool) func(int, *saying) {
		return func(i int, s *saying) {
			if s.kind == byAgent && isAsked == (i+1 < len(d.list) && IsShort(d.list[i+1].text)) {
				shorten(i, "")
			}
		}
	}
	dropMessage := func(mayBeWhole bool) func(int, *saying) {
		return func(i int, s *saying) {
			if s.isOfPerson() && s.text != "" && (mayBeWhole || strings.HasSuffix(s.text, leftOutEnd)) {
				d.left++
				shorten(i, "")
			}
		}
	}
	first := 1 // what people said first is what all is about
	if end == len(d.list) {
		first = 0
	}
	each(0, func(i int, s *saying) {
		if s.isOfPerson() && runes.AtLeast(s.text, pastedChars+1) {
			head := markup.CutAt(s.text, runes.HeadWords(s.text, pastedHead))
			tail := markup.CutAt(s.text, runes.TailWords(s.text, pastedTail))
			shorten(i, s.text[:head]+leftOutOf(s.text[head:tail], s.note)+s.text[tail:])
		}
	})
	each(0, dropAnswer(false))
	chars := sentenceChars
	if end == len(d.list) { // even the newest ones have no room
		chars /= 4
	}
	each(0, func(i int, s *saying) {
		start := len(s.text) - len(strings.TrimLeft(s.text, " \t\r\n"))
		line, _, _ := strings.Cut(s.text[start:], "\n")
		head := start + headOf(line, chars)
		rest := s.text[head:]
		if s.isOfPerson() && runes.AtLeast(rest, chars) && !strings.HasSuffix(s.text, leftOutEnd) {
			shorten(i, s.text[:head]+strings.TrimSuffix(leftOutOf(rest, s.note), " "))
		}
	})
	each(first, dropMessage(false))
	each(0, dropAnswer(true))
	each(first, dropMessage(true))
	return sum, d.withoutEmpty(sizes)
}

// headOf returns where to cut line, behind its first sentence or behind about n characters. A path in front is whole,
// so that some of the message stays: half a path is another path.
func headOf(line string, n int) (head int) {
	for ; head == 0 && n <= 2*sentenceChars; n *= 2 {
		head = runes.HeadWords(line, n)
	}
	return markup.CutAt(line, min(prose.SentenceEnd(line), head))
}

// withoutEmpty takes out what giveUp has left nothing of. It returns the sizes of the rest.
func (d *Dialogue) withoutEmpty(sizes []int) []int {
	kept := 0
	for i := range d.list {
		if d.list[i].text == "" && d.list[i].kind != openHere {
			continue
		}
		if d.open == i+1 {
			d.open = kept + 1
		}
		d.list[kept], sizes[kept] = d.list[i], sizes[i]
		kept++
	}
	d.list = slices.Delete(d.list, kept, len(d.list))
	return sizes[:kept]
}

const leftOutEnd = " …]"

// leftOutOf says that a text is left out.
func leftOutOf(text, note string) string {
	return fmt.Sprintf(" [… %d characters left out%s"+leftOutEnd+" ", utf8.RuneCountInString(text), note)
}

func (d *Dialogue) write() string {
	if len(d.list) == 0 { // the frame alone would take the room of other names
		return ""
	}
	var b strings.Builder
	b.WriteString("<" + saidTag + ">\n" + saidIntro + "\n")
	for i := range d.list {
		if b.WriteString(d.list[i].write()); i == 0 && d.left > 0 {
			fmt.Fprintf(&b, leftOut+"\n", d.left)
		}
	}
	b.WriteString("</" + saidTag + ">\n\n")
	return b.String()
}
