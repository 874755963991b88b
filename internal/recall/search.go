package recall

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
)

// searched are the texts that a call searches: of the message that it names, or of a list of messages.
type searched struct {
	count      int
	at         func(k int) (head, text string) // head says whose text it is; "": the answer says so
	name       string                          // what the answer is to
	what       string
	attributes string // of the answer
	more       string // how to go on
}

// target returns the text of the message that the call names.
func (r *Answer) target() searched {
	return searched{
		count: 1, at: func(int) (head, text string) { return "", r.Target.Text },
		name: Name + " " + r.Handle, what: "this message",
		attributes: fmt.Sprintf(` handle="%s" from="%s"`, r.Handle, r.Target.Origin),
	}
}

// listed returns the texts of a list of messages.
func (r *Answer) listed(list []int) searched {
	attribute, value := "handle", r.Handle
	switch {
	case r.Pattern != "":
		attribute, value = "pattern", markup.Attribute(r.Pattern)
	case r.Words != "":
		attribute, value = "words", markup.Attribute(r.Words)
	}
	return searched{
		count: len(list), at: func(k int) (head, text string) {
			i := list[k]
			return r.Source.Handle(i) + " " + r.Source.Origin(i), r.Source.Text(i)
		},
		name: Name, what: fmt.Sprintf("the %d messages that are left out", len(list)),
		attributes: fmt.Sprintf(` %s="%s" messages="%d"`, attribute, value, len(list)),
		more:       " For more of a message give its handle with from and to.",
	}
}

// search returns what the call asks for of the texts: lines that match pattern, places with the words or, if it gives
// neither, all.
func (r *Answer) search(ctx context.Context, in searched, pattern *regexp.Regexp) (answer string, ok bool, err error) {
	text, count, missing := "", "", "none of the words stands"
	switch {
	case pattern != nil:
		text, count, err = r.findLines(ctx, in, pattern)
		missing = "no line matches the pattern"
	case r.Words != "":
		text, count, err = r.findWords(ctx, in)
	case r.Target != nil:
		answer, ok = r.lines(in.attributes, r.Target.Text)
		return answer, ok, nil
	default:
		var list strings.Builder
		for k := range in.count {
			list.WriteString(r.entry(in.at(k)))
		}
		answer, ok = r.lines(in.attributes, list.String())
		return answer, ok, nil
	}
	switch {
	case err != nil:
		return "", false, err
	case text == "":
		return fmt.Sprintf("[%s: %s in %s]", in.name, missing, in.what), true, nil
	}
	return frame(in.attributes+count, text, in.more), true, nil
}

// mostPlaces is how many places a search shows at most.
const mostPlaces = 8

// findWords returns the best places for the words of the call, and how many there are as an attribute.
func (r *Answer) findWords(ctx context.Context, in searched) (text, count string, err error) {
	var found []Place
	words := Words(r.Words)
	for k := range in.count {
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
		_, text := in.at(k)
		found = append(found, Places(text, k, words)...)
	}
	var b strings.Builder
	room, shown := r.Room, 0
	for _, p := range Best(found, mostPlaces) {
		head, text := in.at(p.Text)
		if head != "" {
			head += ", "
		}
		all := r.linesOf(text)
		piece := head + all.place(p)
		n := r.Tokens(piece)
		for most := (p.To - p.From) / 2; shown == 0 && n > room && most > 0; most /= 2 {
			p.From, p.To = partAround(text, p.From, p.To, p.At, most)
			piece = head + all.place(p)
			n = r.Tokens(piece)
		}
		if shown > 0 && n > room {
			continue
		}
		b.WriteString(piece)
		room -= n
		shown++
	}
	return strings.TrimRight(b.String(), "\n"), fmt.Sprintf(` places="%d of %d"`, shown, len(found)), nil
}

// place returns the text at p under the numbers of its lines.
func (l *lines) place(p Place) string {
	return fmt.Sprintf("lines %d-%d of %d:\n%s\n\n", l.at(p.From), l.at(max(p.From, p.To-1)), l.count(),
		markup.Escape(strings.TrimSuffix(l.text[p.From:p.To], "\n")))
}

// partAround returns the part of text[from:to] around index at: at most `most` bytes, in whole characters. Most of the
// part lies behind at.
func partAround(text string, from, to, at, most int) (partFrom, partTo int) {
	if to-from <= most {
		return from, to
	}
	partFrom = max(from, characterStart(text, max(from, min(at-most/4, to-most))))
	return partFrom, max(partFrom, characterStart(text, partFrom+most))
}

// grep collects lines that match a pattern, as many as there is room for.
type grep struct {
	*Answer
	pattern *regexp.Regexp
	text    strings.Builder
	tokens  int
	isFull  bool
	lines   int // of all texts
	matches int
	shown   int
}

// findLines returns the lines that match pattern, those of the last text first, and how many there are as an attribute.
func (r *Answer) findLines(ctx context.Context, in searched, pattern *regexp.Regexp) (text, count string, err error) {
	g := grep{Answer: r, pattern: pattern}
	for k := range in.count {
		head, text := in.at(in.count - 1 - k)
		if head != "" {
			head += ":\n"
		}
		if err := g.search(ctx, head, text); err != nil {
			return "", "", err
		}
	}
	return g.text.String(), fmt.Sprintf(` lines="%d" matches="%d of %d"`, g.lines, g.shown, g.matches), nil
}

// linesBetweenLooks is how many lines are matched between two looks at a context.
const linesBetweenLooks = 16

// search adds the lines of a text that match, one by one and without their line ends. head stands in front of the first
// match. A pattern of many repetitions takes seconds for a megabyte, so ctx may end meanwhile.
func (g *grep) search(ctx context.Context, head, text string) error {
	all, shownTo := g.linesOf(text), 0 // the last line of the text that was written
	g.lines += all.count()
	for n := range all.count() {
		if n%linesBetweenLooks == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !g.pattern.MatchString(all.line(n + 1)) {
			continue
		}
		if g.matches++; g.isFull {
			continue
		}
		around, most := g.Context, maxMatchBytes
		shown := g.around(&all, head, n+1, shownTo, around, most)
		tokens := g.Tokens(shown)
		for ; g.shown == 0 && tokens > g.Room && most > 1; tokens = g.Tokens(shown) { // the first match is shortened
			if around == 0 {
				most /= 2
			}
			around /= 2
			shown = g.around(&all, head, n+1, shownTo, around, most)
		}
		if g.isFull = g.shown > 0 && g.tokens+tokens > g.Room; g.isFull {
			continue
		}
		g.tokens += tokens
		g.shown++
		g.text.WriteString(shown)
		shownTo = max(shownTo, min(n+1+around, all.count()))
	}
	return nil
}

// around returns line n, which matches, and as many lines before and behind it as are asked for and were not shown yet.
// It shows only `most` bytes of a long line.
func (g *grep) around(all *lines, head string, n, shownTo, around, most int) string {
	var b strings.Builder
	switch {
	case shownTo == 0:
		b.WriteString(head)
	case n-around > shownTo+1:
		b.WriteString("--\n")
	}
	for k := max(shownTo+1, n-around); k <= min(n+around, all.count()); k++ {
		fmt.Fprintf(&b, "%d: %s\n", k, markup.Escape(matchingPart(all.line(k), most, g.pattern)))
	}
	return b.String()
}

// maxMatchBytes is how many bytes of a long line are shown, around what matches.
const maxMatchBytes = 600

// matchingPart returns line or, if that is longer than `most` bytes, the part around its match, with an ellipsis where
// something is missing.
func matchingPart(line string, most int, pattern *regexp.Regexp) string {
	if len(line) <= most {
		return line
	}
	from, to := 0, 0
	if at := pattern.FindStringIndex(line); at != nil {
		from = at[0]
	}
	from, to = partAround(line, 0, len(line), from, most)
	part := strings.ToValidUTF8(line[from:to], "")
	if from > 0 {
		part = "… " + part
	}
	if to < len(line) {
		part += " …"
	}
	return part
}
