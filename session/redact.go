package session

import (
	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// stored returns m as it is stored: redacted, and in the form in which a log returns it.
func (s *Session) stored(m winnow.Message) (winnow.Message, error) {
	m, err := s.redact(m)
	if err != nil {
		return m, err
	}
	return jsonl.Canonical(m)
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
	out, _, err := jsonl.Redacted(m, s.store.opts.Redact)
	return out, err
}
