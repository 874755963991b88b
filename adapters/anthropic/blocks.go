package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// assistantBlocks builds the content of an assistant message that cannot be sent unchanged.
func (e *exporter) assistantBlocks(m *winnow.Message) []sdk.ContentBlockParamUnion {
	blocks := make([]sdk.ContentBlockParamUnion, 0, len(m.Parts))
	call := 0
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*sdk.ContentBlockParamUnion)
		switch {
		case p.Kind == winnow.KindToolCall:
			blocks = append(blocks, callBlock(p, own, e.sent[call]))
			call++
		case adapter.IsSilent(p):
		case own != nil:
			blocks = append(blocks, *own)
		case p.Kind == winnow.KindThinking:
			// The API requires thinking to come first, with a signature.
			if isSignedHere(p) && (len(blocks) == 0 || isThinking(&blocks[0])) {
				blocks = append(blocks, thinkingBlock(p))
			}
		default:
			blocks = append(blocks, textBlock(p))
		}
	}
	return blocks
}

// isSignedHere reports whether thinking, whose own block is gone, was signed by Claude. That of the Responses API has
// an id, and that of other models the media type that its adapter gave it.
func isSignedHere(p *winnow.Part) bool {
	return p.Signature != "" && p.ID == "" && (p.MediaType == "" || p.MediaType == redacted)
}

// callBlock returns a call with the id to send.
func callBlock(p *winnow.Part, own *sdk.ContentBlockParamUnion, id string) sdk.ContentBlockParamUnion {
	if own != nil {
		_, given := overrideOf(own)
		switch {
		case id == p.ID && adapter.IsObject(p.Arguments):
			return *own
		case given:
			call := withMember(own, "id", id)
			if !adapter.IsObject(p.Arguments) {
				call = withMember(&call, "input", adapter.Object(p.Arguments))
			}
			return call
		case own.OfToolUse != nil:
			call := *own.OfToolUse
			call.ID = id
			if !adapter.IsObject(p.Arguments) {
				call.Input = adapter.Object(p.Arguments)
			}
			return sdk.ContentBlockParamUnion{OfToolUse: &call}
		}
	}
	// Every version of the API accepts 64 characters.
	return sdk.NewToolUseBlock(id, adapter.Object(p.Arguments), adapter.Name(p.Name, 64, adapter.Letters))
}

func thinkingBlock(p *winnow.Part) sdk.ContentBlockParamUnion {
	if p.MediaType == redacted {
		return sdk.NewRedactedThinkingBlock(p.Signature)
	}
	return sdk.NewThinkingBlock(p.Signature, p.Text)
}

func isThinking(b *sdk.ContentBlockParamUnion) bool {
	f := read(b)
	return f.typ == typeThinking || f.typ == typeRedactedThinking
}

// withMember returns a block as JSON with a new value for a member, or without the member if value is nil.
func withMember(b *block, key string, value any) block {
	override, _ := overrideOf(b)
	return param.Override[block](json.RawMessage(setMember(sentAs(override, b), key, value)))
}

// textBlock returns a text block. A part without text gets a placeholder.
func textBlock(p *winnow.Part) sdk.ContentBlockParamUnion {
	if p.Kind == winnow.KindText {
		return sdk.NewTextBlock(p.Text)
	}
	return sdk.NewTextBlock(adapter.Placeholder(p))
}

// userBlocks returns the content of a user message.
func userBlocks(m *winnow.Message) []sdk.ContentBlockParamUnion {
	blocks := make([]sdk.ContentBlockParamUnion, 0, len(m.Parts))
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*sdk.ContentBlockParamUnion)
		if c, ok := p.Source.(*inner); ok { // of a result that is shown as a text of the host
			if b, ok := asUserBlock(c); ok {
				own = &b
			}
		}
		switch {
		case adapter.IsSilent(p):
		case own != nil:
			blocks = append(blocks, *own)
		case p.Kind != winnow.KindThinking && p.Kind != winnow.KindToolCall: // only the assistant has these
			blocks = append(blocks, textBlock(p))
		}
	}
	return blocks
}

// resultOf returns the caller's block for m, or nil.
func resultOf(m *winnow.Message) *sdk.ContentBlockParamUnion {
	if p := adapter.PieceOf[sdk.MessageParam](m); p != nil {
		own, _ := p.Block.(*sdk.ContentBlockParamUnion)
		return own
	}
	return nil
}

// resultStays reports whether the caller's block is sent unchanged, except perhaps for its id.
func resultStays(m *winnow.Message, own *sdk.ContentBlockParamUnion) bool {
	if own == nil {
		return false
	}
	if len(m.Parts) == 0 { // the API accepts no content, and an empty text instead of a list
		f := read(own)
		return len(f.content) == 0 && !f.emptyList
	}
	for k := range m.Parts {
		if m.IsError && m.Parts[k].Kind != winnow.KindText {
			return false
		}
	}
	return isSendable(m)
}

// result returns the block of a result, and the images that the block may not hold.
func (e *exporter) result(m *winnow.Message, id string) (block sdk.ContentBlockParamUnion,
	images []sdk.ContentBlockParamUnion) {
	own := resultOf(m)
	if id == m.ToolCallID && resultStays(m, own) {
		return *own, nil
	}
	content, images := resultContent(m)
	if own != nil {
		if _, given := overrideOf(own); given {
			block = withMember(own, "tool_use_id", id)
			if content == nil {
				return withMember(&block, "content", nil), images
			}
			return withMember(&block, "content", content), images
		}
	}
	var r sdk.ToolResultBlockParam
	if own != nil {
		r = *own.OfToolResult
	} else {
		r.ToolsetName = e.toolsets[id]
		if m.IsError {
			r.IsError = sdk.Bool(true)
		}
	}
	r.ToolUseID, r.Content = id, content
	return sdk.ContentBlockParamUnion{OfToolResult: &r}, images
}

// resultContent returns the content of a result. A result that is an error may hold only text.
func resultContent(m *winnow.Message) (content []sdk.ToolResultBlockParamContentUnion,
	images []sdk.ContentBlockParamUnion) {
	for k := range m.Parts {
		p := &m.Parts[k]
		own := resultSource(p)
		switch {
		case adapter.IsSilent(p):
		case own != nil && (!m.IsError || p.Kind == winnow.KindText):
			content = append(content, *own)
		default:
			text := p.Text
			if p.Kind != winnow.KindText {
				text = adapter.Placeholder(p)
			}
			content = append(content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
			if own != nil {
				if b, ok := asUserBlock(own); ok {
					images = append(images, b)
				}
			}
		}
	}
	return content, images
}

// asUserBlock turns a block of a result's content into a block of a user message. ok is false if that is impossible.
func asUserBlock(c *inner) (b block, ok bool) {
	if override, given := c.Overrides(); given {
		if beta, ok := override.(*sdk.BetaToolResultBlockParamContentUnion); ok {
			return betaUserBlock(beta)
		}
		raw := sentAs(override, c)
		switch typeOf(raw) {
		case typeImage, typeDocument, typeSearchResult:
			return param.Override[block](raw), true
		}
		return block{}, false
	}
	b = block{OfImage: c.OfImage, OfDocument: c.OfDocument, OfSearchResult: c.OfSearchResult}
	return b, b.OfImage != nil || b.OfDocument != nil || b.OfSearchResult != nil
}

// resultSource returns the caller's value of a part of a result. A host may put a block for user messages there.
func resultSource(p *winnow.Part) *inner {
	switch s := p.Source.(type) {
	case *inner:
		return s
	case *block:
		if override, given := s.Overrides(); given {
			if beta, ok := override.(*sdk.BetaContentBlockParamUnion); ok {
				return betaInner(beta)
			}
			c := param.Override[inner](sentAs(override, s))
			return &c
		}
		if s.OfText != nil || s.OfImage != nil || s.OfDocument != nil || s.OfSearchResult != nil {
			return &inner{OfText: s.OfText, OfImage: s.OfImage, OfDocument: s.OfDocument,
				OfSearchResult: s.OfSearchResult}
		}
	}
	return nil
}
