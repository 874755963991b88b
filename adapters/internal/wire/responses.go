package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Responses is OpenAI's Responses. A history is a list of items, of which an answer of the model may have several.
type Responses struct{}

// List implements [API].
func (Responses) List() string { return "input" }

// item is what is read of an item.
type item struct {
	members
	typ, role string
}

func itemOf(of value) *item {
	it := item{members: membersOf(of)}
	it.typ, it.role = it.get("type").Text(), it.get("role").Text()
	if it.typ == "" && it.role != "" {
		it.typ = "message"
	}
	return &it
}

func (a Responses) read(r *reader, of value) {
	it := itemOf(of)
	isModels := false
	switch {
	case it.typ == "message" && it.role != "assistant":
		a.close(r, 1)
		m := winnow.Message{Role: winnow.RoleSystem} // developer too
		if it.role == "user" {
			m.Role = winnow.RoleUser
		}
		r.content(it.get("content"), responsesContent)
		r.message(m, piece{content: it.get("content"), list: listIn(it.get("content"))})
	case it.typ == "function_call_output", it.typ == "custom_tool_call_output":
		a.close(r, 1)
		r.content(it.get("output"), responsesContent)
		m := winnow.Message{Role: winnow.RoleTool, ToolCallID: it.get("call_id").Text()}
		r.message(m, piece{id: it.get("call_id"), content: it.get("output"), list: listIn(it.get("output"))})
	case isOwnOutput(it.typ):
		a.close(r, 1)
		id := it.get("call_id")
		if id == nil { // of the local shell
			id = it.get("id")
		}
		r.opaque(winnow.Message{Role: winnow.RoleTool, ToolCallID: id.Text()}, of).id = id
	case it.typ == "configuration_update", it.typ == "additional_tools":
		a.close(r, 1)
		r.opaque(winnow.Message{Role: winnow.RoleSystem}, of)
	case it.typ == "compaction":
		a.close(r, 1)
		p := r.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true, Pinned: true}, of)
		compacted(r.history, p, it.get("encrypted_content").Text())
	case it.typ == "compaction_trigger", it.typ == "mcp_approval_response", it.typ == "":
		a.close(r, 1)
		r.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true}, of)
		part := &r.history.Messages[len(r.history.Messages)-1].Parts[0]
		part.ID, part.Name = halfOf(it)
	default:
		isModels = true
	}
	if !isModels {
		return
	}
	if r.turn == nil {
		r.turn = &piece{from: len(r.history.elements) - 1}
	}
	a.model(r, of, it)
}

// isOwnOutput reports whether an item is the client's output of a call of one of the API's own tools.
func isOwnOutput(typ string) bool {
	switch typ {
	case "computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		return true
	}
	return false
}

// isOwnCall reports whether an item is such a call.
func isOwnCall(typ string) bool {
	return strings.HasSuffix(typ, "_call") && isOwnOutput(typ+"_output")
}

// halfOf returns the ID and the Name of an item that is half of a pair: a call that the API runs itself or that it asks
// the client to approve, and the result. A search without an id is answered by the next result.
func halfOf(it *item) (id, name string) {
	switch it.typ {
	case "mcp_approval_request":
		return it.get("id").Text(), it.typ
	case "mcp_approval_response":
		return it.get("approval_request_id").Text(), ""
	case "program", "tool_search_call":
		return cmp.Or(it.get("call_id").Text(), it.typ), it.typ
	case "program_output":
		return cmp.Or(it.get("call_id").Text(), "program"), ""
	case "tool_search_output":
		return cmp.Or(it.get("call_id").Text(), "tool_search_call"), ""
	}
	return "", ""
}

// compacted gives the message of an item of compaction what the provider reads of it. The API's endpoint for
// compactions returns the messages of people in front of the item, with ids: they belong to it, and are pinned.
func compacted(h *History, of *piece, sealed string) {
	last := len(h.Messages) - 1
	p := &h.Messages[last].Parts[0]
	p.MediaType, p.Signature = winnow.MediaCompaction, sealed
	for k := last - 1; k >= 0; k-- {
		m := &h.Messages[k]
		own := m.Source.(*piece)
		if m.Role != winnow.RoleUser || m.Injected || h.elements[own.from].raw.Get("id").Text() == "" {
			return
		}
		m.Pinned = true
	}
}

// model reads an item of the model.
func (Responses) model(r *reader, of value, it *item) {
	b := Block{raw: of, isWhole: true, typ: it.typ}
	p := winnow.Part{Kind: winnow.KindToolCall, ID: it.get("call_id").Text(), Name: it.get("name").Text()}
	switch {
	case it.typ == "message" && it.get("content").IsText():
		b.text = it.get("content")
		p = winnow.Part{Text: it.get("content").Text()}
	case it.typ == "message":
		in := &list{raw: it.get("content"), owner: of}
		for _, c := range it.get("content").Elements() {
			responsesContent(r, c, in)
		}
		return
	case it.typ == "reasoning":
		p = winnow.Part{Kind: winnow.KindThinking, ID: it.get("id").Text()}
		p.Signature = it.get("encrypted_content").Text()
		for _, c := range append(of.Get("summary").Elements(), it.get("content").Elements()...) {
			if text := c.Get("text").Text(); p.Text == "" {
				p.Text = text
			} else if text != "" {
				p.Text += "\n" + text
			}
		}
		if p.Text == "" && p.Signature == "" { // the server keeps it, so it is not empty
			p.Signature = p.ID
		}
	case it.typ == "function_call":
		b.id, b.arguments = it.get("call_id"), it.get("arguments")
		p.Arguments = argumentsOf(b.arguments)
	case it.typ == "custom_tool_call":
		b.id, p.MediaType, p.Arguments = it.get("call_id"), it.typ, jsonedit.Quote(it.get("input").Text())
	case isOwnCall(it.typ):
		b.id, p.MediaType, p.Arguments = it.get("call_id"), it.typ, []byte(of)
		p.Name = strings.TrimSuffix(it.typ, "_call")
	default:
		p = winnow.Part{Kind: winnow.KindOpaque, Bytes: len(of)}
		p.ID, p.Name = halfOf(it)
	}
	r.part(p, b)
}

// responsesContent reads an element of a list of content, in a message or an output.
func responsesContent(r *reader, of value, in *list) {
	b := Block{raw: of, list: in, typ: of.Get("type").Text()}
	var p winnow.Part
	switch b.typ {
	case "input_text", "output_text", "text", "summary_text":
		b.text = of.Get("text")
		p.Text = b.text.Text()
	case "refusal":
		b.text = of.Get("refusal")
		p.Text = b.text.Text()
	case "input_image":
		p = adapter.Media(winnow.KindImage, "", of.Get("image_url").Text(), nil)
	case "input_file":
		p = adapter.Media(winnow.KindOpaque, "", of.Get("file_data").Text(), nil)
	default:
		p = winnow.Part{Kind: winnow.KindOpaque, Bytes: len(of)}
	}
	r.part(p, b)
}

// close ends the current turn of the model, in front of the newest elements.
func (Responses) close(r *reader, newest int) {
	if r.turn == nil {
		return
	}
	p := *r.turn
	p.to, r.turn = len(r.history.elements)-newest, nil
	r.message(winnow.Message{Role: winnow.RoleAssistant}, p)
}

func (a Responses) end(r *reader) { a.close(r, 0) }

func (Responses) text(role winnow.Role, text string) []byte {
	if role == winnow.RoleAssistant {
		return jsonedit.Object("type", "output_text", "text", text)
	}
	return jsonedit.Object("type", "input_text", "text", text)
}

func (Responses) message(blocks [][]byte) []byte {
	content := jsonedit.List(blocks...)
	if text := value(blocks[0]).Get("text"); len(blocks) == 1 && text.IsText() {
		content = text
	}
	return jsonedit.Object("type", "message", "role", "user", "content", content)
}

func (a Responses) result(m *winnow.Message, call *Block) []byte {
	typ := "function_call_output"
	if call != nil && call.typ == "custom_tool_call" {
		typ = "custom_tool_call_output"
	}
	return jsonedit.Object("type", typ, "call_id", m.ToolCallID, "output", adapter.Text(m.Parts))
}

// settle takes out the reasoning that may not be sent any more: an item of it needs the item that it led to directly
// behind it, which in turn needs the reasoning, unless it is sent without its id.
func (a Responses) settle(w *writer) {
	for p := range w.present {
		if p.role == winnow.RoleAssistant {
			a.settleTurn(w, p)
		}
	}
}

func (Responses) settleTurn(w *writer, p *piece) {
	items := make([]value, 0, p.to-p.from)
	gone := make([]bool, 0, p.to-p.from)
	for _, e := range w.history.elements[p.from:p.to] {
		items, gone = append(items, e.raw), append(gone, w.edit.IsRemoved(e.raw))
	}
	if !slices.Contains(gone, true) {
		return
	}
	bare := settleReasoning(items, gone)
	for i, of := range items {
		if id := of.Get("id"); gone[i] {
			w.edit.Remove(of)
		} else if bare[i] && id.Exists() {
			w.edit.Remove(id)
		}
	}
}

// settleReasoning decides what becomes of the items of an answer, of which some are gone: reasoning goes without the
// item that it led to, and an item whose reasoning is gone is bare, without its id.
func settleReasoning(items []value, gone []bool) (bare []bool) {
	isReasoning := func(i int) bool { return items[i].Get("type").Text() == "reasoning" }
	for i := len(items) - 1; i >= 0; i-- { // from the end: reasoning may lead to more reasoning
		gone[i] = gone[i] || isReasoning(i) && (i+1 == len(items) || gone[i+1])
	}
	bare = make([]bool, len(items))
	isBare := false // the reasoning for the next items is not sent
	for i := range items {
		if isReasoning(i) {
			isBare = gone[i]
		} else {
			bare[i] = isBare
		}
	}
	return bare
}
