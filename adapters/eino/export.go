package eino

//lint:file-ignore SA1019 transcripts hold deprecated fields

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in Eino's form. Messages and parts that were not changed since [Import] are the caller's own;
// the package documentation has the rules for the others. Without changes Export returns exactly what Import got.
func Export(messages []winnow.Message) []*schema.Message {
	e := exporter{out: make([]*schema.Message, 0, len(messages))}
	e.ids = adapter.CallIDs{Rule: adapter.OwnIDs, Foreign: &adapter.ForeignIDs}
	for run := range adapter.Runs(messages) {
		if adapter.IsAssistant(&run[0]) {
			e.assistant(&run[0])
		} else {
			e.between(run)
		}
	}
	return e.out
}

// exporter makes Eino's messages.
type exporter struct {
	out   []*schema.Message
	ids   adapter.CallIDs
	sent  []string      // ids to send for the calls among parts
	parts []winnow.Part // of the newest answer
}

// own returns the caller's message for m, or nil if it is to be built anew.
func own(m *winnow.Message) *schema.Message {
	p, _ := m.Source.(*schema.Message)
	if p == nil || (len(m.Parts) > 0 || m.Role == winnow.RoleTool) && hasEmptyText(p) {
		return nil
	}
	return p
}

// hasEmptyText reports whether a list of content has an empty text, which some providers refuse.
func hasEmptyText(m *schema.Message) bool {
	is := func(typ schema.ChatMessagePartType, text string) bool {
		return typ == schema.ChatMessagePartTypeText && text == ""
	}
	input := func(c schema.MessageInputPart) bool { return is(c.Type, c.Text) }
	output := func(c schema.MessageOutputPart) bool { return is(c.Type, c.Text) }
	return slices.ContainsFunc(m.UserInputMultiContent, input) ||
		slices.ContainsFunc(m.AssistantGenMultiContent, output) ||
		slices.ContainsFunc(m.MultiContent, func(c oldPart) bool { return is(c.Type, c.Text) })
}

// between adds the messages between two assistant messages, results first.
func (e *exporter) between(run []winnow.Message) {
	for i := range run {
		if run[i].Role == winnow.RoleTool {
			e.result(&run[i])
		}
	}
	for i := range run {
		m := &run[i]
		if m.Role == winnow.RoleTool {
			continue
		}
		p := own(m)
		if p == nil {
			p = build(m, schema.User)
			if m.Role == winnow.RoleSystem {
				p.Role = schema.System
			}
		}
		if !isEmpty(p) {
			e.out = append(e.out, p)
		}
	}
}

// isEmpty reports whether a message has no content and no calls.
func isEmpty(m *schema.Message) bool {
	return m.Content == "" && len(m.UserInputMultiContent) == 0 && len(m.AssistantGenMultiContent) == 0 &&
		len(m.ToolCalls) == 0 && !hasOldParts(m)
}

func (e *exporter) result(m *winnow.Message) {
	id, call := e.ids.Result(m.ToolCallID)
	p := own(m)
	switch {
	case p == nil:
		p = build(m, schema.Tool)
		p.ToolCallID, p.ToolName = id, m.ToolName
		if call >= 0 { // whether or not the result was imported together with its call
			p.ToolName = e.parts[call].Name
		}
	case p.ToolCallID != id:
		copied := *p
		copied.ToolCallID = id
		p = &copied
	}
	if isEmpty(p) { // the component for OpenAI sends null for it, which is refused
		copied := *p
		copied.Content = adapter.Empty
		p = &copied
	}
	e.out = append(e.out, p)
}

func (e *exporter) assistant(m *winnow.Message) {
	var stay bool
	e.sent, stay = e.ids.Name(m)
	e.parts = m.Parts
	p := own(m)
	if p == nil {
		p = e.output(m)
	} else if !stay { // only ids differ: the rest stays
		copied := *p
		copied.ToolCalls = e.calls(m)
		p = &copied
	}
	if !isEmpty(p) {
		e.out = append(e.out, p)
	}
}

// calls returns m's calls with the ids to send.
func (e *exporter) calls(m *winnow.Message) []schema.ToolCall {
	var calls []schema.ToolCall
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		call := schema.ToolCall{Type: "function", Function: schema.FunctionCall{
			Name: adapter.Name(p.Name, 64, adapter.Letters), Arguments: string(adapter.Object(p.Arguments)),
		}}
		if own, ok := p.Source.(*schema.ToolCall); ok {
			call = *own
		} else {
			call.Extra = extraOf(p.Signature)
		}
		call.ID = e.sent[k]
		calls = append(calls, call)
	}
	return calls
}

// output builds a message of the model anew. It sends back only the caller's reasoning. The model's Extra stays, unless
// reasoning is gone that Extra may hold too.
func (e *exporter) output(m *winnow.Message) *schema.Message {
	out := build(m, schema.Assistant)
	out.ToolCalls = e.calls(m)
	for k := range m.Parts {
		of, ok := m.Parts[k].Source.(*schema.Message)
		switch {
		case !ok:
		case m.Parts[k].Kind == winnow.KindThinking:
			out.ReasoningContent, out.Extra = of.ReasoningContent, of.Extra
		case of.ReasoningContent == "":
			out.Extra = of.Extra
		}
	}
	return out
}
