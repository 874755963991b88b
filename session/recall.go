package session

import (
	"context"

	"github.com/winnowgo/winnow"
)

// Recall answers a call of [winnow.RecallTool] with what the session holds: append the message that it returns. The
// manager's winnow.Options.Recall must be set. See [winnow.Manager.Recall] for what the answer shows.
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
