package sections

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/prose"
)

// What the user demanded or forbade, in the user's own words. "Do not act before I confirm" gets lost in a summary that
// says it in other words or not at all, so these sentences are not left to a model.
const (
	UserRulesHeading = "## User Rules (verbatim, oldest first)"
	// A longer message is a pasted document. What it demands is not what the user demands.
	maxRuleMessageChars = 8_000
	maxRuleChars        = 400
	maxWrittenRuleChars = 2 * maxRuleChars // with what was escaped in it
	maxCarriedRules     = 100
	// The share of the room of all sections. The rules of a user are few, but those of a pasted guide are not.
	userRulesShare = 0.5
	// Room for a few rules, however small the summary.
	leastRulesTokens = 120
)

// UserRules lists the rules that text does not say, within room tokens: first those by which the user
// forbids something, then the user's others, and of each the newest.
func (c *Carried) UserRules(tokens func(string) int, text string, room int) string {
	room -= tokens("\n\n" + UserRulesHeading)
	var ranks [2][]int
	rules := make([]string, len(c.Rules))
	for i, s := range slices.Backward(c.Rules) {
		rules[i] = markup.Value(s, maxWrittenRuleChars)
		switch {
		case strings.Contains(text, rules[i]):
		case prose.Prohibitions.In(s):
			ranks[0] = append(ranks[0], i)
		default:
			ranks[1] = append(ranks[1], i)
		}
	}
	chosen := make([]bool, len(c.Rules))
	for _, i := range slices.Concat(ranks[:]...) {
		if n := tokens(rules[i]) + 3; n <= room {
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
	return "\n\n" + UserRulesHeading + b.String()
}
