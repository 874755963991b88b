package genai

import (
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// ImportSystem returns the system instruction of [sdk.GenerateContentConfig] as one message, or nil if there is none,
// so that it is counted with the history. Alternatively, count it in Options.Overhead.
func ImportSystem(instruction *sdk.Content) []winnow.Message {
	if instruction == nil || len(instruction.Parts) == 0 {
		return nil
	}
	m := winnow.Message{Role: winnow.RoleSystem, Source: instruction}
	for _, p := range instruction.Parts {
		for _, read := range Import([]*sdk.Content{{Role: sdk.RoleModel, Parts: []*sdk.Part{p}}}) {
			for _, part := range read.Parts {
				part.Source = p
				m.Parts = append(m.Parts, part)
			}
		}
	}
	return []winnow.Message{m}
}

// ExportSystem returns the system messages for the field SystemInstruction of [sdk.GenerateContentConfig], or nil if
// there are none. A single message of the caller comes back unchanged.
func ExportSystem(messages []winnow.Message) *sdk.Content {
	var only *sdk.Content
	var parts []*sdk.Part
	for i := range messages {
		m := &messages[i]
		if m.Role != winnow.RoleSystem {
			continue
		}
		if own, ok := m.Source.(*sdk.Content); ok && len(parts) == 0 {
			only = own
		} else {
			only = nil
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			if own, ok := p.Source.(*sdk.Part); ok {
				parts = append(parts, own)
			} else if p.Kind == winnow.KindText && !adapter.IsBlank(p.Text) {
				parts = append(parts, sdk.NewPartFromText(p.Text))
			}
		}
	}
	if only != nil || len(parts) == 0 {
		return only
	}
	return &sdk.Content{Parts: parts}
}
