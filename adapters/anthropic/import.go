package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

type piece = adapter.Piece[sdk.MessageParam]

// Import returns messages in winnow's form. A user message with tool results becomes one message for each
// result and one for the rest. The messages and parts hold pointers to the caller's values, which must not
// be changed as long as they are in use; the same values imported again give equal messages.
//
// What a person did not write can be marked afterwards (Injected), as can what must survive (Pinned).
// System text of [sdk.MessageNewParams] is imported by [ImportSystem].
func Import(messages []sdk.MessageParam) []winnow.Message {
	var im importer
	im.reserve(messages)
	for i := range messages {
		im.add(&messages[i])
	}
	return im.out
}

// importer turns messages into winnow's. Parts and pieces lie in few blocks of memory.
type importer struct {
	out    []winnow.Message
	parts  []winnow.Part
	pieces adapter.Pieces[sdk.MessageParam]
	names  adapter.ToolNames
	args   adapter.Arguments
	calls  []winnow.Part // of the newest assistant message
}

// reserve makes room for what messages become.
func (im *importer) reserve(messages []sdk.MessageParam) {
	parts, pieces := 0, 0
	for i := range messages {
		blocks := messages[i].Content
		results := 0
		for k := range blocks {
			if r := blocks[k].OfToolResult; r != nil {
				results++
				parts += len(r.Content)
			}
		}
		parts += len(blocks) - results
		if pieces += results; results == 0 || results < len(blocks) {
			pieces++
		}
	}
	im.out = make([]winnow.Message, 0, pieces)
	im.parts = make([]winnow.Part, 0, parts)
	im.pieces.Grow(pieces)
}

func (im *importer) add(of *sdk.MessageParam) {
	m := readMessage(of)
	if m == nil {
		im.opaque(of)
		return
	}
	switch m.Role {
	case sdk.MessageParamRoleAssistant:
		parts := im.blocks(m.Content)
		im.names.Add(parts)
		im.calls = parts
		im.emit(winnow.Message{Role: winnow.RoleAssistant, Parts: parts}, of, nil, 0, 1)
	case sdk.MessageParamRoleSystem:
		im.emit(winnow.Message{Role: winnow.RoleSystem, Parts: im.blocks(m.Content)}, of, nil, 0, 1)
	default:
		im.user(m.Content, of)
	}
}

func (im *importer) emit(m winnow.Message, of *sdk.MessageParam, block any, index, count int) {
	m.Source = im.pieces.New(of, block, index, count)
	im.out = append(im.out, m)
}

// opaque carries a message of which nothing is known but its size.
func (im *importer) opaque(of *sdk.MessageParam) {
	m := winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Kind: winnow.KindOpaque, Bytes: jsonSize(of)}}}
	im.emit(m, of, nil, 0, 1)
}

// user splits a user message into its results, which come first, and the rest.
func (im *importer) user(blocks []sdk.ContentBlockParamUnion, of *sdk.MessageParam) {
	results := 0
	for k := range blocks {
		if readResult(&blocks[k]) != nil {
			results++
		}
	}
	count := results
	if results == 0 || results < len(blocks) {
		count++
	}
	first := len(im.out)
	for k := 0; k < len(blocks) && len(im.out) < first+results; k++ {
		if r := readResult(&blocks[k]); r != nil {
			im.emit(winnow.Message{
				Role: winnow.RoleTool, ToolCallID: r.ToolUseID, ToolName: im.names.Of(r.ToolUseID),
				IsError: r.IsError.Value, Parts: im.resultContent(r.Content),
			}, of, &blocks[k], len(im.out)-first, count)
		}
	}
	adapter.InCallOrder[sdk.MessageParam](im.out[first:], func(yield func(string)) {
		for k := range im.calls {
			if im.calls[k].Kind == winnow.KindToolCall {
				yield(im.calls[k].ID)
			}
		}
	})
	if results < count {
		im.emit(winnow.Message{Role: winnow.RoleUser, Parts: im.blocks(blocks)}, of, nil, results, count)
	}
}

// blocks returns the parts of all blocks that are no results.
func (im *importer) blocks(blocks []sdk.ContentBlockParamUnion) []winnow.Part {
	begin := len(im.parts)
	for k := range blocks {
		if b := &blocks[k]; readResult(b) == nil {
			im.parts = append(im.parts, im.block(b))
		}
	}
	return im.parts[begin:len(im.parts):len(im.parts)]
}

func (im *importer) resultContent(content []sdk.ToolResultBlockParamContentUnion) []winnow.Part {
	begin := len(im.parts)
	for k := range content {
		im.parts = append(im.parts, resultPart(&content[k]))
	}
	return im.parts[begin:len(im.parts):len(im.parts)]
}

// redacted marks thinking of which there is only the encrypted form, so that it is sent back as such even
// if its Source is gone.
const redacted = "redacted_thinking"

func (im *importer) block(source *sdk.ContentBlockParamUnion) winnow.Part {
	p := winnow.Part{Source: source}
	switch b := readBlock(source); {
	case b == nil:
		p.Kind, p.Bytes = winnow.KindOpaque, jsonSize(source)
	case b.OfText != nil:
		p.Text = b.OfText.Text
	case b.OfThinking != nil:
		p.Kind, p.Text, p.Signature = winnow.KindThinking, b.OfThinking.Thinking, b.OfThinking.Signature
	case b.OfRedactedThinking != nil:
		p.Kind, p.Signature, p.MediaType = winnow.KindThinking, b.OfRedactedThinking.Data, redacted
	case b.OfToolUse != nil:
		p.Kind, p.ID, p.Name = winnow.KindToolCall, b.OfToolUse.ID, b.OfToolUse.Name
		p.Arguments = im.args.Write(b.OfToolUse.Input)
	case b.OfImage != nil:
		p.Kind = winnow.KindImage
		p.MediaType, p.Bytes = imageSize(b.OfImage)
	case b.OfDocument != nil:
		p.Kind = winnow.KindOpaque
		p.MediaType, p.Bytes = documentSize(b.OfDocument)
	default:
		p.Kind, p.Bytes = winnow.KindOpaque, jsonSize(b)
	}
	return p
}

func resultPart(c *sdk.ToolResultBlockParamContentUnion) winnow.Part {
	p := winnow.Part{Source: c}
	switch {
	case c.OfText != nil:
		if _, ok := c.OfText.Overrides(); ok {
			p.Kind, p.Bytes = winnow.KindOpaque, jsonSize(c)
			break
		}
		p.Text = c.OfText.Text
	case c.OfImage != nil:
		p.Kind = winnow.KindImage
		p.MediaType, p.Bytes = imageSize(c.OfImage)
	case c.OfDocument != nil:
		p.Kind = winnow.KindOpaque
		p.MediaType, p.Bytes = documentSize(c.OfDocument)
	default:
		p.Kind, p.Bytes = winnow.KindOpaque, jsonSize(c)
	}
	return p
}

// imageSize returns the type and the bytes of an image as they are sent.
func imageSize(b *sdk.ImageBlockParam) (mediaType string, bytes int) {
	switch s := &b.Source; {
	case s.OfBase64 != nil:
		return string(s.OfBase64.MediaType), len(s.OfBase64.Data)
	case s.OfURL != nil:
		return "", len(s.OfURL.URL)
	}
	return "", 0
}

func documentSize(b *sdk.DocumentBlockParam) (mediaType string, bytes int) {
	switch s := &b.Source; {
	case s.OfBase64 != nil:
		return "application/pdf", len(s.OfBase64.Data)
	case s.OfText != nil:
		return "text/plain", len(s.OfText.Data)
	case s.OfURL != nil:
		return "application/pdf", 0 // the size of what stands there is not known
	case s.OfContent != nil:
		return "", jsonSize(s.OfContent)
	}
	return "", 0
}

// jsonSize returns the bytes of a block as it is sent. Only blocks that are rare in a long history are
// measured so.
func jsonSize(v json.Marshaler) int {
	b, err := v.MarshalJSON()
	if err != nil {
		return 0
	}
	return len(b)
}
