package responses

import (
	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages as items of a request. Items and parts that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
func Export(messages []winnow.Message) []Item {
	e := exporter{out: make([]Item, 0, len(messages)+len(messages)/2)}
	e.ids.Rule = adapter.IDRule{MaxLength: 64, Request: true}
	for i := range messages {
		m := &messages[i]
		switch {
		case adapter.IsAssistant(m):
			e.assistant(m, messages[i+1:])
		case m.Role == winnow.RoleTool:
			e.result(m)
		default:
			e.message(m)
		}
	}
	return e.out
}

// exporter makes the items.
type exporter struct {
	out  []Item
	ids  adapter.CallIDs
	sent []string // ids to send for the current calls; "" for a call that is left out

	// types by id of the newest calls that are not of functions; "" for a call that was left out
	kinds map[string]string
}

// message adds a message of the user or the system.
func (e *exporter) message(m *winnow.Message) {
	if p := adapter.PieceOf[Item](m); p != nil && !p.Hollow {
		e.out = append(e.out, *p.Of)
		return
	}
	if item, ok := sealedItem(m); ok {
		e.out = append(e.out, item)
		return
	}
	role := sdk.EasyInputMessageRoleUser
	if m.Role == winnow.RoleSystem {
		role = sdk.EasyInputMessageRoleSystem
	}
	content := make([]sdk.ResponseInputContentUnionParam, 0, len(m.Parts))
	plain := true // only new texts
	for k := range m.Parts {
		p := &m.Parts[k]
		if !adapter.IsShown(p) {
			continue
		}
		if source := inputSource(p); source != nil {
			content, plain = append(content, *source), false
		} else {
			content = append(content, sdk.ResponseInputContentParamOfInputText(adapter.TextOf(p)))
		}
	}
	switch {
	case len(content) == 0:
	case len(content) == 1 && plain:
		e.out = append(e.out, newMessage(role, content[0].OfInputText.Text))
	default:
		item := newMessage(role, "")
		item.OfMessage.Content = sdk.EasyInputMessageContentUnionParam{OfInputItemContentList: content}
		e.out = append(e.out, item)
	}
}

// sealedItem returns the item of compaction that m holds, if that is all. Its own item is gone, as after a restart.
func sealedItem(m *winnow.Message) (item Item, ok bool) {
	if len(m.Parts) != 1 {
		return item, false
	}
	p := &m.Parts[0]
	ok = p.Kind == winnow.KindOpaque && p.MediaType == winnow.MediaCompaction && p.Text == "" && p.Signature != ""
	return sdk.ResponseInputItemParamOfCompaction(p.Signature), ok
}

// newMessage returns a message with its type, which the SDK's own decoder requires.
func newMessage(role sdk.EasyInputMessageRole, text string) Item {
	item := sdk.ResponseInputItemParamOfMessage(text, role)
	item.OfMessage.Type = sdk.EasyInputMessageTypeMessage
	return item
}

// result adds the output of a call.
func (e *exporter) result(m *winnow.Message) {
	id, _ := e.ids.Result(m.ToolCallID)
	kind, other := e.kinds[id]
	if other && kind == "" {
		return // its call was left out
	}
	if p := adapter.PieceOf[Item](m); p != nil && !p.Hollow {
		e.out = append(e.out, withCallID(p.Of, m.ToolCallID, id))
		return
	}
	text, content := outputContent(m)
	if kind == customCall {
		o := sdk.ResponseCustomToolCallOutputParam{CallID: id}
		if content == nil {
			o.Output.OfString = param.NewOpt(text)
		} else {
			o.Output = param.Override[sdk.ResponseCustomToolCallOutputOutputUnionParam](content)
		}
		e.out = append(e.out, Item{OfCustomToolCallOutput: &o})
		return
	}
	o := sdk.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(id)}
	if content == nil {
		o.Output.OfString = param.NewOpt(text)
	} else {
		o.Output.OfResponseFunctionCallOutputItemArray = content
	}
	e.out = append(e.out, Item{OfFunctionCallOutput: &o})
}

// outputContent returns the content of an output: as a text if it is a single new text or empty.
func outputContent(m *winnow.Message) (text string, content []sdk.ResponseFunctionCallOutputItemUnionParam) {
	plain := true
	for k := range m.Parts {
		p := &m.Parts[k]
		if adapter.IsSilent(p) {
			continue
		}
		if source := outputSource(p); source != nil {
			content, plain = append(content, *source), false
		} else {
			text = adapter.TextOf(p)
			content = append(content, sdk.ResponseFunctionCallOutputItemParamOfInputText(text))
		}
	}
	if plain && len(content) <= 1 {
		return text, nil
	}
	return "", content
}

// inputSource returns the caller's value of a part of a message. A later output of a call, which is shown as a message,
// has the same content.
func inputSource(p *winnow.Part) *sdk.ResponseInputContentUnionParam {
	switch s := p.Source.(type) {
	case *sdk.ResponseInputContentUnionParam:
		return s
	case *sdk.ResponseFunctionCallOutputItemUnionParam:
		u := param.Override[sdk.ResponseInputContentUnionParam](givenOr(s))
		return &u
	}
	return nil
}

// outputSource returns the caller's value of a part of an output. A host may put the content of a user
// message there.
func outputSource(p *winnow.Part) *sdk.ResponseFunctionCallOutputItemUnionParam {
	switch s := p.Source.(type) {
	case *sdk.ResponseFunctionCallOutputItemUnionParam:
		return s
	case *sdk.ResponseInputContentUnionParam:
		u := param.Override[sdk.ResponseFunctionCallOutputItemUnionParam](givenOr(s))
		return &u
	}
	return nil
}

// givenOr returns what the caller set instead of the fields of s, else s.
func givenOr(s param.ParamStruct) any {
	if override, ok := s.Overrides(); ok {
		return override
	}
	return s
}
