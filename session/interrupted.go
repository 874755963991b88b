package session

import (
	"context"
	"reflect"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Interruption is work that was unfinished when the process of a session ended or its host gave up. Nothing is repeated
// automatically.
type Interruption struct {
	// Unanswered says that the model has not answered the end of the conversation: a message of a person, or the
	// results of its own calls; or that it paused in the middle of its answer.
	Unanswered bool

	// Calls are tool calls of the newest answer that have no result. They may have run.
	Calls []winnow.Part
}

// Interrupted returns the unfinished work, nil if there is none.
func (s *Session) Interrupted() *Interruption {
	s.mu.Lock()
	defer s.mu.Unlock()
	return interrupted(s.at.History)
}

// Interrupted returns the unfinished work, nil if there is none. Another process may be working on it.
func (v *View) Interrupted() *Interruption { return interrupted(v.History) }

func interrupted(history []winnow.Message) *Interruption {
	answered := map[string]int{}
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		switch {
		case m.Role == winnow.RoleTool:
			answered[m.ToolCallID]++
			continue
		case m.Role == winnow.RoleSystem || m.Injected || m.Summary && i < len(history)-1:
			continue // it asks for no answer
		case m.Role == winnow.RoleUser && i == len(history)-1 && m.Summary:
			return nil
		case m.Role == winnow.RoleUser:
			return &Interruption{Unanswered: true}
		}
		open := openCalls(m, answered)
		if len(open) > 0 {
			return &Interruption{Calls: open}
		}
		if i < len(history)-1 && len(answered) > 0 || m.Paused() {
			return &Interruption{Unanswered: true}
		}
		return nil
	}
	return nil
}

// openCalls returns the calls of m that have no result in answered. A failed turn's calls are never made.
func openCalls(m *winnow.Message, answered map[string]int) (open []winnow.Part) {
	if m.StopReason == "error" || m.StopReason == "aborted" {
		return nil
	}
	for _, p := range m.Parts {
		if p.Kind != winnow.KindToolCall {
			continue
		}
		if answered[p.ID] > 0 {
			answered[p.ID]--
			continue
		}
		open = append(open, p)
	}
	return open
}

const abandonedText = "This call was interrupted: the program ended before it had the result. " +
	"The call may have run, in whole or in part. Look before you repeat it."

// Abandon gives each call that [Session.Interrupted] lists a result, so that the conversation can continue. The result
// says that the call was interrupted and may have run.
func (s *Session) Abandon(ctx context.Context) error {
	i := s.Interrupted()
	if i == nil || len(i.Calls) == 0 {
		return nil
	}
	results := make([]winnow.Message, len(i.Calls))
	for n, call := range i.Calls {
		results[n] = Result(call.ID, call.Name, abandonedText)
		results[n].IsError = true
	}
	return s.Append(ctx, results...)
}

// Begin begins a turn with the message of a person, in whatever state the last turn was left: it abandons open calls
// and appends m. If m began the last turn already, and nothing has answered it since, it is not appended again. So a
// host whose [Session.Do] failed, or that was killed, calls the same code again with the same message.
func (s *Session) Begin(ctx context.Context, m winnow.Message) error {
	if err := s.Abandon(ctx); err != nil {
		return err
	}
	if s.Interrupted() != nil {
		is, err := s.isNewestRequest(m)
		if is || err != nil {
			return err
		}
	}
	return s.Append(ctx, m)
}

// isNewestRequest reports whether m, as it would be stored, is the newest message of a person.
func (s *Session) isNewestRequest(m winnow.Message) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, err := s.redactAll([]winnow.Message{m})
	if err != nil {
		return false, err
	}
	if m, err = jsonl.Canonical(stored[0]); err != nil {
		return false, err
	}
	for i := len(s.at.History) - 1; i >= 0; i-- {
		if old := s.at.History[i]; old.Role == winnow.RoleUser && !old.Injected && !old.Summary {
			return old.ID == m.ID && slices.EqualFunc(old.Parts, m.Parts, isSamePart), nil
		}
	}
	return false, nil
}

// isSamePart compares all but the sources.
func isSamePart(a, b winnow.Part) bool {
	a.Source, b.Source = nil, nil
	return reflect.DeepEqual(a, b)
}
