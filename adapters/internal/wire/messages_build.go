package wire

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Build returns messages as those of a request: messages and blocks that were not changed since [Import] are the
// caller's. of returns the JSON of a block that a host keeps in the Source of a part.
func (Messages) Build(messages []winnow.Message, of func(source any) []byte) Values {
	b := messageBuilder{of: of, toolsets: map[string]string{}}
	b.ids.Rule = adapter.IDRule{MaxLength: 64, Byte: adapter.Letters, Request: true, Objects: true}
	for run := range adapter.Runs(ownOf(Messages{}, messages)) {
		if adapter.IsAssistant(&run[0]) {
			b.assistant(&run[0])
			continue
		}
		from := 0
		for i := range run {
			if run[i].Role == winnow.RoleSystem {
				b.user(run[from:i])
				if p := adapter.PieceOf[Values](&run[i]); p != nil {
					b.out = append(b.out, (*p.Of)[0])
				}
				from = i + 1
			}
		}
		b.user(run[from:])
	}
	b.trimEnd()
	return b.out
}

// messageBuilder makes the messages.
type messageBuilder struct {
	out      Values
	of       func(source any) []byte
	ids      adapter.CallIDs
	toolsets map[string]string // of the newest calls, by id: results repeat them
}

// assistant adds m, which is one message in both forms. What stands in front of a block of compaction with which a
// request begins is shown by that, and refused beside it.
func (b *messageBuilder) assistant(m *winnow.Message) {
	p := adapter.PieceOf[Values](m)
	isSystem := func(v Given) bool { return v.JSON.Get("role").Text() == "system" }
	switch {
	case len(m.Parts) > 0 && b.typeOf(&m.Parts[0]) == "compaction" && m.Parts[0].MediaType == winnow.MediaCompaction:
		if !slices.ContainsFunc(b.out, func(v Given) bool { return !isSystem(v) }) {
			b.out = nil
		}
	case len(b.out) == 0 && (p == nil || !p.First):
		b.add(nil, "user", [][]byte{textBlock(adapter.Opening)})
	}
	sent, stay := b.ids.Name(m)
	b.noteToolsets(m, sent)
	if p != nil && stay && isSendable(m) {
		b.out = append(b.out, (*p.Of)[0])
	} else if blocks := b.assistantBlocks(m, sent); len(blocks) > 0 {
		b.add(p, "assistant", blocks)
	}
}

// add adds a message with new content. If it is made of a caller's, the other members of that stay.
func (b *messageBuilder) add(p *Piece, role string, blocks [][]byte) {
	content := jsonedit.List(blocks...)
	if p != nil {
		b.out = append(b.out, Given{JSON: (*p.Of)[0].JSON.Set("content", content)})
	} else {
		b.out = append(b.out, Given{JSON: jsonedit.Object("content", content, "role", role)})
	}
}

func textBlock(text string) []byte { return jsonedit.Object("text", text, "type", "text") }

// own returns the caller's block of a part, without texts that the API refuses, or nil.
func (b *messageBuilder) own(p *winnow.Part) value {
	block, ok := p.Source.(*Block)
	switch {
	case !ok:
		return b.of(p.Source)
	case block.api != (Messages{}):
		return nil
	case block.list == nil: // content that is a text
		return textBlock(p.Text)
	}
	raw, _ := block.filled()
	return raw
}

// filled returns a block without empty texts in it, which it may hold as what a search found, what a server returned
// that the API called, or what a document consists of.
func (b *Block) filled() (raw value, isChanged bool) {
	switch b.typ {
	case "search_result", "mcp_tool_result", "document":
		raw, isChanged := adapter.WithoutEmptyTexts(b.raw)
		return value(raw), isChanged
	}
	return b.raw, false
}

func (b *messageBuilder) typeOf(p *winnow.Part) string { return b.own(p).Get("type").Text() }

// noteToolsets remembers the toolsets of m's calls.
func (b *messageBuilder) noteToolsets(m *winnow.Message, sent []string) {
	clear(b.toolsets)
	for k, id := range sent {
		if id != "" {
			b.toolsets[id] = b.own(&m.Parts[k]).Get("toolset_name").Text()
		}
	}
}

// isSendable reports whether m has content and no blank text.
func isSendable(m *winnow.Message) bool {
	if p := adapter.PieceOf[Values](m); p != nil && p.Hollow {
		return false
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind == winnow.KindText && adapter.IsBlank(p.Text) {
			return false
		}
		if block, ok := p.Source.(*Block); ok {
			if _, isChanged := block.filled(); isChanged {
				return false
			}
		}
	}
	return len(m.Parts) > 0
}

// assistantBlocks builds the content of an answer that cannot be sent unchanged.
func (b *messageBuilder) assistantBlocks(m *winnow.Message, sent []string) (blocks [][]byte) {
	for k := range m.Parts {
		p := &m.Parts[k]
		own := b.own(p)
		switch {
		case p.Kind == winnow.KindToolCall:
			blocks = append(blocks, callBlock(p, own, sent[k]))
		case adapter.IsSilent(p):
		case own != nil:
			blocks = append(blocks, own)
		case p.Kind == winnow.KindThinking:
			// The API requires thinking to come first, with a signature.
			if isSignedHere(p) && (len(blocks) == 0 || IsThinking(blocks[0])) {
				blocks = append(blocks, thinkingBlock(p))
			}
		default:
			blocks = append(blocks, textBlock(adapter.TextOf(p)))
		}
	}
	return blocks
}

const redacted = "redacted_thinking"

// isSignedHere reports whether thinking, whose own block is gone, was signed by Claude. That of the Responses API has
// an id, and that of other models the media type that its adapter gave it.
func isSignedHere(p *winnow.Part) bool {
	return p.Signature != "" && p.ID == "" && (p.MediaType == "" || p.MediaType == redacted)
}

// callBlock returns a call with the id to send.
func callBlock(p *winnow.Part, own value, id string) []byte {
	if own == nil { // every version of the API accepts 64 characters
		return jsonedit.Object("id", id, "input", []byte(adapter.Object(p.Arguments)),
			"name", adapter.Name(p.Name, 64, adapter.Letters), "type", "tool_use")
	}
	if id != p.ID {
		own = own.Set("id", jsonedit.Quote(id))
	}
	if !adapter.IsObject(p.Arguments) {
		own = own.Set("input", adapter.Object(p.Arguments))
	}
	return own
}

func thinkingBlock(p *winnow.Part) []byte {
	if p.MediaType == redacted {
		return jsonedit.Object("data", p.Signature, "type", redacted)
	}
	return jsonedit.Object("signature", p.Signature, "thinking", p.Text, "type", "thinking")
}

// IsThinking reports whether a block is Claude's thinking.
func IsThinking(block []byte) bool {
	typ := value(block).Get("type").Text()
	return typ == "thinking" || typ == redacted
}

// user adds the messages between two of the model or the system.
func (b *messageBuilder) user(run []winnow.Message) {
	if len(run) == 0 {
		return
	}
	joined, run := adapter.JoinResults[Values](run)
	if joined != nil {
		b.build(joined, b.ids.Results(joined))
	}
	sent := b.ids.Results(run)
	for i := 0; i < len(run); {
		of, n := adapter.Whole[Values](run[i:])
		if n > 0 && staysWhole((*of)[0].JSON, run[i:i+n], sent[i:]) {
			b.out = append(b.out, (*of)[0])
		} else {
			n = max(n, 1)
			b.build(run[i:i+n], sent[i:])
		}
		i += n
	}
}

// staysWhole reports whether the caller's message, whose pieces these are, is sent unchanged.
func staysWhole(of value, pieces []winnow.Message, sent []string) bool {
	for i := range pieces {
		m := &pieces[i]
		if m.Role == winnow.RoleTool {
			if sent[i] != m.ToolCallID || !resultStays(m, ownResult(m)) {
				return false
			}
		} else if !isSendable(m) {
			return false
		}
	}
	if len(pieces) == 1 {
		return true
	}
	_, _, first := adapter.ResultsIn(of.Get("content").Elements(), IsResult)
	return first
}

// IsResult reports whether a block is the result of a call.
func IsResult(block value) bool { return block.Get("type").Text() == "tool_result" }

// build adds one message with the content of messages, results first.
func (b *messageBuilder) build(messages []winnow.Message, sent []string) {
	var results, others [][]byte
	of := adapter.PieceOf[Values](&messages[0])
	for i := range messages {
		m := &messages[i]
		if p := adapter.PieceOf[Values](m); of != nil && (p == nil || p.Of != of.Of) {
			of = nil
		}
		if m.Role == winnow.RoleTool {
			block, images := b.result(m, sent[i])
			results, others = append(results, block), append(others, images...)
		} else {
			others = append(others, b.userBlocks(m)...)
		}
	}
	if blocks := append(results, others...); len(blocks) > 0 {
		b.add(of, "user", blocks)
	}
}

// userBlocks returns the content of a message of the user.
func (b *messageBuilder) userBlocks(m *winnow.Message) (blocks [][]byte) {
	for k := range m.Parts {
		p := &m.Parts[k]
		own := b.own(p)
		if block, ok := p.Source.(*Block); ok && len(block.of.raw) > 0 && !isUsers(own) {
			own = nil // of a result that is shown as a text of the host
		}
		switch {
		case adapter.IsSilent(p):
		case own != nil:
			blocks = append(blocks, own)
		case adapter.IsShown(p):
			blocks = append(blocks, textBlock(adapter.TextOf(p)))
		}
	}
	return blocks
}

// isUsers reports whether a block of a result may stand in a message of the user.
func isUsers(block value) bool {
	switch block.Get("type").Text() {
	case "image", "document", "search_result":
		return true
	}
	return false
}

// ownResult returns the caller's block for m, or nil.
func ownResult(m *winnow.Message) value {
	if p := adapter.PieceOf[Values](m); p != nil {
		own, _ := p.Block.(value)
		return own
	}
	return nil
}

// resultStays reports whether the caller's block is sent unchanged, except perhaps for its id.
func resultStays(m *winnow.Message, own value) bool {
	if own == nil {
		return false
	}
	if len(m.Parts) == 0 { // the API accepts no content, and an empty text instead of a list
		return !own.Get("content").IsList()
	}
	for k := range m.Parts {
		if m.IsError && m.Parts[k].Kind != winnow.KindText {
			return false
		}
	}
	return isSendable(m)
}

// result returns the block of a result, and the images that the block may not hold.
func (b *messageBuilder) result(m *winnow.Message, id string) (r []byte, images [][]byte) {
	own := ownResult(m)
	if own != nil && id != m.ToolCallID {
		own = own.Set("tool_use_id", jsonedit.Quote(id))
	}
	if resultStays(m, own) {
		return own, nil
	}
	content, images := b.resultContent(m)
	switch {
	case own != nil && content == nil:
		return own.Delete("content"), images
	case own != nil:
		return own.Set("content", jsonedit.List(content...)), images
	}
	members := []any{"tool_use_id", id}
	if toolset := b.toolsets[id]; toolset != "" {
		members = append(members, "toolset_name", toolset)
	}
	if m.IsError {
		members = append(members, "is_error", []byte("true"))
	}
	if content != nil {
		members = append(members, "content", jsonedit.List(content...))
	}
	return jsonedit.Object(append(members, "type", "tool_result")...), images
}

// resultContent returns the content of a result. A result that is an error may hold only text.
func (b *messageBuilder) resultContent(m *winnow.Message) (content, images [][]byte) {
	for k := range m.Parts {
		p := &m.Parts[k]
		own := b.own(p)
		switch {
		case adapter.IsSilent(p):
		case own != nil && (!m.IsError || p.Kind == winnow.KindText):
			content = append(content, own)
		default:
			content = append(content, textBlock(adapter.TextOf(p)))
			if isUsers(own) {
				images = append(images, own)
			}
		}
	}
	return content, images
}

// trimEnd removes white space at the end of a conversation that the assistant has to continue.
func (b *messageBuilder) trimEnd() {
	if len(b.out) == 0 {
		return
	}
	last := b.out[len(b.out)-1].JSON
	if last.Get("role").Text() != "assistant" {
		return
	}
	text := last.Get("content")
	if list := text.Elements(); len(list) > 0 && list[len(list)-1].Get("type").Text() == "text" {
		text = list[len(list)-1].Get("text")
	}
	trimmed := strings.TrimRight(text.Text(), " \t\r\n")
	if text.IsText() && trimmed != text.Text() {
		e := jsonedit.Edit(last)
		e.Replace(text, jsonedit.Quote(trimmed))
		b.out[len(b.out)-1] = Given{JSON: e.Bytes(last)}
	}
}
