package winnow

import (
	"slices"
	"strings"
)

// What the user demanded or forbade, in the user's own words. A summary that says it in other words, or
// not at all, is how "do not act before I confirm" gets lost: these sentences are not left to a model.

const (
	userRulesHeading = "## User Rules (verbatim, oldest first)"
	// A longer message is a pasted document, and what it demands is not what the user demands.
	maxRuleMessageChars = 8_000
	maxRuleChars        = 400
	maxCarriedRules     = 100
	// Of the room that sections have: the rules of a conversation are few, those of a pasted guide are not.
	userRulesShare = 0.4
)

// addRules takes the rules out of a message of the user.
func (c *carried) addRules(m *Message) {
	if !beginsTurn(m) || m.Pinned {
		return
	}
	text := messageParts(m)
	if charsAtLeast(text, maxRuleMessageChars+1) {
		return
	}
	for line := range strings.Lines(text) {
		for line != "" {
			end := sentenceEnd(line)
			if s := strings.TrimSpace(line[:end]); strongRules.in(s) && !charsAtLeast(s, maxRuleChars+1) {
				if i := slices.Index(c.Rules, s); i >= 0 {
					c.Rules = slices.Delete(c.Rules, i, i+1)
				}
				c.Rules = append(c.Rules, s)
			}
			line = line[end:]
		}
	}
}

// userRulesSection lists the rules that text does not say, within room tokens: those that forbid something
// before the others, and the newest first.
func (c *carried) userRulesSection(e Estimator, text string, room int) string {
	room -= textTokens(e, userRulesHeading)
	chosen := make([]bool, len(c.Rules))
	for _, forbids := range []bool{true, false} {
		for i, s := range slices.Backward(c.Rules) {
			if prohibitions.in(s) != forbids || strings.Contains(text, s) {
				continue
			}
			if n := textTokens(e, s) + 2; n <= room {
				room -= n
				chosen[i] = true
			}
		}
	}
	var b strings.Builder
	for i, s := range c.Rules {
		if chosen[i] {
			b.WriteString("\n> " + escapeSummary(s))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n" + userRulesHeading + b.String()
}
