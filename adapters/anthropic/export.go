package anthropic

import (
	"slices"
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
	e := exporter{out: make([]sdk.MessageParam, 0, len(messages)), toolsets: map[string]param.Opt[string]{}}
	e.ids.Rule = adapter.IDRule{MaxLength: 64, Byte: adapter.Letters, Request: true, Objects: true}
	for run := range adapter.Runs(messages) {
		if adapter.IsAssistant(&run[0]) {
			e.assistant(&run[0])
			continue
		}
		from := 0
		for i := range run {
			if run[i].Role == winnow.RoleSystem {
				e.user(run[from:i])
				e.system(&run[i])
				from = i + 1
			}
		}
		e.user(run[from:])
	}
	e.trimEnd()
	return e.out
}

// exporter makes the SDK's messages.
type exporter struct {
	out      []sdk.MessageParam
	ids      adapter.CallIDs
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
		e.out = append(e.out, sdk.NewUserMessage(sdk.NewTextBlock(adapter.Opening)))
	}
	sent, stay := e.ids.Name(m)
	e.noteToolsets(m, sent)
	if p != nil && stay && isSendable(m) {
		e.out = append(e.out, *p.Of)
	} else if blocks := assistantBlocks(m, sent); len(blocks) > 0 {
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

// noteToolsets remembers the toolsets of m's calls.
func (e *exporter) noteToolsets(m *winnow.Message, sent []string) {
	clear(e.toolsets)
	call := 0
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		if b, ok := p.Source.(*block); ok {
			if toolset := read(b).toolset; toolset != "" {
				e.toolsets[sent[call]] = sdk.String(toolset)
			}
		}
		call++
	}
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

// user adds the messages between two assistant or system messages.
func (e *exporter) user(run []winnow.Message) {
	if len(run) == 0 {
		return
	}
	joined, run := adapter.JoinResults[sdk.MessageParam](run)
	if joined != nil {
		e.build(joined, e.ids.Results(joined))
	}
	sent := e.ids.Results(run)
	for i := 0; i < len(run); {
		of, n := adapter.Whole[sdk.MessageParam](run[i:])
		if n > 0 && staysWhole(of, run[i:i+n], sent[i:]) {
			e.out = append(e.out, *of)
		} else {
			n = max(n, 1)
			e.build(run[i:i+n], sent[i:])
		}
		i += n
	}
}

// staysWhole reports whether the caller's message, whose pieces these are, is sent unchanged.
func staysWhole(of *sdk.MessageParam, pieces []winnow.Message, sent []string) bool {
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
	if len(pieces) == 1 {
		return true
	}
	_, _, first := adapter.ResultsIn(contentOf(of).blocks, isResultBlock)
	return first
}

// build adds one message with the content of messages, results first.
func (e *exporter) build(messages []winnow.Message, sent []string) {
	var results, others []block
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
func withContent(p *piece, role sdk.MessageParamRole, blocks []block) sdk.MessageParam {
	m := sdk.MessageParam{Role: role}
	if p != nil {
		if adapter.IsTyped(p.Of) {
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
	blocks := slices.Clone(c.blocks)
	blocks[len(blocks)-1] = withMember(end, "text", trimmed)
	*last = withContent(&piece{Of: last}, c.role, blocks)
}
