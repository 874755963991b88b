package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// ImportSystem returns the system prompt of [sdk.MessageNewParams] as one message, or nil if there is none, so that it
// is counted with the history. Alternatively, count it in Options.Overhead.
func ImportSystem(blocks []sdk.TextBlockParam) []winnow.Message {
	return importSystem(blocks, func(b *sdk.TextBlockParam) string { return b.Text })
}

// importSystem returns blocks of either API as a system message.
func importSystem[B any](blocks []B, text func(*B) string) []winnow.Message {
	if len(blocks) == 0 {
		return nil
	}
	m := winnow.Message{Role: winnow.RoleSystem, Parts: make([]winnow.Part, len(blocks))}
	for i := range blocks {
		m.Parts[i] = winnow.Part{Text: text(&blocks[i]), Source: &blocks[i]}
	}
	return []winnow.Message{m}
}

// ExportSystem returns the system messages for the field System of [sdk.MessageNewParams]: those that cannot be in the
// list of messages. The caller's own blocks come back unchanged.
func ExportSystem(messages []winnow.Message) []sdk.TextBlockParam {
	return exportSystem(messages, func(text string) sdk.TextBlockParam { return sdk.TextBlockParam{Text: text} })
}

// exportSystem returns system messages as blocks of either API.
func exportSystem[B any](messages []winnow.Message, block func(text string) B) []B {
	var blocks []B
	for i := range messages {
		m := &messages[i]
		if m.Role != winnow.RoleSystem || wire.IsFrom(wire.Messages{}, m) {
			continue
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			if adapter.IsSilent(p) {
				continue
			}
			if own, ok := p.Source.(*B); ok {
				blocks = append(blocks, *own)
			} else if p.Kind == winnow.KindText {
				blocks = append(blocks, block(p.Text))
			}
		}
	}
	return blocks
}
