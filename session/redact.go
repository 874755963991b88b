package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// stored returns m as it is stored: redacted, and in the form in which a log returns it.
func (s *Session) stored(m winnow.Message) (winnow.Message, error) {
	m, err := s.redact(m)
	if err != nil {
		return m, err
	}
	return canonical(m)
}

// redactAll returns messages after the host's Redact.
func (s *Session) redactAll(messages []winnow.Message) ([]winnow.Message, error) {
	if s.store.opts.Redact == nil {
		return messages, nil
	}
	out := make([]winnow.Message, len(messages))
	for i := range messages {
		var err error
		if out[i], err = s.redact(messages[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Session) redact(m winnow.Message) (winnow.Message, error) {
	if s.store.opts.Redact == nil {
		return m, nil
	}
	own := m // Redact may change it in place without touching the caller's message
	own.Parts, own.Details = slices.Clone(m.Parts), slices.Clone(m.Details)
	for i := range own.Parts {
		own.Parts[i].Arguments = slices.Clone(m.Parts[i].Arguments)
	}
	out, err := s.store.opts.Redact(own)
	if err != nil {
		return m, fmt.Errorf("session: redacting a message: %w", err)
	}
	if !isSame(&m, &out) {
		out.Source = nil // the source has the old text
	}
	return out, nil
}

// redactEntry redacts an imported entry. The entry is a copy, but what it points to is not.
func (s *Session) redactEntry(e *Entry) error {
	if s.store.opts.Redact == nil {
		return nil
	}
	if e.Message != nil {
		m, err := s.redact(*e.Message)
		if err != nil {
			return err
		}
		if !isSame(e.Message, &m) {
			e.Source = nil // it has the old text
		}
		e.Message = &m
	}
	var err error
	if e.Summary, err = s.redactText(e.Summary); err != nil || e.Data == nil {
		return err
	}
	text, err := s.redactText(string(e.Data))
	if e.Data = json.RawMessage(text); !json.Valid(e.Data) {
		e.Data = jsontext.Quote(text)
	}
	return err
}

// redactText redacts a text outside of a message.
func (s *Session) redactText(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	parts := []winnow.Part{{Text: text}}
	m, err := s.redact(winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: parts})
	var b strings.Builder
	for i := range m.Parts {
		b.WriteString(m.Parts[i].Text)
	}
	return b.String(), err
}

// isSame reports whether nothing was redacted.
func isSame(a, b *winnow.Message) bool {
	head, other := *a, *b
	head.Parts, other.Parts = nil, nil
	return reflect.DeepEqual(head, other) && slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
		sameArguments := bytes.Equal(p.Arguments, q.Arguments)
		p.Arguments, q.Arguments = nil, nil
		return sameArguments && reflect.DeepEqual(p, q)
	})
}
