package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// assistantBlocks builds the content of an assistant message that cannot be sent unchanged.
func assistantBlocks(m *winnow.Message, sent []string) []block {
	blocks := make([]block, 0, len(m.Parts))
	call := 0
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*block)
		switch {
		case p.Kind == winnow.KindToolCall:
			blocks = append(blocks, callBlock(p, own, sent[call]))
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
			blocks = append(blocks, sdk.NewTextBlock(adapter.TextOf(p)))
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
func callBlock(p *winnow.Part, own *block, id string) block {
	if own == nil {
		// Every version of the API accepts 64 characters.
		return sdk.NewToolUseBlock(id, adapter.Object(p.Arguments), adapter.Name(p.Name, 64, adapter.Letters))
	}
	call := *own
	if id != p.ID {
		call = withMember(own, "id", id)
	}
	if !adapter.IsObject(p.Arguments) {
		call = withMember(&call, "input", adapter.Object(p.Arguments))
	}
	return call
}

func thinkingBlock(p *winnow.Part) block {
	if p.MediaType == redacted {
		return sdk.NewRedactedThinkingBlock(p.Signature)
	}
	return sdk.NewThinkingBlock(p.Signature, p.Text)
}

func isThinking(b *block) bool {
	f := read(b)
	return f.typ == typeThinking || f.typ == typeRedactedThinking
}

// withMember returns a block as JSON with a new value for a member, or without the member if value is nil.
func withMember(b *block, key string, value any) block {
	return param.Override[block](json.RawMessage(setMember(adapter.Raw(b), key, value)))
}

// userBlocks returns the content of a user message.
func userBlocks(m *winnow.Message) []block {
	blocks := make([]block, 0, len(m.Parts))
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*block)
		if c, ok := p.Source.(*inner); ok { // of a result that is shown as a text of the host
			if b, ok := asUserBlock(c); ok {
				own = &b
			}
		}
		switch {
		case adapter.IsSilent(p):
		case own != nil:
			blocks = append(blocks, *own)
		case adapter.IsShown(p):
			blocks = append(blocks, sdk.NewTextBlock(adapter.TextOf(p)))
		}
	}
	return blocks
}

// resultOf returns the caller's block for m, or nil.
func resultOf(m *winnow.Message) *block {
	if p := adapter.PieceOf[sdk.MessageParam](m); p != nil {
		own, _ := p.Block.(*block)
		return own
	}
	return nil
}

// resultStays reports whether the caller's block is sent unchanged, except perhaps for its id.
func resultStays(m *winnow.Message, own *block) bool {
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
func (e *exporter) result(m *winnow.Message, id string) (r block, images []block) {
	own := resultOf(m)
	if own == nil {
		content, images := resultContent(m)
		result := sdk.ToolResultBlockParam{ToolUseID: id, Content: content, ToolsetName: e.toolsets[id]}
		if m.IsError {
			result.IsError = sdk.Bool(true)
		}
		return block{OfToolResult: &result}, images
	}
	r = *own
	if id != m.ToolCallID {
		r = withMember(own, "tool_use_id", id)
	}
	if !resultStays(m, own) {
		var content []inner
		var value any // nil: the member goes
		if content, images = resultContent(m); content != nil {
			value = content
		}
		r = withMember(&r, "content", value)
	}
	return r, images
}

// resultContent returns the content of a result. A result that is an error may hold only text.
func resultContent(m *winnow.Message) (content []inner, images []block) {
	for k := range m.Parts {
		p := &m.Parts[k]
		own := resultSource(p)
		switch {
		case adapter.IsSilent(p):
		case own != nil && (!m.IsError || p.Kind == winnow.KindText):
			content = append(content, *own)
		default:
			content = append(content, inner{OfText: &sdk.TextBlockParam{Text: adapter.TextOf(p)}})
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
	raw := adapter.Raw(c)
	switch typeOf(raw) {
	case typeImage, typeDocument, typeSearchResult:
		return param.Override[block](raw), true
	}
	return block{}, false
}

// resultSource returns the caller's value of a part of a result. A host may put a block for user messages there.
func resultSource(p *winnow.Part) *inner {
	switch s := p.Source.(type) {
	case *inner:
		return s
	case *block:
		c := param.Override[inner](adapter.Raw(s))
		return &c
	}
	return nil
}
