package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// MayThink reports whether a request with these messages may enable thinking with a budget
// ([sdk.ThinkingConfigParamOfEnabled]). The API refuses that while a turn is open, from the first call to the answer
// behind the results, if the turn does not begin with thinking that Claude signed. That is so if another model or the
// host began it, or Claude without thinking. Leave Thinking out of such a request; adaptive thinking needs no care.
func MayThink(messages []sdk.MessageParam) bool { return mayThink(messages) }

// MayThinkBeta is [MayThink] for messages of the beta API.
func MayThinkBeta(messages []sdk.BetaMessageParam) bool { return mayThink(messages) }

func mayThink[T adapter.Param](messages []T) bool {
	may, begun := true, false    // of the newest turn
	results, user := true, false // of the newest messages of the user, which are one for the API
	for i := range messages {
		of := jsonedit.Value(adapter.Raw(messages[i]))
		blocks := of.Get("content").Elements()
		if of.Get("role").Text() != "assistant" {
			results = results && user || slices.ContainsFunc(blocks, wire.IsResult)
			user = true
			continue
		}
		begun = begun && results // the user began another turn
		if len(blocks) > 0 && !begun {
			begun, may = true, wire.IsThinking(blocks[0]) || !slices.ContainsFunc(blocks, func(b jsonedit.Value) bool {
				return b.Get("type").Text() == "tool_use"
			})
		}
		results, user = true, false
	}
	return may || !results
}
