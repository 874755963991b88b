package anthropic

import (
	"encoding/json"

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
	return betaMessages(Export(messages))
}

// betaMessages returns messages as those of the beta API.
func betaMessages(messages []message) []sdk.BetaMessageParam {
	out := make([]sdk.BetaMessageParam, len(messages))
	for i := range messages {
		out[i] = betaMessage(&messages[i])
	}
	return out
}

// ResponseBeta is [Response] for an answer of the beta API. A streamed answer is collected by [CollectBeta] first.
func ResponseBeta(answer *sdk.BetaMessage) winnow.Message {
	own := answer.ToParam()
	for i := range own.Content {
		carryUnknown(&own.Content[i], answer.Content[i].RawJSON())
	}
	m := ImportBeta([]sdk.BetaMessageParam{own})[0]
	adapter.PieceOf[message](&m).First = false
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

// betaContent returns the role and the blocks of a message of the beta API, which m carries.
func betaContent(beta *sdk.BetaMessageParam, m *message) contents {
	if override, given := beta.Overrides(); given {
		return contentOfJSON(sentAs(override, m))
	}
	c := contents{role: sdk.MessageParamRole(beta.Role), blocks: make([]block, len(beta.Content)), ok: true}
	for k := range beta.Content {
		c.blocks[k] = param.Override[block](&beta.Content[k])
	}
	return c
}

// readBeta returns the fields of a block of the beta API.
func readBeta(b *sdk.BetaContentBlockParamUnion) fields {
	var s param.ParamStruct = b
	switch {
	case b.OfText != nil:
		s = b.OfText
	case b.OfToolUse != nil:
		s = b.OfToolUse
	case b.OfToolResult != nil:
		s = b.OfToolResult
	case b.OfThinking != nil:
		s = b.OfThinking
	}
	if override, given := s.Overrides(); given {
		return readJSON(sentAs(override, b))
	}
	switch {
	case b.OfText != nil:
		return fields{typ: typeText, text: b.OfText.Text}
	case b.OfThinking != nil:
		return fields{typ: typeThinking, text: b.OfThinking.Thinking, signature: b.OfThinking.Signature}
	case b.OfRedactedThinking != nil:
		return fields{typ: typeRedactedThinking, signature: b.OfRedactedThinking.Data}
	case b.OfToolUse != nil:
		c := b.OfToolUse
		return fields{typ: typeToolUse, id: c.ID, name: c.Name, input: c.Input, toolset: c.ToolsetName.Value}
	case b.OfToolResult != nil:
		r := b.OfToolResult
		f := fields{typ: typeToolResult, id: r.ToolUseID, isError: r.IsError.Value,
			content: make([]inner, len(r.Content))}
		for k := range r.Content {
			f.content[k] = param.Override[inner](&r.Content[k])
		}
		f.emptyList = r.Content != nil && len(r.Content) == 0
		return f
	}
	return readJSON(sentAs(nil, b)) // images, documents and rare blocks
}

// readBetaInner returns the fields of a block in a result of the beta API.
func readBetaInner(c *sdk.BetaToolResultBlockParamContentUnion) fields {
	if c.OfText != nil {
		if _, given := c.OfText.Overrides(); !given {
			return fields{typ: typeText, text: c.OfText.Text}
		}
	}
	return readJSON(sentAs(nil, c))
}

// betaUserBlock turns a block of a result's content into a block of a user message. ok is false if that is impossible.
func betaUserBlock(c *sdk.BetaToolResultBlockParamContentUnion) (b block, ok bool) {
	u := sdk.BetaContentBlockParamUnion{OfImage: c.OfImage, OfDocument: c.OfDocument, OfSearchResult: c.OfSearchResult}
	return param.Override[block](&u), u.OfImage != nil || u.OfDocument != nil || u.OfSearchResult != nil
}

// betaInner turns a block of a user message into a block of a result's content. It returns nil if that is impossible.
func betaInner(b *sdk.BetaContentBlockParamUnion) *inner {
	u := sdk.BetaToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage, OfDocument: b.OfDocument,
		OfSearchResult: b.OfSearchResult}
	if u.OfText == nil && u.OfImage == nil && u.OfDocument == nil && u.OfSearchResult == nil {
		return nil
	}
	c := param.Override[inner](&u)
	return &c
}

// betaMessage returns m as a message of the beta API: the caller's own message, if m carries it.
func betaMessage(m *message) sdk.BetaMessageParam {
	if override, given := m.Overrides(); given {
		if own, ok := override.(*sdk.BetaMessageParam); ok {
			return *own
		}
		return param.Override[sdk.BetaMessageParam](sentAs(override, m))
	}
	out := sdk.BetaMessageParam{Role: sdk.BetaMessageParamRole(m.Role),
		Content: make([]sdk.BetaContentBlockParamUnion, len(m.Content))}
	for k := range m.Content {
		out.Content[k] = betaBlock(&m.Content[k])
	}
	if others := m.ExtraFields(); others != nil {
		out.SetExtraFields(others)
	}
	return out
}

// betaBlock returns b as a block of the beta API: the caller's own block, if b carries it.
func betaBlock(b *block) sdk.BetaContentBlockParamUnion {
	override, given := overrideOf(b)
	switch {
	case given:
		if own, ok := override.(*sdk.BetaContentBlockParamUnion); ok {
			return *own
		}
	case b.OfText != nil && isPlain(b.OfText):
		return sdk.BetaContentBlockParamUnion{OfText: &sdk.BetaTextBlockParam{Text: b.OfText.Text}}
	case b.OfToolResult != nil && b.OfToolResult.CacheControl == (sdk.CacheControlEphemeralParam{}) &&
		b.OfToolResult.ExtraFields() == nil:
		r := b.OfToolResult
		result := &sdk.BetaToolResultBlockParam{ToolUseID: r.ToolUseID, IsError: r.IsError, ToolsetName: r.ToolsetName}
		for k := range r.Content {
			result.Content = append(result.Content, betaResultContent(&r.Content[k]))
		}
		return sdk.BetaContentBlockParamUnion{OfToolResult: result}
	}
	return param.Override[sdk.BetaContentBlockParamUnion](sentAs(override, b))
}

// isPlain reports whether a block holds only a text.
func isPlain(b *sdk.TextBlockParam) bool {
	return b.Citations == nil && b.CacheControl == (sdk.CacheControlEphemeralParam{}) && b.ExtraFields() == nil
}

// betaResultContent turns a block of a result's content into one of the beta API.
func betaResultContent(c *inner) sdk.BetaToolResultBlockParamContentUnion {
	override, given := c.Overrides()
	switch {
	case given:
		if own, ok := override.(*sdk.BetaToolResultBlockParamContentUnion); ok {
			return *own
		}
	case c.OfText != nil && isPlain(c.OfText):
		return sdk.BetaToolResultBlockParamContentUnion{OfText: &sdk.BetaTextBlockParam{Text: c.OfText.Text}}
	}
	return param.Override[sdk.BetaToolResultBlockParamContentUnion](json.RawMessage(sentAs(override, c)))
}
