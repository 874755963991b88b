package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"

	"github.com/winnowgo/winnow"
)

// Response returns the first choice of an answer as the next message of the history, with the answer's id,
// its finish reason and what was billed. A streamed answer is collected by [sdk.ChatCompletionAccumulator]
// first, and usage is only there if it was asked for (StreamOptions.IncludeUsage).
//
// Reasoning that a server gave beside calls is sent back with them: those that give any (DeepSeek, Kimi)
// want it there. An answer without choices gives an empty message.
func Response(answer *sdk.ChatCompletion) winnow.Message {
	if len(answer.Choices) == 0 {
		return winnow.Message{ID: answer.ID, Role: winnow.RoleAssistant, Usage: usage(&answer.Usage)}
	}
	choice := &answer.Choices[0]
	param := choice.Message.ToAssistantMessageParam()
	for _, key := range reasoningKeys {
		var text string
		if json.Unmarshal([]byte(choice.Message.JSON.ExtraFields[key].Raw()), &text) == nil && text != "" && len(param.ToolCalls) > 0 {
			param.SetExtraFields(map[string]any{key: text})
			break
		}
	}
	m := Import([]sdk.ChatCompletionMessageParamUnion{{OfAssistant: &param}})[0]
	m.ID = answer.ID
	m.StopReason = choice.FinishReason
	m.Usage = usage(&answer.Usage)
	return m
}

// usage takes what was cached out of the prompt, which the API counts it in. It is nil if nothing was told.
func usage(u *sdk.CompletionUsage) *winnow.Usage {
	if u.PromptTokens == 0 && u.CompletionTokens == 0 {
		return nil
	}
	read, write := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens
	return &winnow.Usage{
		Input:     int(max(0, u.PromptTokens-read-write)),
		CacheRead: int(read), CacheWrite: int(write),
		Output: int(u.CompletionTokens),
	}
}
