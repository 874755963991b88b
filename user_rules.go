package winnow

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// What the user demanded or forbade, in the user's own words. A summary that says it in other words, or
// not at all, is how "do not act before I confirm" gets lost: these sentences are not left to a model.

const (
	userRulesHeading = "## User Rules (verbatim, oldest first)"
	// A longer message is a pasted document, and what it demands is not what the user demands.
	maxRuleMessageChars = 8_000
	maxRuleChars        = 400
	maxWrittenRuleChars = 2 * maxRuleChars // with what was escaped in it
	maxCarriedRules     = 100
	// Of the room that sections have: the rules of a user are few, those of a pasted guide are not.
	userRulesShare = 0.5
	// Room for a few, however small the summary.
	leastRulesTokens = 120
)

// addRules takes the rules out of a message that a person wrote. What the host put in a person's place may come
// from anywhere: a page, a file, a tool. It is no rule of the user's, and nothing else is kept for ever because
// it says "never". A host has CompactOptions.Rules and pins for what it wants to survive.
func (c *carried) addRules(m *Message) {
	if !beginsTurn(m) || m.Pinned {
		return
	}
	text := messageParts(m)
	if runes.AtLeast(text, maxRuleMessageChars+1) || !strongRules.in(text) {
		return
	}
	for line := range strings.Lines(text) {
		for line != "" {
			end := sentenceEnd(line)
			if s := markup.Line(strings.TrimSpace(line[:end])); !runes.AtLeast(s, maxRuleChars+1) && strongRules.in(s) {
				c.Rules = appendOnce(c.Rules, s)
			}
			line = line[end:]
		}
	}
	if len(c.Rules) > 2*maxCarriedRules {
		c.Rules = slices.Clone(newest(c.Rules, maxCarriedRules))
	}
}

// appendOnce puts s at the end of list, from where it was.
func appendOnce(list []string, s string) []string {
	if i := slices.Index(list, s); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	return append(list, s)
}

// userRulesSection lists the rules that text does not say, within room tokens: first those by which the user
// forbids something, then the user's others, and of each the newest.
func (c *carried) userRulesSection(e Estimator, text string, room int) string {
	room -= textTokens(e, "\n\n"+userRulesHeading)
	var ranks [2][]int
	rules := make([]string, len(c.Rules))
	for i, s := range slices.Backward(c.Rules) {
		rules[i] = markup.Value(s, maxWrittenRuleChars)
		switch {
		case strings.Contains(text, rules[i]):
		case prohibitions.in(s):
			ranks[0] = append(ranks[0], i)
		default:
			ranks[1] = append(ranks[1], i)
		}
	}
	chosen := make([]bool, len(c.Rules))
	for _, i := range slices.Concat(ranks[:]...) {
		if n := textTokens(e, rules[i]) + 3; n <= room {
			room -= n
			chosen[i] = true
		}
	}
	var b strings.Builder
	for i, s := range rules {
		if chosen[i] {
			b.WriteString("\n> " + s)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n" + userRulesHeading + b.String()
}
