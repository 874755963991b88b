package session

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Answer is what the model said, and the request that it answers.
type Answer struct {
	winnow.Message
	More    []winnow.Message // the rest of the answer, if the provider ran its own tools
	Request *winnow.Request  // nil: no request was made
}

// Paused reports whether the provider has not said the rest of the answer yet, because an error ended [Session.Do].
func (a Answer) Paused() bool {
	messages := a.messages()
	return messages[len(messages)-1].Paused()
}

// messages returns all messages of the answer.
func (a *Answer) messages() []winnow.Message { return append([]winnow.Message{a.Message}, a.More...) }

// Text returns the texts that the model wrote, joined.
func (a Answer) Text() string {
	var b strings.Builder
	for _, m := range a.messages() {
		if m.Role == winnow.RoleTool {
			continue
		}
		for i := range m.Parts {
			if m.Parts[i].Kind == winnow.KindText {
				b.WriteString(m.Parts[i].Text)
			}
		}
	}
	return b.String()
}

// Calls returns the tool calls that the host has to answer: those without a result in the answer itself.
func (a Answer) Calls() []winnow.Part {
	var calls []winnow.Part
	for _, m := range a.messages() {
		for _, p := range m.Parts {
			if p.Kind == winnow.KindToolCall {
				calls = append(calls, p)
			}
		}
	}
	return slices.DeleteFunc(calls, func(call winnow.Part) bool {
		return slices.ContainsFunc(a.More, func(m winnow.Message) bool {
			return m.Role == winnow.RoleTool && m.ToolCallID == call.ID
		})
	})
}

// Call asks the model: it sends messages and returns the answer.
type Call func(ctx context.Context, messages []winnow.Message) (winnow.Message, error)

// Do sends the conversation to the model and appends the answer. It prepares the request, stores the manager's state,
// and calls; as long as the error is an overflow, it shrinks the request and calls again. It returns any other error of
// call as it is, and appends nothing.
//
// A provider that runs its own tools may pause in the middle of an answer ([winnow.Message.Paused]). Do stores what it
// said and asks again, up to 20 times, until the answer has its end or calls: an answer without [Answer.Calls] ends the
// turn. After an error the [Answer] is what was said before it; with [ErrClosed], [ErrSync] and [ErrConflict] it is not
// stored. The error is [winnow.ErrNothingToSend] if no message is left to send, and a *winnow.InvalidMessageError, with
// the index in the answer, if that holds nothing or is no model's.
//
// An answer that arrived is stored even if ctx has ended in the meantime. The session is not locked during the call,
// and neither it nor [Store.Close] ends the call: end ctx for that.
func (s *Session) Do(ctx context.Context, call Call) (Answer, error) {
	return s.DoMessages(ctx, func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		answer, err := call(ctx, messages)
		return []winnow.Message{answer}, err
	})
}

// CallMessages is a [Call] whose answer may be several messages, from an API that runs its own tools.
type CallMessages func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error)

// maxPauses is how often Do goes on after a pause. Anthropic pauses after ten calls of its own tools: nobody waits for
// two hundred.
const maxPauses = 20

// DoMessages is [Session.Do] for an API whose answer may be several messages, such as OpenAI's Responses. All of them
// are stored, or none.
func (s *Session) DoMessages(ctx context.Context, call CallMessages) (Answer, error) {
	answer, err := s.ask(ctx, call)
	for pauses := 1; err == nil && answer.Paused(); pauses++ {
		if pauses > maxPauses {
			return answer, fmt.Errorf("session: the provider has paused %d times in one answer", pauses)
		}
		var rest Answer
		if rest, err = s.ask(ctx, call); rest.Role != "" {
			answer.More = append(answer.More, rest.messages()...)
		}
		if r := rest.Request; r != nil { // a new one; it took all that those before it took
			r.SummaryCalls += answer.Request.SummaryCalls
			jsonl.AddUsage(&r.SummaryUsage, &answer.Request.SummaryUsage)
			answer.Request = r
		}
	}
	return answer, err
}

// ask is DoMessages for one answer, which may have paused.
func (s *Session) ask(ctx context.Context, call CallMessages) (Answer, error) {
	r, err := s.Prepare(ctx)
	if err == nil && len(r.Messages) == 0 {
		err = winnow.ErrNothingToSend
	}
	if err != nil {
		return Answer{}, err
	}
	for {
		answer, cause := call(ctx, r.Messages)
		if cause == nil {
			cause = checkAnswer(answer)
		}
		if cause == nil {
			more := slices.Clip(answer[1:]) // the caller's list is not written to
			return Answer{answer[0], more, r}, s.Append(context.WithoutCancel(ctx), answer...)
		}
		next, err := s.recover(ctx, cause)
		if err != nil {
			return Answer{Request: r}, err
		}
		r = next
	}
}

// checkAnswer returns an error for what no model says: a log is written for good.
func checkAnswer(answer []winnow.Message) error {
	if len(answer) == 0 {
		return errors.New("session: the call returned no message")
	}
	for i := range answer {
		if role := answer[i].Role; role == winnow.RoleUser || role == winnow.RoleSystem {
			want := `"assistant": an answer`
			return &winnow.InvalidMessageError{Index: i, Field: "role", Got: string(role), Want: want}
		}
	}
	return nil
}

// Prepare returns the next request and stores the manager's state. It is for hosts that do more around a call than
// [Session.Do] does; they append the answer themselves.
func (s *Session) Prepare(ctx context.Context) (*winnow.Request, error) {
	return s.prepare(ctx, (*winnow.Manager).Prepare)
}

// Recover calls [winnow.Manager.Recover] after the provider refused a request of [Session.Prepare] with cause.
func (s *Session) Recover(ctx context.Context, cause error) (*winnow.Request, error) {
	return s.prepare(ctx, func(m *winnow.Manager, ctx context.Context, h []winnow.Message) (*winnow.Request, error) {
		return m.Recover(ctx, h, cause)
	})
}

// Compact summarizes now, as [winnow.Manager.Compact] does.
func (s *Session) Compact(ctx context.Context, instructions string) (*winnow.Request, error) {
	return s.prepare(ctx, func(m *winnow.Manager, ctx context.Context, h []winnow.Message) (*winnow.Request, error) {
		return m.Compact(ctx, h, instructions)
	})
}

// recover returns cause unchanged if no smaller request would help.
func (s *Session) recover(ctx context.Context, cause error) (*winnow.Request, error) {
	next, err := s.Recover(ctx, cause)
	if _, gaveUp := err.(*winnow.OverflowError); err != nil && !gaveUp && errors.Is(err, cause) {
		return nil, cause
	}
	return next, err
}

// maker makes a request with the manager.
type maker func(*winnow.Manager, context.Context, []winnow.Message) (*winnow.Request, error)

// prepare makes a request and records it.
func (s *Session) prepare(ctx context.Context, f maker) (*winnow.Request, error) {
	s.branch.Lock()
	defer s.branch.Unlock()
	s.mu.Lock()
	m, err := s.ready()
	history := s.at.History
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	ctx, done := within(ctx, s.life)
	defer done()
	r, err := f(m, ctx, history) // host code runs here, and may take long
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead != nil {
		return nil, s.dead
	}
	if err != nil {
		return nil, s.recordFailure(ctx, err)
	}
	if err := s.record(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

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
// host whose [Session.Do] failed, or that was killed, calls the same code again with the same message. The error is a
// [*winnow.InvalidMessageError] if m is not what a person may say.
func (s *Session) Begin(ctx context.Context, m winnow.Message) error {
	if err := s.mayBegin(ctx, m); err != nil {
		return err
	}
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
	m, err := s.stored(m)
	if err != nil {
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
		result = m.TakeNote(history, call.Arguments)
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
