package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Response returns the first choice of an answer as the next message of the history, with the answer's id, finish
// reason and usage. [Collect] reads a streamed answer first, and keeps what the SDK's own accumulator loses. A stream
// reports usage only if the request asks for it (StreamOptions.IncludeUsage).
//
// Members that the SDK does not know are kept and sent back: the thought signatures of Gemini, reasoning_details of
// OpenRouter. Reasoning in the field reasoning_content or reasoning is sent back only in messages with calls: DeepSeek
// and Kimi require it there, and some servers refuse it elsewhere. An answer without choices gives an empty message;
// see [Check].
func Response(answer *sdk.ChatCompletion) winnow.Message {
	if len(answer.Choices) == 0 {
		return winnow.Message{ID: answer.ID, Role: winnow.RoleAssistant, Usage: usage(&answer.Usage)}
	}
	choice := &answer.Choices[0]
	param := choice.Message.ToAssistantMessageParam()
	for i := range param.ToolCalls {
		carryUnknown(&param.ToolCalls[i], choice.Message.ToolCalls[i].RawJSON())
	}
	if extra := unknownMembers(choice.Message.JSON.ExtraFields, len(param.ToolCalls) > 0); len(extra) > 0 {
		param.SetExtraFields(extra)
	}
	m := Import([]sdk.ChatCompletionMessageParamUnion{{OfAssistant: &param}})[0]
	m.ID = answer.ID
	m.StopReason = choice.FinishReason
	m.Usage = usage(&answer.Usage)
	return m
}

// unknownMembers returns the members of a message that the SDK does not know. If several fields hold the same
// reasoning, it takes the first, and only if there are calls.
func unknownMembers(fields map[string]respjson.Field, calls bool) map[string]any {
	extra := map[string]any{}
	for key, field := range fields {
		if raw := field.Raw(); raw != "" && raw != "null" {
			extra[key] = json.RawMessage(raw)
		}
	}
	taken := !calls
	for _, key := range []string{"reasoning_content", "reasoning"} {
		raw, ok := extra[key].(json.RawMessage)
		if isText := jsontext.Text(raw) != ""; ok && (taken || !isText) {
			delete(extra, key)
		} else {
			taken = taken || isText
		}
	}
	return extra
}

// carryUnknown adds to a call those members of the answer's call that the SDK does not know.
func carryUnknown(c *sdk.ChatCompletionMessageToolCallUnionParam, raw string) {
	known, err := c.MarshalJSON()
	if err != nil {
		return
	}
	extra := adapter.UnknownMembers([]byte(raw), known)
	delete(extra, "index") // from a stream
	switch {
	case len(extra) == 0:
	case c.OfFunction != nil:
		c.OfFunction.SetExtraFields(extra)
	case c.OfCustom != nil:
		c.OfCustom.SetExtraFields(extra)
	}
}

func usage(u *sdk.CompletionUsage) *winnow.Usage {
	cache := &u.PromptTokensDetails
	return adapter.Usage(u.PromptTokens, cache.CachedTokens, cache.CacheWriteTokens, u.CompletionTokens)
}
