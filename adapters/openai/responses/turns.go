package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/sjson"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// assistant adds an assistant message. behind are the messages that follow it.
func (e *exporter) assistant(m *winnow.Message, behind []winnow.Message) {
	stay := e.nameCalls(m, behind)
	if t, ok := m.Source.(*turn); ok && stay {
		for i := range t.items {
			if len(m.Parts) > 0 || hasContent(&t.items[i]) {
				e.out = append(e.out, t.items[i])
			}
		}
		return
	}
	kept := e.keptItems(m)
	call := 0
	for k := 0; k < len(m.Parts); k++ {
		p := &m.Parts[k]
		own, _ := p.Source.(*piece)
		id := ""
		if p.Kind == winnow.KindToolCall {
			id = e.sent[call]
			call++
			if id == "" {
				continue
			}
		}
		if n := wholeItem(m.Parts[k:]); n > 0 {
			if isBare, ok := kept[own.Of]; ok {
				item := *own.Of
				if p.Kind == winnow.KindToolCall {
					item = withCallID(own.Of, p.ID, id)
				}
				if isBare {
					item = withoutID(&item)
				}
				e.out = append(e.out, item)
			}
			k += n - 1
			continue
		}
		e.build(p, id)
	}
}

// hasContent reports whether an item has content. Content without text counts, because models return it and the API
// accepts it.
func hasContent(of *Item) (given bool) {
	jsontext.Members(adapter.Raw(of), func(key string, value []byte) {
		if key == "content" {
			jsontext.Elements(value, func([]byte) { given = true })
			given = given || value[0] == '"'
		}
	})
	return given
}

// nameCalls decides the ids of m's calls, and which are left out: calls of the API's own kinds whose output is no
// longer the caller's. It reports whether all stay unchanged.
func (e *exporter) nameCalls(m *winnow.Message, behind []winnow.Message) bool {
	e.ids.Message()
	e.sent = e.sent[:0]
	clear(e.kinds)
	stay := true
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		id := e.ids.Call(p.ID)
		kind := p.MediaType
		if isCall(kind) && kind != functionCall {
			if e.kinds == nil {
				e.kinds = map[string]string{}
			}
			if kind != customCall && (p.Source == nil || isRemade(p.ID, behind)) {
				e.kinds[id] = ""
				id = ""
			} else {
				e.kinds[id] = kind
			}
		}
		e.sent = append(e.sent, id)
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

// wholeItem returns how many leading parts make up a complete item, 0 if a part of it is missing or changed.
func wholeItem(parts []winnow.Part) int {
	_, n := adapter.WholeOf(len(parts), func(k int) *piece {
		p, _ := parts[k].Source.(*piece)
		return p
	})
	return n
}

// keptItems returns the items of a changed message that are sent, and whether without their ids. An item of reasoning
// needs the item that it led to directly after it. That item in turn needs the reasoning, unless it is sent without its
// id.
func (e *exporter) keptItems(m *winnow.Message) map[*Item]bool {
	kept := map[*Item]bool{}
	var items []Item // of the caller's message
	call := 0
	for k := 0; k < len(m.Parts); k++ {
		p := &m.Parts[k]
		sent := true
		if p.Kind == winnow.KindToolCall {
			sent = e.sent[call] != ""
			call++
		}
		if n := wholeItem(m.Parts[k:]); n > 0 && sent {
			own := p.Source.(*piece)
			kept[own.Of] = false
			if t, ok := own.Block.(*turn); ok {
				items = t.items
			}
			k += n - 1
		}
	}
	for i := len(items) - 1; i >= 0; i-- { // from the end: reasoning may lead to more reasoning
		if f, _ := read(&items[i], nil); f.typ != reasoning {
			continue
		}
		follows := false
		if i+1 < len(items) {
			_, follows = kept[&items[i+1]]
		}
		if !follows {
			delete(kept, &items[i])
		}
	}
	isBare := false // the reasoning for the next items is not sent
	for i := range items {
		_, ok := kept[&items[i]]
		if f, _ := read(&items[i], nil); f.typ == reasoning {
			isBare = !ok
		} else if ok {
			kept[&items[i]] = isBare
		}
	}
	return kept
}

// build adds a part that is not, or no longer, an item of the caller. It never adds reasoning.
func (e *exporter) build(p *winnow.Part, id string) {
	switch {
	case p.Kind == winnow.KindThinking, adapter.IsSilent(p):
	case p.Kind != winnow.KindToolCall:
		e.out = append(e.out, newMessage(sdk.EasyInputMessageRoleAssistant, adapter.TextOf(p)))
	case p.MediaType == customCall:
		e.out = append(e.out, Item{OfCustomToolCall: &sdk.ResponseCustomToolCallParam{
			CallID: id, Name: adapter.Name(p.Name, 64, adapter.Letters), Input: jsontext.Unquote(p.Arguments),
		}})
	default:
		e.out = append(e.out, sdk.ResponseInputItemParamOfFunctionCall(
			string(adapter.Object(p.Arguments)), id, adapter.Name(p.Name, 64, adapter.Letters)))
	}
}

// withCallID returns an item with another call_id.
func withCallID(of *Item, from, to string) Item {
	if from == to {
		return *of
	}
	return edited(of, func(raw []byte) ([]byte, error) { return sjson.SetBytes(raw, "call_id", to) })
}

// withoutID returns an item without its id. A message becomes an EasyInputMessage, which has no id.
func withoutID(of *Item) Item {
	if f, parts := read(of, nil); f.typ == "message" {
		texts := make([]string, len(parts))
		for k := range parts {
			texts[k] = parts[k].Text
		}
		return newMessage(sdk.EasyInputMessageRoleAssistant, strings.Join(texts, "\n"))
	}
	return edited(of, func(raw []byte) ([]byte, error) { return sjson.DeleteBytes(raw, "id") })
}

// edited returns an item with other JSON.
func edited(of *Item, edit func([]byte) ([]byte, error)) Item {
	raw, err := edit(slices.Clone(adapter.Raw(of)))
	if err != nil {
		return *of
	}
	return param.Override[Item](json.RawMessage(raw))
}
