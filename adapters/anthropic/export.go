package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in the SDK's form. Messages and blocks that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
//
// System messages that did not come from an [sdk.MessageParam] are left out: [ExportSystem] returns them. If a history
// of another origin begins with an assistant message, Export puts a user message in front, unless that begins with a
// block of compaction, which stands for what was there.
func Export(messages []winnow.Message) []sdk.MessageParam {
	e := exporter{out: make([]sdk.MessageParam, 0, len(messages))}
	e.ids.Rule = adapter.IDRule{MaxLength: 64, Byte: adapter.Letters, Request: true}
	for i := 0; i < len(messages); {
		m := &messages[i]
		switch {
		case m.Role == winnow.RoleSystem:
			e.system(m)
			i++
		case adapter.IsAssistant(m):
			e.assistant(m)
			i++
		default:
			n := userRun(messages[i:])
			e.user(messages[i : i+n])
			i += n
		}
	}
	e.trimEnd()
	return e.out
}

// opening is put in front of a conversation that begins with the assistant.
const opening = "[The beginning of the conversation is not shown.]"

// exporter makes the SDK's messages.
type exporter struct {
	out      []sdk.MessageParam
	ids      adapter.CallIDs
	sent     []string                     // ids to send for the current calls or results
	toolsets map[string]param.Opt[string] // toolsets of the newest calls, by id: results repeat them
}

func (e *exporter) system(m *winnow.Message) {
	if p := adapter.PieceOf[sdk.MessageParam](m); p != nil {
		e.out = append(e.out, *p.Of)
	}
}

// assistant adds m, which is one message in both forms.
func (e *exporter) assistant(m *winnow.Message) {
	p := adapter.PieceOf[sdk.MessageParam](m)
	if len(e.out) == 0 && (p == nil || !p.First) && !beginsCompacted(m) {
		e.out = append(e.out, sdk.NewUserMessage(sdk.NewTextBlock(opening)))
	}
	idsStay := e.nameCalls(m)
	if p != nil && idsStay && isSendable(m) {
		e.out = append(e.out, *p.Of)
	} else if blocks := e.assistantBlocks(m); len(blocks) > 0 {
		e.out = append(e.out, withContent(p, sdk.MessageParamRoleAssistant, blocks))
	}
}

// beginsCompacted reports whether m begins with a block in which the API has summarized what was before it.
func beginsCompacted(m *winnow.Message) bool {
	if len(m.Parts) == 0 {
		return false
	}
	own, ok := m.Parts[0].Source.(*block)
	return ok && m.Parts[0].MediaType == winnow.MediaCompaction && read(own).typ == typeCompaction
}

// nameCalls decides the ids of m's calls. It reports whether all of them stay unchanged, with an input that the API
// accepts.
func (e *exporter) nameCalls(m *winnow.Message) bool {
	e.ids.Message()
	e.sent = e.sent[:0]
	clear(e.toolsets)
	stay := true
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		id := e.ids.Call(p.ID)
		e.sent = append(e.sent, id)
		stay = stay && id == p.ID && adapter.IsObject(p.Arguments)
		if b, ok := p.Source.(*block); ok {
			if toolset := toolsetOf(b); toolset != "" {
				if e.toolsets == nil {
					e.toolsets = map[string]param.Opt[string]{}
				}
				e.toolsets[id] = sdk.String(toolset)
			}
		}
	}
	return stay
}

// toolsetOf returns the toolset of a call, or "".
func toolsetOf(b *block) string {
	if _, given := overrideOf(b); given {
		return read(b).toolset
	}
	if b.OfToolUse == nil {
		return ""
	}
	return b.OfToolUse.ToolsetName.Value
}

// isSendable reports whether m has content and no blank text.
func isSendable(m *winnow.Message) bool {
	if p := adapter.PieceOf[sdk.MessageParam](m); p != nil && p.Hollow {
		return false
	}
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == winnow.KindText && adapter.IsBlank(p.Text) {
			return false
		}
	}
	return len(m.Parts) > 0
}

// userRun counts the leading messages that are sent as the user's.
func userRun(messages []winnow.Message) int {
	n := 0
	for n < len(messages) && messages[n].Role != winnow.RoleSystem && !adapter.IsAssistant(&messages[n]) {
		n++
	}
	return n
}

// user adds the messages between two assistant messages.
func (e *exporter) user(run []winnow.Message) {
	e.sent = e.sent[:0]
	for i := range run {
		id := ""
		if run[i].Role == winnow.RoleTool {
			id, _ = e.ids.Result(run[i].ToolCallID)
		}
		e.sent = append(e.sent, id)
	}
	if joined, sent, rest := adapter.JoinResults[sdk.MessageParam](run, e.sent); joined != nil {
		e.build(joined, sent)
		run, e.sent = rest, append(e.sent[:0], make([]string, len(rest))...) // which hold no results
	}
	for i := 0; i < len(run); {
		of, n := adapter.Whole[sdk.MessageParam](run[i:])
		if n > 0 && e.staysWhole(of, run[i:i+n], e.sent[i:]) {
			e.out = append(e.out, *of)
		} else {
			n = max(n, 1)
			e.build(run[i:i+n], e.sent[i:])
		}
		i += n
	}
}

// staysWhole reports whether the caller's message, whose pieces these are, is sent unchanged.
func (e *exporter) staysWhole(of *sdk.MessageParam, pieces []winnow.Message, sent []string) bool {
	for i := range pieces {
		m := &pieces[i]
		if m.Role == winnow.RoleTool {
			if sent[i] != m.ToolCallID || !resultStays(m, resultOf(m)) {
				return false
			}
		} else if !isSendable(m) {
			return false
		}
	}
	return len(pieces) == 1 || resultsFirst(of)
}

// resultsFirst reports whether no other block precedes a result.
func resultsFirst(of *sdk.MessageParam) bool {
	c := contentOf(of)
	if !c.ok {
		return true
	}
	others := false
	for k := range c.blocks {
		result := isResult(&c.blocks[k])
		if result && others {
			return false
		}
		others = others || !result
	}
	return true
}

// build adds one message with the content of messages, results first.
func (e *exporter) build(messages []winnow.Message, sent []string) {
	var results, others []sdk.ContentBlockParamUnion
	of := adapter.PieceOf[sdk.MessageParam](&messages[0])
	for i := range messages {
		m := &messages[i]
		if p := adapter.PieceOf[sdk.MessageParam](m); of != nil && (p == nil || p.Of != of.Of) {
			of = nil
		}
		if m.Role == winnow.RoleTool {
			block, images := e.result(m, sent[i])
			results, others = append(results, block), append(others, images...)
		} else {
			others = append(others, userBlocks(m)...)
		}
	}
	if blocks := append(results, others...); len(blocks) > 0 {
		e.out = append(e.out, withContent(of, sdk.MessageParamRoleUser, blocks))
	}
}

// withContent returns a message with the given blocks. If they come from a caller's message, its other members stay.
func withContent(p *piece, role sdk.MessageParamRole, blocks []sdk.ContentBlockParamUnion) sdk.MessageParam {
	m := sdk.MessageParam{Role: role}
	if p != nil {
		if _, given := p.Of.Overrides(); !given {
			m = *p.Of
		} else if others := othersOf(p.Of); len(others) > 0 {
			m.SetExtraFields(others)
		}
	}
	m.Content = blocks
	return m
}

// trimEnd removes white space at the end of a conversation that the assistant has to continue.
func (e *exporter) trimEnd() {
	if len(e.out) == 0 {
		return
	}
	last := &e.out[len(e.out)-1]
	c := contentOf(last)
	if c.role != sdk.MessageParamRoleAssistant || len(c.blocks) == 0 {
		return
	}
	end := &c.blocks[len(c.blocks)-1]
	f := read(end)
	trimmed := strings.TrimRight(f.text, " \t\r\n")
	if f.typ != typeText || trimmed == f.text {
		return
	}
	blocks := append([]block{}, c.blocks...)
	if _, given := overrideOf(end); given {
		blocks[len(blocks)-1] = withMember(end, "text", trimmed)
	} else {
		text := *end.OfText
		text.Text = trimmed
		blocks[len(blocks)-1] = block{OfText: &text}
	}
	*last = withContent(&piece{Of: last}, c.role, blocks)
}
