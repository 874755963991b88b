package responses

import (
	"encoding/json"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Response returns the items of an answer as the next messages of the history. It is one message, unless the API ran
// its own tools that return an output, or has compacted the conversation. The first has the answer's id, and the first
// of the model's has the usage. The last has the stop reason:
// "completed", the reason in incomplete_details, "error" for a failed answer, "aborted" for a cancelled one. [Collect]
// reads a streamed answer first; [Check] recognizes a failed one.
func Response(answer *sdk.Response) []winnow.Message {
	items := make([]Item, len(answer.Output))
	for i := range answer.Output {
		items[i] = param.Override[Item](json.RawMessage(answer.Output[i].RawJSON()))
	}
	messages := Import(items)
	if len(messages) == 0 {
		messages = []winnow.Message{{Role: winnow.RoleAssistant}}
	}
	messages[0].ID = answer.ID
	for i := range messages {
		if messages[i].Role == winnow.RoleAssistant {
			messages[i].Usage = usage(&answer.Usage)
			if u := messages[i].Usage; u != nil {
				u.ThinkingDropped, u.CacheMiss = thinkingDropped(answer), answer.PromptCacheDiagnostics.Reason
			}
			break
		}
	}
	messages[len(messages)-1].StopReason = stopReason(answer)
	return messages
}

// thinkingDropped counts the reasoning that the API has left out because what stands before it has changed. The SDK
// does not know the member.
func thinkingDropped(answer *sdk.Response) (n int) {
	var more struct {
		Transformations []struct {
			Reason string `json:"reason"`
		} `json:"input_transformations"`
	}
	if json.Unmarshal([]byte(answer.RawJSON()), &more) != nil {
		return 0
	}
	for _, x := range more.Transformations {
		if adapter.BindsToPrefix(x.Reason) {
			n++
		}
	}
	return n
}

func usage(u *sdk.ResponseUsage) *winnow.Usage {
	cache := &u.InputTokensDetails
	billed := adapter.Usage(u.InputTokens, cache.CachedTokens, cache.CacheWriteTokens, u.OutputTokens)
	if billed != nil {
		billed.LongWrite = int(cache.CacheWriteTokensDetails.Ttl12hTokens)
	}
	return billed
}

func stopReason(answer *sdk.Response) string {
	switch {
	case answer.IncompleteDetails.Reason != "":
		return answer.IncompleteDetails.Reason
	case answer.Status == sdk.ResponseStatusFailed:
		return "error"
	case answer.Status == sdk.ResponseStatusCancelled:
		return "aborted"
	}
	return string(answer.Status)
}
