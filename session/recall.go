package session

import (
	"context"

	"github.com/winnowgo/winnow"
)

// Recall answers a call of [winnow.RecallTool] from the session's history. Append the message that it returns. The
// manager's winnow.Options.Recall must be set. [winnow.Manager.Recall] describes the answer.
func (s *Session) Recall(ctx context.Context, call winnow.Part) (winnow.Message, error) {
	s.mu.Lock()
	m, err := s.ready()
	history := s.at.history
	s.mu.Unlock()
	if err != nil {
		return winnow.Message{}, err
	}
	result, err := m.Recall(ctx, history, call.Arguments)
	if err == nil && call.ID != "" {
		result.ToolCallID = call.ID
	}
	return result, err
}
