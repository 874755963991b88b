package wire

import (
	"cmp"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Build returns messages as items of a request: those that were not changed since [Import] are the caller's. of returns
// the JSON of the content that a host keeps in the Source of a part.
func (Responses) Build(messages []winnow.Message, of func(source any) []byte) Values {
	messages = ownOf(Responses{}, messages)
	b := itemBuilder{of: of, kinds: map[string]string{}}
	b.ids.Rule = adapter.IDRule{MaxLength: 64, Request: true}
	for i := range messages {
		m := &messages[i]
		switch {
		case adapter.IsAssistant(m):
			b.assistant(m, messages[i+1:])
		case m.Role == winnow.RoleTool:
			b.result(m)
		default:
			b.message(m)
		}
	}
	return b.out
}

// itemBuilder makes the items.
type itemBuilder struct {
	out  Values
	of   func(source any) []byte
	ids  adapter.CallIDs
	sent []string // for the parts of the newest answer; "" for one that is no call, or a call that is left out

	// types by id of the newest calls that are not of functions; "" for a call that was left out
	kinds map[string]string
}

func (b *itemBuilder) add(raw value) { b.out = append(b.out, Given{JSON: raw}) }

// itemsOf returns the caller's items of m, or nil if they are built anew.
func itemsOf(m *winnow.Message) Values {
	if p := adapter.PieceOf[Values](m); p != nil && (!p.Hollow || m.Role == winnow.RoleAssistant) {
		return *p.Of
	}
	return nil
}

// message adds a message of the user or the system.
func (b *itemBuilder) message(m *winnow.Message) {
	if own := itemsOf(m); own != nil {
		b.out = append(b.out, own...)
		return
	}
	p := m.Parts
	if len(p) == 1 && p[0].MediaType == winnow.MediaCompaction && p[0].Text == "" && p[0].Signature != "" {
		b.add(jsonedit.Object("encrypted_content", p[0].Signature, "type", "compaction")) // its own item is gone
		return
	}
	role := "user"
	if m.Role == winnow.RoleSystem {
		role = "system"
	}
	if content := contentOf(m, "input_text", adapter.IsShown, b.own); content != nil {
		b.add(newItem(role, content))
	}
}

// newItem returns a message with its type, which the SDK's own decoder requires.
func newItem(role string, content []byte) value {
	return jsonedit.Object("content", content, "role", role, "type", "message")
}

// own returns the caller's content of a part, which messages and outputs share, or nil.
func (b *itemBuilder) own(p *winnow.Part) value { return ownElement(Responses{}, p, b.of) }

// result adds the output of a call.
func (b *itemBuilder) result(m *winnow.Message) {
	id, _ := b.ids.Result(m.ToolCallID)
	kind, other := b.kinds[id]
	if other && kind == "" {
		return // its call was left out
	}
	if own := itemsOf(m); own != nil {
		b.out = append(b.out, withCallID(own[0], m.ToolCallID, id))
		return
	}
	output := contentOf(m, "input_text", func(p *winnow.Part) bool { return !adapter.IsSilent(p) }, b.own)
	if output == nil {
		output = []byte(`""`)
	}
	typ := "function_call_output"
	if kind == "custom_tool_call" {
		typ = "custom_tool_call_output"
		b.add(jsonedit.Object("call_id", id, "output", output, "type", typ))
		return
	}
	b.add(jsonedit.Object("output", output, "call_id", id, "type", typ))
}

// assistant adds an answer. behind are the messages that follow it.
func (b *itemBuilder) assistant(m *winnow.Message, behind []winnow.Message) {
	stay := b.nameCalls(m, behind)
	if own := itemsOf(m); own != nil && stay {
		for _, item := range own {
			if len(m.Parts) > 0 || isSaid(item.JSON.Get("content")) {
				b.out = append(b.out, item)
			}
		}
		return
	}
	kept := b.keptItems(m)
	for k := 0; k < len(m.Parts); k++ {
		p, id := &m.Parts[k], b.sent[k]
		if p.Kind == winnow.KindToolCall && id == "" {
			continue
		}
		n, at := wholeItem(m.Parts[k:])
		if n == 0 {
			b.part(p, id)
			continue
		}
		if state, ok := kept[at]; ok {
			item := state.item
			if p.Kind == winnow.KindToolCall {
				item = withCallID(item, p.ID, id)
			}
			if state.isBare {
				item = withoutID(item.JSON)
			}
			b.out = append(b.out, item)
		}
		k += n - 1
	}
}

// isSaid reports whether content is given. That without text counts, because models return it and the API accepts it.
func isSaid(content value) bool { return content.IsText() || len(content.Elements()) > 0 }

// nameCalls decides the ids of m's calls, and which are left out: calls of the API's own kinds whose output is no
// longer the caller's. It reports whether all stay unchanged.
func (b *itemBuilder) nameCalls(m *winnow.Message, behind []winnow.Message) bool {
	b.ids.Message()
	b.sent = make([]string, len(m.Parts))
	clear(b.kinds)
	stay := true
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		id := b.ids.Call(p.ID)
		switch kind := p.MediaType; {
		case isOwnCall(kind) && (p.Source == nil || isRemade(p.ID, behind)):
			b.kinds[id] = ""
			id = ""
		case isOwnCall(kind), kind == "custom_tool_call":
			b.kinds[id] = kind
		}
		b.sent[k] = id
		stay = stay && id == p.ID
	}
	return stay
}

// isRemade reports whether the call's output is not the caller's.
func isRemade(id string, behind []winnow.Message) bool {
	for i := range behind {
		m := &behind[i]
		if adapter.IsAssistant(m) {
			return false
		}
		if m.Role == winnow.RoleTool && m.ToolCallID == id {
			return m.Source == nil
		}
	}
	return false
}

// item returns the item of an answer that b is of, or nil.
func (b *Block) item() value {
	switch {
	case b.api != (Responses{}):
		return nil
	case b.isWhole:
		return b.raw
	case b.list != nil:
		return b.list.owner
	}
	return nil
}

// wholeItem returns how many leading parts make up a complete item, and where that begins in memory. n is 0 if a part
// is missing or changed.
func wholeItem(parts []winnow.Part) (n int, at *byte) {
	first, ok := parts[0].Source.(*Block)
	if !ok || len(first.item()) == 0 {
		return 0, nil
	}
	at = &first.item()[0]
	for _, b := range first.of.blocks {
		if item := b.item(); len(item) == 0 || &item[0] != at || b.kind == winnow.KindText && b.text.Text() == "" {
			continue // an empty text is no part
		}
		if n == len(parts) || parts[n].Source != b {
			return 0, nil
		}
		n++
	}
	return n, at
}

// itemState is what becomes of an item.
type itemState struct {
	item   Given
	isBare bool // it is sent without its id
}

// keptItems returns the items of a changed message that are sent, see settleReasoning.
func (b *itemBuilder) keptItems(m *winnow.Message) map[*byte]*itemState {
	kept := map[*byte]*itemState{}
	var items Values
	for k := 0; k < len(m.Parts); k++ {
		p := &m.Parts[k]
		isSent := p.Kind != winnow.KindToolCall || b.sent[k] != ""
		if n, at := wholeItem(m.Parts[k:]); n > 0 && isSent {
			kept[at] = &itemState{}
			items = *p.Source.(*Block).values
			k += n - 1
		}
	}
	raw, gone := make([]value, len(items)), make([]bool, len(items))
	for i := range items {
		raw[i] = items[i].JSON
		gone[i] = kept[&raw[i][0]] == nil
	}
	bare := settleReasoning(raw, gone)
	for i := range items {
		if gone[i] {
			delete(kept, &raw[i][0])
		} else {
			*kept[&raw[i][0]] = itemState{items[i], bare[i]}
		}
	}
	return kept
}

// part adds a part that is not, or no longer, an item of the caller. It never adds reasoning.
func (b *itemBuilder) part(p *winnow.Part, id string) {
	name := adapter.Name(p.Name, 64, adapter.Letters)
	switch {
	case p.Kind == winnow.KindThinking, adapter.IsSilent(p):
	case p.Kind != winnow.KindToolCall:
		b.add(newItem("assistant", jsonedit.Quote(adapter.TextOf(p))))
	case p.MediaType == "custom_tool_call":
		b.add(jsonedit.Object("call_id", id, "input", jsontext.Unquote(p.Arguments), "name", name, "type", p.MediaType))
	default:
		b.add(jsonedit.Object("arguments", string(adapter.Object(p.Arguments)), "call_id", id, "name", name,
			"type", "function_call"))
	}
}

// withCallID returns an item with another call_id.
func withCallID(of Given, from, to string) Given {
	if from == to {
		return of
	}
	return Given{JSON: of.JSON.Set("call_id", jsonedit.Quote(to))}
}

// withoutID returns an item without its id. A message becomes one that the client writes, which has none.
func withoutID(of value) Given {
	if of.Get("type").Text() != "message" {
		return Given{JSON: of.Delete("id")}
	}
	content := of.Get("content")
	text := content.Text()
	for i, c := range content.Elements() {
		if i > 0 {
			text += "\n"
		}
		text += cmp.Or(c.Get("text").Text(), c.Get("refusal").Text())
	}
	return Given{JSON: newItem("assistant", jsonedit.Quote(strings.TrimPrefix(text, "\n")))}
}
