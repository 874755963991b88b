package session

import (
	"context"

	"github.com/winnowgo/winnow"
)

// RunTool answers a call of a tool that Winnow itself offers: [winnow.RecallTool], [winnow.NotesTool] or
// [winnow.CompactTool]. Append the message that it returns. ok is false for a call of another tool, which the host
// runs. The manager's options must have Recall, or ToolOptions.Notes, set. The recall tool also reads the logs of
// sub-agents, see [Session.Capsule].
func (s *Session) RunTool(ctx context.Context, call winnow.Part) (result winnow.Message, ok bool, err error) {
	s.mu.Lock()
	m, err := s.ready()
	history := s.at.History
	s.mu.Unlock()
	if err != nil {
		return winnow.Message{}, false, err
	}
	switch call.Name {
	case winnow.RecallTool().Name:
		if result, ok, err = s.recallChild(ctx, m, call); !ok {
			result, err = m.Recall(ctx, history, call.Arguments)
		}
	case winnow.NotesTool().Name:
		result = m.Note(history, call.Arguments)
	case winnow.CompactTool().Name:
		result = m.EndPhase(history, call.Arguments)
	default:
		return winnow.Message{}, false, nil
	}
	if err == nil && call.ID != "" {
		result.ToolCallID = call.ID
	}
	return result, true, err
}
