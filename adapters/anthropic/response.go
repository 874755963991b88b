package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Response returns the answer of the API as the next message of the history, with its id, stop reason and usage.
// Members of its blocks that the SDK does not know are kept. [Collect] reads a streamed answer first; [Check]
// recognizes an error in place of an answer.
func Response(answer *sdk.Message) winnow.Message {
	own := answer.ToParam()
	for i := range own.Content {
		own.Content[i] = withUnknown(own.Content[i], answer.Content[i].RawJSON())
	}
	m := Import([]sdk.MessageParam{own})[0]
	m.ID = answer.ID
	m.StopReason = string(answer.StopReason)
	m.Usage = &winnow.Usage{
		Input:      int(answer.Usage.InputTokens),
		CacheRead:  int(answer.Usage.CacheReadInputTokens),
		CacheWrite: int(answer.Usage.CacheCreationInputTokens),
		LongWrite:  int(answer.Usage.CacheCreation.Ephemeral1hInputTokens),
		Output:     int(answer.Usage.OutputTokens),
	}
	return m
}

// withUnknown returns the block of an answer with those members of raw, its JSON, that the SDK does not know. It leaves
// out null.
func withUnknown[B param.ParamStruct, P param.InferPtr[B]](own B, raw string) B {
	known, err := json.Marshal(own)
	if err != nil {
		return own
	}
	members := adapter.UnknownMembers([]byte(raw), known)
	if len(members) == 0 {
		return own
	}
	jsontext.Members(known, func(name string, value []byte) { members[name] = json.RawMessage(value) })
	return param.Override[B, P](members)
}
