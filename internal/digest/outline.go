package digest

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// outline is an earlier summary, be it a digest or a model's, by its own headings: a model may have written other
// ones than it was asked for, or in another language.
type outline []outlineSection

type outlineSection struct {
	heading string   // as it stands; "" for what comes before the first one
	lines   []string // as they stand, without blank ones at the end
	gap     bool     // a blank line stood behind them
}

// previousShare is the share of a digest that an earlier summary may take. What a model wrote about messages that are
// gone exists nowhere else; the messages at hand get a summary when a summarizer works again.
const previousShare = 0.5

// read adds a summary. Sections under the same heading become one.
func (o *outline) read(s string) {
	if runes.IsBlank(s) {
		return
	}
	at := o.section("")
	isFenced := false
	for line := range strings.Lines(s) {
		line = strings.TrimRight(strings.ToValidUTF8(line, "\uFFFD"), " \t\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			isFenced = !isFenced
		}
		if !isFenced && isHeading(line) {
			at = o.section(line)
			continue
		}
		if text := &(*o)[at]; line != "" || len(text.lines) > 0 {
			text.lines = append(text.lines, line)
		}
	}
	for i := range *o {
		text := &(*o)[i]
		for len(text.lines) > 0 && text.lines[len(text.lines)-1] == "" {
			text.lines, text.gap = text.lines[:len(text.lines)-1], true
		}
	}
}

// section returns the index of the section under heading. It adds the section if o does not have it.
func (o *outline) section(heading string) int {
	const most = 64 // a text with more headings than that has lines that look like one
	at := slices.IndexFunc(*o, func(s outlineSection) bool { return s.heading == heading })
	if at < 0 && len(*o) >= most {
		at = len(*o) - 1
		(*o)[at].lines = append((*o)[at].lines, heading)
	}
	if at < 0 {
		*o, at = append(*o, outlineSection{heading: heading}), len(*o)
	}
	return at
}

// isHeading reports whether a line names what follows it: a heading of markdown, or a short line that is bold or ends
// in a colon.
func isHeading(line string) bool {
	const longest, longestMarked = 60, 120 // characters of a line that is a name and no sentence
	if strings.HasPrefix(line, "#") {
		return !runes.AtLeast(line, longestMarked)
	}
	if line == "" || strings.HasPrefix(line, "- ") || line[0] == ' ' || runes.AtLeast(line, longest) {
		return false
	}
	isBold := len(line) > 4 && strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**")
	unmarked := strings.TrimSuffix(line, "**")
	return isBold || strings.HasSuffix(unmarked, ":") || strings.HasSuffix(unmarked, "：")
}

// tokens returns how many tokens o takes in a digest.
func (o outline) tokens() int {
	n := 0
	for i := range o {
		n += o[i].tokens()
	}
	return n
}

func (s *outlineSection) tokens() int {
	n := 0
	if s.heading != "" {
		n = tokencount.Cautious(s.heading) + 1
	}
	for _, line := range s.lines {
		n += tokencount.Cautious(line) + 1
	}
	if s.gap {
		n++
	}
	return n
}

// fit returns o within room tokens: unchanged if it fits, and otherwise with long sections shortened, so that the
// others keep their share. A section keeps its newest items, which are the last ones, and of rules those that forbid or
// demand.
func (o outline) fit(room int) outline {
	if o.tokens() <= room {
		return o
	}
	sizes := make([]int, len(o))
	for i := range o {
		sizes[i] = o[i].tokens()
	}
	most := count.Fair(sizes, room)
	var out outline
	for i := range o {
		s := o[i]
		if sizes[i] > most {
			s = s.fit(most)
		}
		if len(s.lines) > 0 || sizes[i] <= most {
			out = append(out, s)
		}
	}
	return out
}

// fit returns s within room tokens.
func (s outlineSection) fit(room int) outlineSection {
	if s.heading != "" {
		room -= tokencount.Cautious(s.heading) + 1
	}
	var files, items []string
	for _, item := range s.items(room / 2) {
		switch text := strings.TrimPrefix(item, "- "); {
		case isIdentifierList(text): // they are ranked anew, with the others
		case isFileNote(text):
			files = append(files, item)
		default:
			items = append(items, item)
		}
	}
	var kept []string
	if sectionOf(s.heading) == HeadConstraints {
		kept = whole(rankRules(items), room)
	} else {
		rooms := []int{linesTokens(files), linesTokens(items)}
		most := count.Fair(rooms, room)
		kept = append(newestFirst(files, min(most, rooms[0]), 8),
			newestFirst(items, min(most, rooms[1]), len(items))...)
	}
	s.lines, s.gap = nil, false
	for _, item := range kept {
		s.lines = append(s.lines, strings.Split(item, "\n")...)
	}
	return s
}

// items returns the lines of s with those that belong to them, each an item. A paragraph of more tokens
// than most is taken apart into its sentences.
func (s *outlineSection) items(most int) []string {
	var items []string
	for _, line := range s.lines {
		switch {
		case line == "":
		case strings.HasPrefix(line, "  ") && len(items) > 0:
			items[len(items)-1] += "\n" + line
		case tokencount.Cautious(line) > most:
			for line != "" {
				end := prose.SentenceEnd(line)
				if sentence := strings.TrimSpace(line[:end]); sentence != "" {
					items = append(items, sentence)
				}
				line = line[end:]
			}
		default:
			items = append(items, line)
		}
	}
	return items
}

func linesTokens(lines []string) int {
	n := 0
	for _, line := range lines {
		n += tokencount.Cautious(line) + 3 // what newestFirst counts besides
	}
	return n
}

const lastSaid = "Last said: "

// withoutLast returns o without what a digest called the last words: there are newer ones.
func (o outline) withoutLast() outline {
	out := slices.Clone(o)
	for i := range out {
		at := slices.IndexFunc(out[i].lines, func(line string) bool { return strings.HasPrefix(line, "- "+lastSaid) })
		if at < 0 {
			continue
		}
		end := at + 1
		for end < len(out[i].lines) && strings.HasPrefix(out[i].lines[end], "  ") {
			end++
		}
		out[i].lines = slices.Delete(slices.Clone(out[i].lines), at, end)
	}
	return out
}

// isIdentifierList reports whether a note of a digest lists identifiers.
func isIdentifierList(text string) bool {
	return slices.ContainsFunc(Labels[:], func(label string) bool { return strings.HasPrefix(text, label+": ") })
}
