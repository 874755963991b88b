package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// MayThink reports whether a request with these messages may enable thinking with a budget
// ([sdk.ThinkingConfigParamOfEnabled]). The API refuses that while a turn is open, from the first call to the answer
// behind the results, if the turn does not begin with thinking that Claude signed. That is so if another model or the
// host began it, or Claude without thinking. Leave Thinking out of such a request; adaptive thinking needs no care.
func MayThink(messages []sdk.MessageParam) bool {
	may, begun := true, false    // of the newest turn
	results, user := true, false // of the newest messages of the user, which are one for the API
	for i := range messages {
		c := contentOf(&messages[i])
		if c.role != sdk.MessageParamRoleAssistant {
			results = results && user || slices.ContainsFunc(c.blocks, isResultBlock)
			user = true
			continue
		}
		begun = begun && results // the user began another turn
		if len(c.blocks) > 0 && !begun {
			begun, may = true, isThinking(&c.blocks[0]) || !slices.ContainsFunc(c.blocks, func(b block) bool {
				return read(&b).typ == typeToolUse
			})
		}
		results, user = true, false
	}
	return may || !results
}

// MayThinkBeta is [MayThink] for messages of the beta API.
func MayThinkBeta(messages []sdk.BetaMessageParam) bool { return MayThink(carried(messages)) }
