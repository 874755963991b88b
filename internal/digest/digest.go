// Package digest writes what stands in for a summary without an LLM: what the model said last, and the names that are
// likeliest to be needed again, in the words of the conversation and within a number of tokens. What people said stands
// in front of it.
package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Notes is what a digest may say.
type Notes struct {
	*Table // what the conversation mentions

	Front string // what stands in front, as it is

	last    string   // the model's last words
	earlier []string // the lines of an earlier summary
}

// New returns notes of nothing.
func New() *Notes { return &Notes{Table: NewTable()} }

// Said takes in the words of the model. Scan takes in their identifiers.
func (n *Notes) Said(text string) {
	if text = strings.TrimSpace(text); text != "" {
		n.last = secret.Mask(text)
	}
}

// The lines that only a digest writes. They are not quoted in the next one, which has its own.
const (
	Frame              = "Written by code, without a model, from what it stands for:"
	since              = "## Since then"
	lastSaid           = "- Last said: "
	IdentifiersHeading = "## Identifiers"
)

// Earlier takes in an earlier summary, a digest or a model's.
func (n *Notes) Earlier(s string) {
	n.Scan(s, FromPrevious)
	isOver := false // what belongs to the line above goes as well
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == Frame, line == since:
			continue
		case line == IdentifiersHeading, strings.HasPrefix(line, lastSaid):
			isOver = true
			continue
		case isOver && (isIdentifierList(line) || strings.HasPrefix(line, "  ")):
			continue
		}
		isOver = false
		n.earlier = append(n.earlier, line)
	}
}

// Labels name the lists of identifiers.
var Labels = [identifier.Kinds]string{"Paths", "URLs", "Hashes and ids", "Numbers", "Error codes", "Symbols", "Names"}

func isIdentifierList(line string) bool {
	return slices.ContainsFunc(Labels[:], func(label string) bool { return strings.HasPrefix(line, "- "+label+": ") })
}

// Limits of a digest, in tokens, and what its parts may take of it.
const (
	DefaultTokens = 4_000 // the limit if the caller sets no limit
	LeastTokens   = 24    // room for one line; less says nothing

	// What a model wrote about messages that are gone exists nowhere else. The messages at hand get a summary when a
	// summarizer works again.
	earlierShare = 0.5
	// Of what the earlier summary leaves. The rest is for identifiers.
	lastShare = 0.1
	// With fewer tokens, there is room for little more than the model's last words.
	leastForFrame = 200
)

// Text writes a digest of at most limit tokens, or of 4 000 if limit is not above 0. Identifiers come behind it.
func (n *Notes) Text(limit int) string {
	limit = Limit(limit)
	lines := slices.DeleteFunc([]string{n.Front}, func(s string) bool { return s == "" })
	// What an earlier summary begins with says what it is all about, and what it ends with is newest.
	earlier := strings.TrimSpace(tokencount.Clip(strings.Join(n.earlier, "\n"), int(float64(limit)*earlierShare)))
	last, label := limit-tokencount.Cautious(n.Front+earlier), ""
	if limit >= leastForFrame {
		last, label = int(float64(last)*lastShare), lastSaid
		lines = append(lines, Frame)
	}
	if earlier != "" {
		lines = append(lines, earlier)
	}
	if said := tokencount.Clip(n.last, last); said != "" {
		if earlier != "" && limit >= leastForFrame {
			lines = append(lines, since)
		}
		lines = append(lines, label+indented(said))
	}
	return within(strings.Join(lines, "\n"), limit)
}

// Limit returns how many tokens a digest has whose limit was given like this.
func Limit(limit int) int {
	if limit <= 0 {
		return DefaultTokens
	}
	return max(LeastTokens, limit)
}

// indented returns an item whose further lines are indented, so that they stay part of it.
func indented(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r", ""), "\n", "\n  ")
}

// within returns s without the controls that some providers refuse, cut in its middle if it has more than limit tokens
// after all.
func within(s string, limit int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7F {
			return -1
		}
		return r
	}, s))
	return cmp.Or(strings.TrimSpace(tokencount.Clip(s, limit)), "(no words of the model)")
}
