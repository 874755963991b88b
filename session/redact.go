package session

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/winnowgo/winnow"
)

// stored returns m as it is stored: redacted, and in the form in which it comes back from a log.
func (s *Session) stored(m winnow.Message) (winnow.Message, error) {
	m, err := s.redact(m)
	if err != nil {
		return m, err
	}
	return canonical(m)
}

// redactAll returns messages as the host lets them be stored.
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
	own := m // what the host changes in place is not what the caller and the provider's value have
	own.Parts, own.Details = slices.Clone(m.Parts), slices.Clone(m.Details)
	for i := range own.Parts {
		own.Parts[i].Arguments = slices.Clone(m.Parts[i].Arguments)
	}
	out, err := s.store.opts.Redact(own)
	if err != nil {
		return m, fmt.Errorf("session: redacting a message: %w", err)
	}
	if !isSame(&m, &out) {
		out.Source = nil // the provider's value has the old text
	}
	return out, nil
}

// isSame says that nothing was redacted.
func isSame(a, b *winnow.Message) bool {
	head, other := *a, *b
	head.Parts, other.Parts = nil, nil
	return reflect.DeepEqual(head, other) && slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
		sameArguments := bytes.Equal(p.Arguments, q.Arguments)
		p.Arguments, q.Arguments = nil, nil
		return sameArguments && reflect.DeepEqual(p, q)
	})
}
