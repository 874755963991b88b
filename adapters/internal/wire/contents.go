package wire

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Contents is Gemini's generateContent. Names may be written in either way: inlineData, inline_data.
type Contents struct{}

// List implements [API].
func (Contents) List() string { return "contents" }

func (Contents) resultsAreBlocks() {}

// openCall is a call that may wait for its response.
type openCall struct {
	id, name string
	isMade   bool
	answered bool
}

func (Contents) read(r *reader, of value) {
	parts := of.Get("parts")
	if of.Get("role").Text() == "model" {
		r.open = r.open[:0]
		in := &list{raw: parts}
		for _, p := range parts.Elements() {
			contentsPart(r, p, in)
		}
		r.message(winnow.Message{Role: winnow.RoleAssistant}, piece{content: parts, list: parts})
		return
	}
	if !parts.IsList() {
		r.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true}, of)
		return
	}
	first := len(r.history.Messages)
	var others []value
	for _, p := range parts.Elements() {
		if response := either(p, "functionResponse"); response.Exists() {
			contentsResponse(r, p, response, parts)
		} else {
			others = append(others, p)
		}
	}
	in := &list{raw: parts, left: len(r.history.Messages) - first} // responses are in it too
	r.inCallOrder(first)
	if in.left > 0 && len(others) == 0 {
		return
	}
	for _, p := range others {
		contentsPart(r, p, in)
	}
	r.message(winnow.Message{Role: winnow.RoleUser}, piece{content: parts, list: parts})
}

// either returns a member by its name, in either way of writing.
func either(of value, name string) value {
	if v := of.Get(name); len(v) > 0 {
		return v
	}
	var snake strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			snake.WriteByte('_')
			c += 'a' - 'A'
		}
		snake.WriteRune(c)
	}
	return of.Get(snake.String())
}

// What code that the API runs itself is called, and the ID of its pairs where the API gives none: each result then
// follows its code.
const code = "code"

func contentsPart(r *reader, of value, in *list) {
	b := Block{raw: of, list: in}
	p := winnow.Part{Kind: winnow.KindOpaque, Bytes: len(of)}
	signature := either(of, "thoughtSignature").Text()
	text := of.Get("text")
	if call := either(of, "functionCall"); call.Exists() {
		b.id, b.arguments = call.Get("id"), call.Get("args")
		p = winnow.Part{Kind: winnow.KindToolCall, ID: b.id.Text(), Name: call.Get("name").Text(), Signature: signature}
		if b.arguments.Exists() && string(b.arguments) != "{}" {
			p.Arguments = adapter.Arguments(json.RawMessage(b.arguments))
		}
		if p.ID == "" {
			p.ID, b.isMade = r.madeID(&p), true
		}
		r.open = append(r.open, openCall{id: p.ID, name: p.Name, isMade: b.isMade})
		r.part(p, b)
		return
	}
	switch data, file := either(of, "inlineData"), either(of, "fileData"); {
	case data.Exists():
		p = contentsMedia(data)
	case file.Exists():
		p = contentsMedia(file)
	case either(of, "executableCode").Exists():
		v := either(of, "executableCode")
		p.ID, p.Name = cmp.Or(v.Get("id").Text(), code), code
	case either(of, "codeExecutionResult").Exists():
		p.ID = cmp.Or(either(of, "codeExecutionResult").Get("id").Text(), code)
	case either(of, "toolCall").Exists():
		v := either(of, "toolCall")
		p.Name = cmp.Or(either(v, "toolType").Text(), code)
		p.ID = cmp.Or(v.Get("id").Text(), p.Name)
	case either(of, "toolResponse").Exists():
		v := either(of, "toolResponse")
		p.ID = cmp.Or(v.Get("id").Text(), either(v, "toolType").Text(), code)
	case of.Get("thought").Is():
		p = winnow.Part{Kind: winnow.KindThinking, Text: text.Text()}
		b.text = text
		if signature != "" {
			p.MediaType = "thought_signature"
		}
	case text.Text() == "" && signature != "": // not empty: the signature counts
		p.Bytes = len(signature)
	case text.IsText():
		p = winnow.Part{Text: text.Text()}
		b.text = text
	}
	p.Signature = signature
	r.part(p, b)
}

// contentsMedia reads an image or another medium.
func contentsMedia(of value) winnow.Part {
	mediaType, kind := either(of, "mimeType").Text(), winnow.KindOpaque
	if strings.HasPrefix(mediaType, "image/") {
		kind = winnow.KindImage
	}
	if data := of.Get("data").Text(); data != "" {
		return adapter.Media(kind, mediaType, data, nil)
	}
	return winnow.Part{Kind: kind, MediaType: mediaType}
}

// madePrefix begins the ids that are made for calls without one. They are never sent.
const madePrefix = "winnow_made_"

// madeID makes an id for a call without one, from the call itself, so that it keeps its id when the client drops other
// messages from the front.
func (r *reader) madeID(call *winnow.Part) string {
	what := call.Name + "\xff" + call.Signature + "\xff" + string(call.Arguments)
	id := madePrefix + strings.TrimPrefix(adapter.HashID(what), "call_")[:16] // every provider takes 28 characters
	if r.made == nil {
		r.made, r.named = map[string]int{}, map[string]string{}
	}
	if r.made[id]++; r.made[id] > 1 {
		id += "_" + strconv.Itoa(r.made[id])
	}
	r.named[call.Name] = id
	return id
}

// contentsResponse reads a response of a function.
func contentsResponse(r *reader, of, response, parts value) {
	m := winnow.Message{Role: winnow.RoleTool, ToolName: response.Get("name").Text()}
	p := piece{raw: of, in: parts, id: response.Get("id"), content: response.Get("response"), wrap: "output"}
	m.ToolCallID = r.answered(p.id.Text(), m.ToolName)
	b := Block{raw: p.content, gone: []byte("{}")}
	text := ""
	members := 0
	p.content.Members(func(name string, v value) {
		members++
		if v.IsText() && (name == "output" || name == "result" || name == "error") {
			b.text, text, m.IsError = v, v.Text(), name == "error"
		}
	})
	if members != 1 || len(b.text) == 0 { // a result of another form is read, and replaced, as a whole
		b.text, b.member, text, m.IsError = nil, "output", string(adapter.Arguments(json.RawMessage(p.content))), false
	}
	if members > 0 && text != "" {
		r.part(winnow.Part{Text: text}, b)
	}
	in := &list{raw: response.Get("parts")}
	for _, v := range in.raw.Elements() {
		part := winnow.Part{Kind: winnow.KindOpaque}
		if data := either(v, "inlineData"); data.Exists() {
			part = contentsMedia(data)
		} else if file := either(v, "fileData"); file.Exists() {
			part = contentsMedia(file)
		}
		r.part(part, Block{raw: v, list: in})
	}
	r.message(m, p)
}

// answered returns the id of the call that a response answers: its own, else that of the first open call without an id
// that has its name, else of the first such call with any name, else of the newest call of its name without an id.
func (r *reader) answered(id, name string) string {
	for len(r.open) > 0 && r.open[0].answered {
		r.open = r.open[1:]
	}
	found := -1
	for i := range r.open {
		c := &r.open[i]
		switch {
		case c.answered || id == "" && !c.isMade || id != "" && c.id != id:
		case id != "" || c.name == name:
			c.answered = true
			return c.id
		case found < 0:
			found = i
		}
	}
	switch {
	case id != "":
		return id
	case found >= 0:
		r.open[found].answered = true
		return r.open[found].id
	}
	return r.named[name] // another response to a call that has one
}

func (Contents) text(_ winnow.Role, text string) []byte { return jsonedit.Object("text", text) }

func (Contents) message(blocks [][]byte) []byte {
	return jsonedit.Object("role", "user", "parts", jsonedit.List(blocks...))
}

func (Contents) result(m *winnow.Message, call *Block) []byte {
	key := "output"
	if m.IsError {
		key = "error"
	}
	members := []any{"name", m.ToolName, "response", jsonedit.Object(key, adapter.Text(m.Parts))}
	if call == nil || !call.isMade {
		members = append([]any{"id", m.ToolCallID}, members...)
	}
	return jsonedit.Object("functionResponse", jsonedit.Object(members...))
}

// settle lets a conversation begin with the user, and calls follow the user: contents of the model become one.
func (a Contents) settle(w *writer) {
	w.open(a)
	for i := 1; i < len(w.out); i++ {
		before, e := &w.out[i-1], &w.out[i]
		if before.role != winnow.RoleAssistant || e.role != winnow.RoleAssistant || !w.hasCalls(e) {
			continue
		}
		first := w.history.elements[e.element].raw.Get("parts.0")
		for _, p := range w.history.elements[before.element].pieces {
			for _, b := range p.blocks {
				if !w.edit.IsRemoved(b.raw) {
					w.edit.Before(first, w.edit.Bytes(b.raw))
				}
			}
		}
		delete(w.at, before.element)
		w.out = append(w.out[:i-1], w.out[i:]...)
		i--
	}
}

// hasCalls reports whether an entry of the model calls functions.
func (w *writer) hasCalls(e *entry) bool {
	for _, p := range w.history.elements[e.element].pieces {
		for _, b := range p.blocks {
			if b.kind == winnow.KindToolCall && !w.edit.IsRemoved(b.raw) {
				return true
			}
		}
	}
	return false
}
