package eino

import (
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// list is the field in which a message holds its content.
type list int

const (
	inContent list = iota // one text
	inInput
	inOutput
	inOld
)

// listOf returns the field that held the caller's parts of m; the rest goes there too.
func listOf(m *winnow.Message) list {
	for k := range m.Parts {
		switch m.Parts[k].Source.(type) {
		case *schema.MessageInputPart:
			return inInput
		case *schema.MessageOutputPart:
			return inOutput
		case *oldPart:
			return inOld
		}
	}
	return inContent
}

// build returns a new message with the content of m, which cannot be sent unchanged.
func build(m *winnow.Message, role schema.RoleType) *schema.Message {
	out := &schema.Message{Role: role}
	where := listOf(m)
	var texts []string
	for k := range m.Parts {
		p := &m.Parts[k]
		if !adapter.IsShown(p) {
			continue
		}
		switch where {
		case inContent:
			texts = append(texts, adapter.TextOf(p))
		case inInput:
			part, ok := p.Source.(*schema.MessageInputPart)
			if !ok {
				part = &schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: adapter.TextOf(p)}
			}
			out.UserInputMultiContent = append(out.UserInputMultiContent, *part)
		case inOutput:
			part, ok := p.Source.(*schema.MessageOutputPart)
			if !ok {
				part = &schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: adapter.TextOf(p)}
			}
			out.AssistantGenMultiContent = append(out.AssistantGenMultiContent, *part)
		case inOld:
			part, _ := p.Source.(*oldPart)
			addOldPart(out, part, adapter.TextOf(p))
		}
	}
	out.Content = strings.Join(texts, "\n")
	if role == schema.User {
		out.Name = m.Speaker
	}
	return out
}
