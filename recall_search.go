package winnow

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/search"
)

// What a search shows: so many of the best places, and none that is worth less than this share of the best one.
const (
	mostPlaces  = 8
	leastOfBest = 0.5
)

// searchAll shows the best places for some words in a list of messages.
func (r *recall) searchAll(ctx context.Context, list []int) (string, bool, error) {
	ranking := search.NewRanking(search.NewQuery(r.words))
	for _, i := range list {
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		ranking.Add(shownText(&r.history[i]))
	}
	if ranking.Found() == 0 {
		return fmt.Sprintf("[%s: none of the words stands in the %d messages that are left out]", recallName,
			len(list)), true, nil
	}
	var b strings.Builder
	places := r.places(&b, ranking.Best(mostPlaces), func(k int) (handle, text string) {
		return r.out.handles.of(list[k]), shownText(&r.history[list[k]])
	}, list...)
	attributes := fmt.Sprintf(` words="%s" places="%d of %d" messages="%d"`, markup.Attribute(r.words), places,
		ranking.Found(), len(list))
	return r.frame(attributes, strings.TrimRight(b.String(), "\n"),
		" For more of a message give its handle with from and to."), true, nil
}

// places writes places, the best one first, as many as there is room for, and returns how many. of returns the handle
// and the text of what a place is in.
func (r *recall) places(
	b *strings.Builder, best []search.Place, of func(k int) (handle, text string), list ...int,
) (shown int) {
	room := r.room
	for _, p := range best {
		handle, text := of(p.Text)
		head := fmt.Sprintf("lines %d-%d of %d:\n", search.LineAt(text, p.From), search.LineAt(text, p.To-1),
			search.Lines(text))
		if handle != "" {
			m := &r.history[list[p.Text]]
			head = handle + " " + originOf(m, r.out.tools.of(list[p.Text], m)) + ", " + head
		}
		piece := head + markup.Escape(strings.TrimSuffix(text[p.From:p.To], "\n")) + "\n\n"
		n := r.textTokens(piece)
		if shown > 0 && (n > room || p.Score < leastOfBest*best[0].Score) {
			continue
		}
		b.WriteString(piece)
		room -= n
		shown++
	}
	return shown
}

// grepAll shows the lines of a list of messages that match a pattern, those of the newest message first.
func (r *recall) grepAll(ctx context.Context, list []int, pattern *regexp.Regexp) (string, bool, error) {
	var g grep
	messages := 0
	for _, i := range slices.Backward(list) {
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		m := &r.history[i]
		g.head = r.out.handles.of(i) + " " + originOf(m, r.out.tools.of(i, m)) + ":\n"
		before := g.matches
		if err := g.search(ctx, r, shownText(m), pattern); err != nil {
			return "", false, err
		}
		if g.matches > before {
			messages++
		}
	}
	if g.matches == 0 {
		return fmt.Sprintf("[%s: no line of the %d messages that are left out matches the pattern]", recallName,
			len(list)), true, nil
	}
	attributes := fmt.Sprintf(` pattern="%s" matches="%d of %d" messages="%d of %d"`, markup.Attribute(r.pattern),
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
func (g *grep) search(ctx context.Context, r *recall, text string, pattern *regexp.Regexp) error {
	g.shownTo = 0
	return search.Matches(ctx, text, pattern, func(m search.Match) bool {
		if g.matches++; g.isFull {
			return true
		}
		shown, last := g.around(text, m, r.context, pattern)
		n := r.textTokens(shown)
		for context := r.context; g.shown == 0 && n > r.room && context > 0; n = r.textTokens(shown) { // of one there is room for some
			context /= 2
			shown, last = g.around(text, m, context, pattern)
		}
		if g.shown > 0 && g.tokens+n > r.room {
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

// around returns a match with the lines around it that were not shown yet, and the last of them.
func (g *grep) around(text string, m search.Match, context int, pattern *regexp.Regexp) (shown string, last int) {
	var b strings.Builder
	switch {
	case g.shownTo == 0:
		b.WriteString(g.head)
	case m.Line-context > g.shownTo+1:
		b.WriteString("--\n")
	}
	before := min(context, m.Line-g.shownTo-1)
	search.Around(text, m, before, context, func(line, from, to int) {
		if last = line; line > g.shownTo {
			fmt.Fprintf(&b, "%d: %s\n", line, markup.Escape(matchingPart(text[from:to], pattern)))
		}
	})
	return b.String(), last
}

// maxMatchBytes is how much of a long line is shown, around what matches.
const maxMatchBytes = 600

// matchingPart returns a line, or what stands around the match in one that is long.
func matchingPart(line string, pattern *regexp.Regexp) string {
	if len(line) <= maxMatchBytes {
		return line
	}
	from := 0
	if at := pattern.FindStringIndex(line); at != nil {
		from = max(0, min(at[0]-maxMatchBytes/4, len(line)-maxMatchBytes))
	}
	return strings.ToValidUTF8(line[from:from+maxMatchBytes], "") + " …"
}
