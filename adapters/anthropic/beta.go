package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// ResponseBeta is [Response] for an answer of the beta API. A streamed answer is collected by [CollectBeta] first.
func ResponseBeta(answer *sdk.BetaMessage) winnow.Message {
	own := answer.ToParam()
	for i := range own.Content {
		own.Content[i] = withUnknown(own.Content[i], answer.Content[i].RawJSON())
	}
	m := ImportBeta([]sdk.BetaMessageParam{own})[0]
	m.ID = answer.ID
	m.StopReason = string(answer.StopReason)
	m.Usage = &winnow.Usage{
		Input:      int(answer.Usage.InputTokens),
		CacheRead:  int(answer.Usage.CacheReadInputTokens),
		CacheWrite: int(answer.Usage.CacheCreationInputTokens),
		LongWrite:  int(answer.Usage.CacheCreation.Ephemeral1hInputTokens),
		Output:     int(answer.Usage.OutputTokens),
	}
	m.Usage.CacheMiss = answer.Diagnostics.CacheMissReason.Type
	for _, x := range answer.InputTransformations {
		if adapter.BindsToPrefix(x.Reason) {
			m.Usage.ThinkingDropped++
		}
	}
	return m
}

// ImportBetaSystem is [ImportSystem] for [sdk.BetaMessageNewParams].
func ImportBetaSystem(blocks []sdk.BetaTextBlockParam) []winnow.Message {
	return importSystem(blocks, func(b *sdk.BetaTextBlockParam) string { return b.Text })
}

// ExportBetaSystem is [ExportSystem] for [sdk.BetaMessageNewParams].
func ExportBetaSystem(messages []winnow.Message) []sdk.BetaTextBlockParam {
	return exportSystem(messages, func(text string) sdk.BetaTextBlockParam {
		return sdk.BetaTextBlockParam{Text: text}
	})
}
