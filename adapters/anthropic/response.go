package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
)

// Response returns the answer of the API as the next message of the history, with its id, its stop reason
// and what was billed. A streamed answer is collected by [sdk.Message.Accumulate] first.
func Response(answer *sdk.Message) winnow.Message {
	m := Import([]sdk.MessageParam{answer.ToParam()})[0]
	m.ID = answer.ID
	m.StopReason = string(answer.StopReason)
	m.Usage = &winnow.Usage{
		Input:      int(answer.Usage.InputTokens),
		CacheRead:  int(answer.Usage.CacheReadInputTokens),
		CacheWrite: int(answer.Usage.CacheCreationInputTokens),
		Output:     int(answer.Usage.OutputTokens),
	}
	return m
}
