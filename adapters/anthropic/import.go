package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

type piece = adapter.Piece[sdk.MessageParam]

// Import returns messages in winnow's form. A user message with tool results becomes one message for each result, and
// one for the rest. The result points to the caller's values, which must not be changed while it is in use. Importing
// the same values again gives equal messages.
//
// What stands beside results, or is nothing but reminders of an agent, is marked as no person's (Injected), unless nothing
// else could be the request. Afterwards the host may mark others, and messages that must survive (Pinned).
// [ImportSystem] imports the system prompt of [sdk.MessageNewParams].
func Import(messages []sdk.MessageParam) []winnow.Message {
	im := importer{
		out: make([]winnow.Message, 0, len(messages)+len(messages)/4), parts: make([]winnow.Part, 0, 2*len(messages)),
		first: slices.ContainsFunc(messages, isAsked),
	}
	for i := range messages {
		im.add(&messages[i])
	}
	adapter.EnsureImported(im.out)
	return im.out
}

// importer turns messages into winnow's. Parts share a few blocks of memory.
type importer struct {
	out    []winnow.Message
	parts  []winnow.Part
	names  adapter.ToolNames
	calls  []winnow.Part // calls of the newest assistant message
	hollow bool          // an empty text was left out of the parts of the next message
	first  bool          // only system messages so far, of a conversation in which the user says something
}

// isAsked reports whether Export sends something of a user message. Without one, the messages are an answer that the
// host imports alone, and not a conversation that begins with it.
func isAsked(of sdk.MessageParam) bool {
	c := contentOf(&of)
	if c.role == sdk.MessageParamRoleAssistant || c.role == sdk.MessageParamRoleSystem {
		return false
	}
	return !c.ok || slices.ContainsFunc(c.blocks, func(b block) bool {
		f := read(&b)
		return f.typ != typeText || !adapter.IsBlank(f.text)
	})
}

func (im *importer) add(of *sdk.MessageParam) {
	c := contentOf(of)
	if !c.ok {
		im.opaque(of, c.role)
		return
	}
	switch c.role {
	case sdk.MessageParamRoleAssistant:
		parts := im.blocks(c.blocks)
		im.names.Add(parts)
		im.calls = parts
		im.emit(winnow.Message{Role: winnow.RoleAssistant, Parts: parts}, of, nil, 0, 1)
	case sdk.MessageParamRoleSystem:
		im.emit(winnow.Message{Role: winnow.RoleSystem, Parts: im.blocks(c.blocks)}, of, nil, 0, 1)
	default:
		im.user(c.blocks, of)
	}
}

func (im *importer) emit(m winnow.Message, of *sdk.MessageParam, block any, index, count int) {
	m.Source = &piece{Of: of, Block: block, Index: index, Count: count, First: im.first, Hollow: im.hollow}
	im.hollow = false
	im.first = im.first && m.Role == winnow.RoleSystem
	im.out = append(im.out, m)
}

// opaque carries a message of which only the role and the size are known.
func (im *importer) opaque(of *sdk.MessageParam, role sdk.MessageParamRole) {
	part := winnow.Part{Kind: winnow.KindOpaque, Bytes: len(adapter.Raw(of))}
	m := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{part}}
	switch role {
	case sdk.MessageParamRoleAssistant:
		m.Role = winnow.RoleAssistant
	case sdk.MessageParamRoleSystem:
		m.Role = winnow.RoleSystem
	default:
		m.Injected = true // perhaps not a person's request
	}
	im.emit(m, of, nil, 0, 1)
}

// user splits a user message into its results, which come first, and the rest.
func (im *importer) user(blocks []block, of *sdk.MessageParam) {
	results, count, _ := adapter.ResultsIn(blocks, isResultBlock)
	first := len(im.out)
	for k := 0; k < len(blocks) && len(im.out) < first+results; k++ {
		if isResult(&blocks[k]) {
			r := read(&blocks[k])
			im.emit(winnow.Message{
				Role: winnow.RoleTool, ToolCallID: r.id, ToolName: im.names.Of(r.id),
				IsError: r.isError, Parts: im.resultContent(r.content),
			}, of, &blocks[k], len(im.out)-first, count)
		}
	}
	adapter.InCallOrder[sdk.MessageParam](im.out[first:], im.calls)
	if results < count {
		m := winnow.Message{Role: winnow.RoleUser, Parts: im.blocks(blocks)}
		adapter.NoteWhose(&m, results > 0)
		im.emit(m, of, nil, results, count)
	}
}

// blocks returns the parts of all blocks except results.
func (im *importer) blocks(blocks []block) []winnow.Part {
	begin := len(im.parts)
	for k := range blocks {
		if b := &blocks[k]; !isResult(b) {
			im.parts = append(im.parts, im.part(read(b), b))
		}
	}
	return im.parts[begin:len(im.parts):len(im.parts)]
}

// resultContent returns the parts of a result without empty texts, which the API refuses.
func (im *importer) resultContent(content []inner) []winnow.Part {
	begin := len(im.parts)
	for k := range content {
		if f := readInner(&content[k]); f.typ != typeText || f.text != "" {
			im.parts = append(im.parts, im.part(f, &content[k]))
		} else {
			im.hollow = true
		}
	}
	return im.parts[begin:len(im.parts):len(im.parts)]
}

// redacted marks thinking that exists only in encrypted form, so that it is sent back as such even if its Source is
// gone.
const redacted = typeRedactedThinking

// part returns the part for a block.
func (im *importer) part(f fields, source any) winnow.Part {
	p := winnow.Part{Source: source}
	switch f.typ {
	case typeText:
		p.Text = f.text
	case typeThinking:
		p.Kind, p.Text, p.Signature = winnow.KindThinking, f.text, f.signature
	case typeRedactedThinking:
		p.Kind, p.Signature, p.MediaType = winnow.KindThinking, f.signature, redacted
	case typeToolUse:
		p.Kind, p.ID, p.Name, p.Arguments = winnow.KindToolCall, f.id, f.name, adapter.Arguments(f.input)
	case typeImage:
		p.Kind, p.MediaType, p.Bytes = winnow.KindImage, f.mediaType, f.bytes
		adapter.Measure(&p, f.data)
	case typeCompaction:
		p.Kind, p.Bytes = winnow.KindOpaque, f.bytes
		if f.text != "" { // else the API could not compact
			p.MediaType, p.Text, p.Signature = winnow.MediaCompaction, f.text, f.signature
		}
	default:
		p.Kind, p.MediaType, p.Bytes, p.ID, p.Name = winnow.KindOpaque, f.mediaType, f.bytes, f.id, f.name
		adapter.Measure(&p, f.data)
		if mayHoldTexts(&f) {
			var hollow bool
			p.Source, hollow = withoutEmptyTexts(source)
			im.hollow = im.hollow || hollow
		}
	}
	return p
}

// mayHoldTexts reports whether a block may have a list of texts: what a search found, what a server returned that the
// API called, or what a document consists of.
func mayHoldTexts(f *fields) bool {
	return f.typ == typeSearchResult || f.typ == typeServedResult || f.typ == typeDocument && f.mediaType == ""
}

// withoutEmptyTexts returns a block without the empty texts in it.
func withoutEmptyTexts(source any) (without any, found bool) {
	switch s := source.(type) {
	case *block:
		if raw, found := adapter.WithoutEmptyTexts(adapter.Raw(s)); found {
			b := param.Override[block](raw)
			return &b, true
		}
	case *inner:
		if raw, found := adapter.WithoutEmptyTexts(adapter.Raw(s)); found {
			c := param.Override[inner](raw)
			return &c, true
		}
	}
	return source, false
}
