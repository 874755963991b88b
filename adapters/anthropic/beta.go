package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// The beta API has separate types, which know other blocks. They are carried as the override of a message or a block
// (param.Override), so that the rules of Export apply to them.

// ImportBeta is [Import] for messages of the beta API.
func ImportBeta(messages []sdk.BetaMessageParam) []winnow.Message { return Import(carried(messages)) }

// carried returns messages that carry those of the beta API.
func carried(messages []sdk.BetaMessageParam) []message {
	out := make([]message, len(messages))
	for i := range messages {
		out[i] = param.Override[message](&messages[i])
	}
	return out
}

// ExportBeta is [Export] for the messages of the beta API. It also takes messages that [Import] made.
func ExportBeta(messages []winnow.Message) []sdk.BetaMessageParam {
	own := Export(messages)
	out := make([]sdk.BetaMessageParam, len(own))
	for i := range own {
		out[i] = betaMessage(&own[i])
	}
	return out
}

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
		Output:     int(answer.Usage.OutputTokens),
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

// betaMessage returns m as a message of the beta API: the caller's own message, if m carries it.
func betaMessage(m *message) sdk.BetaMessageParam {
	if override, given := m.Overrides(); given {
		if own, ok := override.(*sdk.BetaMessageParam); ok {
			return *own
		}
		return param.Override[sdk.BetaMessageParam](adapter.Raw(m))
	}
	out := sdk.BetaMessageParam{Role: sdk.BetaMessageParamRole(m.Role),
		Content: make([]sdk.BetaContentBlockParamUnion, len(m.Content))}
	for k := range m.Content {
		b := &m.Content[k]
		if t := b.OfText; t != nil && adapter.IsTyped(t) && t.Citations == nil && param.IsOmitted(t.CacheControl) &&
			t.ExtraFields() == nil { // typed, because a host may want to mark what is new
			out.Content[k] = sdk.NewBetaTextBlock(b.OfText.Text)
		} else {
			out.Content[k] = param.Override[sdk.BetaContentBlockParamUnion](adapter.Raw(b))
		}
	}
	if others := m.ExtraFields(); others != nil {
		out.SetExtraFields(others)
	}
	return out
}
