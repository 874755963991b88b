package recall

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/markup"
)

// mostPlaces is how many places a search shows at most.
const mostPlaces = 8

// searchAll returns the best places for the words of the call in a list of messages.
func (r *Answer) searchAll(ctx context.Context, list []int) (string, bool, error) {
	var found []Place
	words := Words(r.Words)
	for k, i := range list {
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		found = append(found, Places(r.Source.Text(i), k, words)...)
	}
	if len(found) == 0 {
		return fmt.Sprintf("[%s: none of the words stands in the %d messages that are left out]", Name,
			len(list)), true, nil
	}
	var b strings.Builder
	places := r.places(&b, Best(found, mostPlaces), func(k int) (head, text string) {
		i := list[k]
		return r.Source.Handle(i) + " " + r.Source.Origin(i) + ", ", r.Source.Text(i)
	})
	attributes := fmt.Sprintf(` words="%s" places="%d of %d" messages="%d"`, markup.Attribute(r.Words), places,
		len(found), len(list))
	return r.frame(attributes, strings.TrimRight(b.String(), "\n"),
		" For more of a message give its handle with from and to."), true, nil
}

// places writes as many of best as there is room for, the best one first, and returns their number. of returns the text
// that a place is in, and the head that is written in front of the place.
func (r *Answer) places(
	b *strings.Builder, best []Place, of func(k int) (head, text string),
) (shown int) {
	room := r.Room
	for _, p := range best {
		head, text := of(p.Text)
		piece := head + r.place(text, p)
		n := r.Tokens(piece)
		for most := (p.To - p.From) / 2; shown == 0 && n > room && most > 0; most /= 2 {
			p.From, p.To = partAround(text, p.From, p.To, p.At, most)
			piece = head + r.place(text, p)
			n = r.Tokens(piece)
		}
		if shown > 0 && n > room {
			continue
		}
		b.WriteString(piece)
		room -= n
		shown++
	}
	return shown
}

// place returns the text at p under the numbers of its lines.
func (r *Answer) place(text string, p Place) string {
	wrap := r.wrap()
	return fmt.Sprintf("lines %d-%d of %d:\n%s\n\n", wrap.LineAt(text, p.From), wrap.LineAt(text, max(p.From, p.To-1)),
		wrap.Lines(text), markup.Escape(strings.TrimSuffix(text[p.From:p.To], "\n")))
}

// partAround returns the part of text[from:to] around index at: at most `most` bytes, in whole characters. Most of the
// part lies behind at.
func partAround(text string, from, to, at, most int) (partFrom, partTo int) {
	if to-from <= most {
		return from, to
	}
	partFrom = max(from, min(at-most/4, to-most))
	partTo = partFrom + most
	for k := 0; k < utf8.UTFMax-1 && partFrom < partTo && !utf8.RuneStart(text[partFrom]); k++ {
		partFrom++
	}
	for k := 0; k < utf8.UTFMax-1 && partFrom < partTo && partTo < to && !utf8.RuneStart(text[partTo]); k++ {
		partTo--
	}
	return partFrom, partTo
}

// grepAll returns the lines of a list of messages that match pattern, those of the newest message first.
func (r *Answer) grepAll(ctx context.Context, list []int, pattern *regexp.Regexp) (string, bool, error) {
	var g grep
	messages := 0
	for _, i := range slices.Backward(list) {
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		g.head = r.Source.Handle(i) + " " + r.Source.Origin(i) + ":\n"
		before := g.matches
		if err := g.search(ctx, r, r.Source.Text(i), pattern); err != nil {
			return "", false, err
		}
		if g.matches > before {
			messages++
		}
	}
	if g.matches == 0 {
		return fmt.Sprintf("[%s: no line of the %d messages that are left out matches the pattern]", Name,
			len(list)), true, nil
	}
	attributes := fmt.Sprintf(` pattern="%s" matches="%d of %d" messages="%d of %d"`, markup.Attribute(r.Pattern),
		g.shown, g.matches, messages, len(list))
	return r.frame(attributes, g.text.String(), " For more of a message give its handle with from and to."), true, nil
}

// grep collects lines that match a pattern, as many as there is room for.
type grep struct {
	head    string // written before the first match of a message
	text    strings.Builder
	tokens  int
	isFull  bool
	matches int
	shown   int
	shownTo int // the last line of the text that was written
}

// search adds the matches of a text.
func (g *grep) search(ctx context.Context, r *Answer, text string, pattern *regexp.Regexp) error {
	g.shownTo = 0
	return r.wrap().Matches(ctx, text, pattern, func(m Match) bool {
		if g.matches++; g.isFull {
			return true
		}
		context, most := r.Context, maxMatchBytes
		shown, last := g.around(r, text, m, context, most, pattern)
		n := r.Tokens(shown)
		for ; g.shown == 0 && n > r.Room && most > 1; n = r.Tokens(shown) { // the first match is shortened
			if context == 0 {
				most /= 2
			}
			context /= 2
			shown, last = g.around(r, text, m, context, most, pattern)
		}
		if g.shown > 0 && g.tokens+n > r.Room {
			g.isFull = true
			return true
		}
		g.tokens += n
		g.shown++
		g.text.WriteString(shown)
		g.shownTo = max(g.shownTo, last)
		return true
	})
}

// around returns match m with the lines around it that were not shown yet, and the number of the last of these lines.
// It shows only `most` bytes of a long line.
func (g *grep) around(
	r *Answer, text string, m Match, context, most int, pattern *regexp.Regexp,
) (shown string, last int) {
	var b strings.Builder
	switch {
	case g.shownTo == 0:
		b.WriteString(g.head)
	case m.Line-context > g.shownTo+1:
		b.WriteString("--\n")
	}
	before := min(context, m.Line-g.shownTo-1)
	r.wrap().Around(text, m, before, context, func(line, from, to int) {
		if last = line; line > g.shownTo {
			fmt.Fprintf(&b, "%d: %s\n", line, markup.Escape(matchingPart(text[from:to], most, pattern)))
		}
	})
	return b.String(), last
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
