package session

import (
	"context"
	"errors"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/runes"
)

// What is refused at the door, because a log keeps it for good.

// mayBeAppended returns an error for the first of messages that no conversation can go on with. The lock is held.
func (s *Session) mayBeAppended(ctx context.Context, messages []winnow.Message) error {
	for i := range messages {
		m := &messages[i]
		if err := isOne(m, i); err != nil {
			return err
		}
		if m.Role != winnow.RoleTool || hasCall(messages[:i], m.ToolCallID) || hasCall(s.at.History, m.ToolCallID) {
			continue
		}
		if known, err := s.logHasCall(ctx, m.ToolCallID); err != nil {
			return err
		} else if !known {
			return &winnow.InvalidMessageError{
				Index: i, Field: "toolCallId", Got: m.ToolCallID, Want: "the id of a call of the conversation",
			}
		}
	}
	return nil
}

// mayBegin returns an error if m is not what a person may say.
func (s *Session) mayBegin(ctx context.Context, m winnow.Message) error {
	wrong := ""
	switch {
	case m.Role != winnow.RoleUser:
		return &winnow.InvalidMessageError{Field: "role", Got: string(m.Role), Want: `"user": a person begins a turn`}
	case m.Injected:
		wrong = "injected"
	case m.Summary:
		wrong = "summary"
	}
	if wrong != "" {
		return &winnow.InvalidMessageError{Field: wrong, Got: "true", Want: "false: a person begins a turn"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.stored(m)
	if err != nil {
		return err
	}
	return s.mayBeAppended(ctx, []winnow.Message{m})
}

// isOne returns an error if m, message i of those that came in, is none or holds nothing.
func isOne(m *winnow.Message, i int) error {
	err := winnow.Validate([]winnow.Message{*m})
	if invalid := (*winnow.InvalidMessageError)(nil); errors.As(err, &invalid) {
		invalid.Index = i
	} else if isEmpty(m) {
		return &winnow.InvalidMessageError{Index: i, Field: "parts", Want: "a part that is not blank"}
	}
	return err
}

// isEmpty reports whether m says nothing, so that no request would hold it. An empty result says that its tool printed
// nothing, and an answer with no part may say what it cost and why it ended.
func isEmpty(m *winnow.Message) bool {
	isAnswer := m.Role == winnow.RoleAssistant && (m.Usage != nil || m.StopReason != "")
	return m.Role != winnow.RoleTool && !isAnswer && !slices.ContainsFunc(m.Parts, func(p winnow.Part) bool {
		switch p.Kind {
		case winnow.KindText, winnow.KindThinking:
			return !runes.IsBlank(p.Text) || p.Signature != ""
		case winnow.KindToolCall:
			return m.Role == winnow.RoleAssistant // nobody else calls tools
		}
		return true
	})
}

// hasCall reports whether messages have a call with this id. A result without an id answers any.
func hasCall(messages []winnow.Message, id string) bool {
	for i := len(messages) - 1; i >= 0; i-- { // most results answer the newest message
		for k := range messages[i].Parts {
			if p := &messages[i].Parts[k]; p.Kind == winnow.KindToolCall && (id == "" || p.ID == id) {
				return true
			}
		}
	}
	return false
}

// logHasCall reports whether the log has a call with this id that the history does not have: a summary stands for it,
// or it is on another branch.
func (s *Session) logHasCall(ctx context.Context, id string) (bool, error) {
	for e, err := range s.store.Entries(ctx, s.key) {
		switch {
		case errors.Is(err, ErrNotFound): // nothing is written yet
			return false, nil
		case err != nil:
			return false, err
		case e.Message != nil && hasCall([]winnow.Message{*e.Message}, id):
			return true, nil
		}
	}
	return false, nil
}
