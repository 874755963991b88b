package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Messages is Anthropic's API.
type Messages struct{}

// List implements [API].
func (Messages) List() string { return "messages" }

func (Messages) resultsAreBlocks() {}

func (Messages) read(r *reader, of value) {
	m := membersOf(of)
	role, content := m.get("role").Text(), m.get("content")
	isKnown := content.IsText() || content.IsList()
	switch {
	case role == "system" && r.isHidden(of):
	case role == "assistant" && isKnown:
		r.content(content, messagesBlock)
		r.message(winnow.Message{Role: winnow.RoleAssistant}, piece{content: content, list: listIn(content)})
	case role == "system" && isKnown:
		r.content(content, messagesBlock)
		r.message(winnow.Message{Role: winnow.RoleSystem}, piece{content: content, list: listIn(content)})
	case role == "user" && isKnown:
		messagesUser(r, content)
	case role == "assistant":
		r.opaque(winnow.Message{Role: winnow.RoleAssistant}, of)
	case role == "system":
		r.opaque(winnow.Message{Role: winnow.RoleSystem}, of)
	default: // perhaps not a person's request
		r.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true}, of)
	}
}

// begin finds out which system messages the API does not show: those before its newest block of compaction, which
// stands for them too and comes first, and those that are to be shown only until the user goes on. They are sent as
// they came as long as what stands before them is.
func (Messages) begin(r *reader, elements []value) {
	for i, of := range elements {
		if of.Get("role").Text() == "user" {
			r.lastUser = i
		}
		if !bytes.Contains(of, []byte(`"compaction"`)) {
			continue
		}
		for _, b := range of.Get("content").Elements() {
			if b.Get("type").Text() == "compaction" && b.Get("content").Text() != "" {
				r.shownFrom = i
			}
		}
	}
}

// isHidden reports whether the API does not show the newest element, a system message.
func (r *reader) isHidden(of value) bool {
	at := len(r.history.elements) - 1
	return at < r.shownFrom || at < r.lastUser && of.Get("clear_at").Text() == "next_user_message"
}

// listIn returns content in which blocks stand.
func listIn(content value) value {
	if content.IsList() {
		return content
	}
	return nil
}

// content reads content: a text, or blocks.
func (r *reader) content(content value, block func(r *reader, of value, in *list)) {
	if content.IsText() {
		if text := content.Text(); text != "" {
			r.part(winnow.Part{Text: text}, Block{raw: content, text: content, gone: []byte(`""`)})
		}
		return
	}
	in := &list{raw: content, empty: []byte(`""`)}
	for _, b := range content.Elements() {
		block(r, b, in)
	}
}

// messagesUser splits a message of the user into its results, which come first, and the rest.
func messagesUser(r *reader, content value) {
	first := len(r.history.Messages)
	var others []value
	in := &list{raw: content}
	for _, b := range content.Elements() {
		if b.Get("type").Text() != "tool_result" {
			others = append(others, b)
			continue
		}
		of := membersOf(b)
		p := piece{raw: b, in: content, id: of.get("tool_use_id"), content: of.get("content")}
		m := winnow.Message{Role: winnow.RoleTool, ToolCallID: p.id.Text(), IsError: of.get("is_error").Is()}
		r.content(p.content, messagesBlock)
		p.list = listIn(p.content)
		r.message(m, p)
	}
	in.left = len(r.history.Messages) - first // results are in it too
	r.inCallOrder(first)
	if in.left > 0 && len(others) == 0 {
		return
	}
	if content.IsText() {
		r.content(content, messagesBlock)
	}
	for _, b := range others {
		messagesBlock(r, b, in)
	}
	r.message(winnow.Message{Role: winnow.RoleUser}, piece{content: content, list: listIn(content)})
}

// messagesBlock reads a block that is no result.
func messagesBlock(r *reader, of value, in *list) {
	m := membersOf(of)
	b := Block{raw: of, list: in, typ: m.get("type").Text()}
	var p winnow.Part
	switch b.typ {
	case "text":
		b.text = m.get("text")
		p.Text = b.text.Text()
	case "thinking":
		b.text = m.get("thinking")
		p.Kind, p.Text, p.Signature = winnow.KindThinking, b.text.Text(), m.get("signature").Text()
	case "redacted_thinking":
		p.Kind, p.Signature, p.MediaType = winnow.KindThinking, m.get("data").Text(), b.typ
	case "tool_use":
		b.id, b.arguments = m.get("id"), m.get("input")
		p.Kind, p.ID, p.Name = winnow.KindToolCall, b.id.Text(), m.get("name").Text()
		if b.arguments.Exists() {
			p.Arguments = adapter.Arguments(json.RawMessage(b.arguments))
		}
	case "image", "document":
		p.Kind = winnow.KindOpaque
		if b.typ == "image" {
			p.Kind = winnow.KindImage
		}
		messagesSource(&p, m.get("source"))
	case "compaction":
		p.Kind, p.Bytes = winnow.KindOpaque, len(of)
		if s := m.get("content").Text(); s != "" { // else the API could not compact
			p.MediaType, p.Text, p.Signature = winnow.MediaCompaction, s, m.get("signature").Text()
		}
	default:
		p.Kind, p.Bytes = winnow.KindOpaque, len(of)
		switch name := m.get("name"); { // a half of a pair that the API runs itself
		case strings.HasSuffix(b.typ, "_tool_use") && len(name) > 0:
			p.ID, p.Name = m.get("id").Text(), name.Text()
		case strings.HasSuffix(b.typ, "_tool_result"):
			p.ID = m.get("tool_use_id").Text()
		}
	}
	r.part(p, b)
}

// messagesSource reads the source of an image or a document.
func messagesSource(p *winnow.Part, source value) {
	data, url := source.Get("data"), source.Get("url")
	isDocument := p.Kind == winnow.KindOpaque
	switch kind := source.Get("type").Text(); {
	case kind == "base64":
		p.MediaType = source.Get("media_type").Text()
		if isDocument {
			p.MediaType = "application/pdf"
		}
		p.Bytes = max(0, len(data)-2)
		adapter.Measure(p, data.Text())
	case kind == "text":
		p.MediaType, p.Bytes = "text/plain", len(data.Text())
	case kind == "url" && isDocument:
		p.MediaType = "application/pdf" // the size of the referenced data is unknown
	case kind == "url":
		p.Bytes = len(url.Text())
	case kind == "content":
		p.Bytes = len(source)
	}
}

func (Messages) text(_ winnow.Role, text string) []byte {
	return jsonedit.Object("type", "text", "text", text)
}

func (Messages) message(blocks [][]byte) []byte {
	return jsonedit.Object("role", "user", "content", jsonedit.List(blocks...))
}

func (a Messages) result(m *winnow.Message, _ *Block) []byte {
	members := []any{"type", "tool_result", "tool_use_id", m.ToolCallID}
	var blocks [][]byte
	for k := range m.Parts {
		if p := &m.Parts[k]; adapter.IsShown(p) {
			blocks = append(blocks, a.text(winnow.RoleTool, adapter.TextOf(p)))
		}
	}
	if len(blocks) > 0 {
		members = append(members, "content", jsonedit.List(blocks...))
	}
	if m.IsError {
		members = append(members, "is_error", []byte("true"))
	}
	return jsonedit.Object(members...)
}

// settle lets a conversation begin with the user, or with a block of compaction, which stands for what was there.
func (a Messages) settle(w *writer) { w.open(a) }

// open puts a message of the user in front of a conversation that begins with the model, unless the client's does so.
func (w *writer) open(api API) {
	if len(w.out) == 0 || w.out[0].role != winnow.RoleAssistant {
		return
	}
	if e := w.out[0].element; e == 0 || e > 0 && w.history.elements[e].isCompacted(w) {
		return
	}
	text := api.text(winnow.RoleUser, adapter.Opening)
	opening := entry{element: -1, raw: api.message([][]byte{text}), role: winnow.RoleUser}
	w.out = append([]entry{opening}, w.out...)
}

// isCompacted reports whether e begins with a block in which the API has summarized what was before it.
func (e *element) isCompacted(w *writer) bool {
	for _, p := range e.pieces {
		for _, b := range p.blocks {
			if !w.edit.IsRemoved(b.raw) {
				return b.typ == "compaction"
			}
		}
	}
	return false
}
