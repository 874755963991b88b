package winnowtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// Model is a scripted model for the test of an agent: a provider that counts, bills, refuses what is too long in the
// words of a real one, and answers by a list or a function. Its Call is what [winnow.Do] and a session's Do take. It is
// safe for concurrent use.
type Model struct {
	Answers []Answer // in their order; behind the last one, Call fails with [ErrScript]
	// Script makes the answers in place of Answers: a model that knows only its request. It is not called for what is
	// refused, and calls no method of the model itself, which waits for it.
	Script func(request []winnow.Message) Answer

	Window   int              // tokens; a longer prompt is refused (0: nothing is)
	Provider string           // whose words the refusals are in: one of [Providers] ("anthropic")
	Counts   winnow.Estimator // the model's tokenizer (winnow.CharsPerToken(4))

	mu       sync.Mutex
	requests [][]winnow.Message
	given    int
}

// Answer is one answer of a [Model]: a text, calls of tools, or an error.
type Answer struct {
	Text  string
	Calls []winnow.Part // see [Call]
	Err   error         // returned in place of an answer; a refusal for the length needs no entry
}

// ErrScript: the agent asked more often than its test expects.
var ErrScript = errors.New("winnowtest: the script has no more answers")

// Providers returns the providers whose refusals a [Model] can use.
func Providers() []string { return slices.Sorted(maps.Keys(provider.Wordings())) }

// Call answers a request. The answer has Usage: what the last request has too is read from the cache.
func (m *Model) Call(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return winnow.Message{}, err
	}
	cached := m.sharedWithLast(messages)
	m.requests = append(m.requests, slices.Clone(messages))
	tokens := m.tokens(messages)
	if err := m.refuse(tokens); err != nil {
		return winnow.Message{}, err
	}
	a, err := m.next(messages)
	if err != nil {
		return winnow.Message{}, err
	}
	if a.Err != nil {
		return winnow.Message{}, a.Err
	}
	out := winnow.Message{Role: winnow.RoleAssistant, StopReason: "end_turn"}
	if a.Text != "" {
		out.Parts = append(out.Parts, winnow.Part{Text: a.Text})
	}
	if out.Parts = append(out.Parts, a.Calls...); len(a.Calls) > 0 {
		out.StopReason = "tool_use"
	}
	read := m.tokens(messages[:cached])
	out.Usage = &winnow.Usage{CacheRead: read, CacheWrite: tokens - read, Output: m.tokens([]winnow.Message{out})}
	return out, nil
}

func (m *Model) next(messages []winnow.Message) (Answer, error) {
	switch {
	case m.Script != nil:
		return m.Script(messages), nil
	case m.given == len(m.Answers):
		return Answer{}, fmt.Errorf("%w: request %d", ErrScript, len(m.requests))
	}
	m.given++
	return m.Answers[m.given-1], nil
}

// refuse returns the provider's error for a prompt that is too long.
func (m *Model) refuse(tokens int) error {
	if m.Window <= 0 {
		return nil
	}
	name := m.Provider
	if name == "" {
		name = "anthropic"
	}
	wording, ok := provider.Wordings()[name]
	if !ok {
		return fmt.Errorf("winnowtest: no provider %q, want one of %s", name, strings.Join(Providers(), ", "))
	}
	refusal := wording(provider.Size{Input: tokens, Window: m.Window, Model: "test"})
	if refusal == nil {
		return nil
	}
	if refusal.Body != "" {
		return fmt.Errorf("%d: %s", refusal.Status, refusal.Body)
	}
	return fmt.Errorf("%d %s: %s", refusal.Status, refusal.Code, refusal.Message)
}

func (m *Model) tokens(messages []winnow.Message) (sum int) {
	count := m.Counts
	if count == nil {
		count = winnow.CharsPerToken(4)
	}
	for i := range messages {
		sum += count.Estimate(messages[i])
	}
	return sum
}

// sharedWithLast returns how many leading messages the last request had too.
func (m *Model) sharedWithLast(messages []winnow.Message) (n int) {
	if len(m.requests) == 0 {
		return 0
	}
	last := m.requests[len(m.requests)-1]
	was, is := snapshots(last), snapshots(messages)
	for n < min(len(was), len(is)) && was[n] == is[n] {
		n++
	}
	return n
}

// Requests returns what the model was sent, refused requests too.
func (m *Model) Requests() [][]winnow.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Check returns an error unless every request of the model was valid and answered the one before it: each call has its
// one result behind it, the newest request of a person is there word for word, and no message of the history, up to the
// newest answer, went before a request had carried it. history is what the agent keeps. The error lists all findings.
func (m *Model) Check(history []winnow.Message) error {
	var f findings
	requests := m.Requests()
	said, results := map[string]bool{}, map[string]bool{}
	for n, r := range requests {
		if _, edits := winnow.RepairToolPairing(r); len(edits) > 0 {
			f.add(fmt.Sprintf("request %d is valid", n), fmt.Errorf("message %d: %s", edits[0].Index, edits[0].Reason))
		}
		for i := range r {
			said[textOf(&r[i])] = true
			if r[i].Role == winnow.RoleTool {
				results[r[i].ToolCallID] = true
			}
		}
	}
	end := len(history)
	for end > 0 && history[end-1].Role != winnow.RoleAssistant {
		end--
	}
	for i := range history[:max(0, end-1)] {
		switch h := &history[i]; {
		case h.Role == winnow.RoleTool && !results[h.ToolCallID]:
			f.add("nothing unseen goes", fmt.Errorf("message %d, the result of %s, was in no request", i, h.ToolCallID))
		case h.Role == winnow.RoleUser && !said[textOf(h)]:
			f.add("nothing unseen goes", fmt.Errorf("message %d was in no request: %s", i, clip(textOf(h))))
		}
	}
	return f.err()
}

func textOf(m *winnow.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		if m.Parts[i].Kind == winnow.KindText {
			b.WriteString(m.Parts[i].Text)
		}
	}
	return b.String()
}

// CheckRequest returns an error unless r fits into its budget and is valid for every provider.
func CheckRequest(r *winnow.Request) error {
	var f findings
	if r.Tokens > r.Budget {
		f.add("fits", fmt.Errorf("%d tokens are above the budget of %d", r.Tokens, r.Budget))
	}
	if _, edits := winnow.RepairToolPairing(r.Messages); len(edits) > 0 {
		f.add("valid", fmt.Errorf("message %d: %s", edits[0].Index, edits[0].Reason))
	}
	return f.err()
}

// Summarizer is a fake [winnow.Summarizer], whose summary is accepted: a section with Text. It keeps what it was asked.
// It is safe for concurrent use. For a bad answer take a [winnow.SummarizerFunc], in testing/synctest: a second one is
// asked for after a pause. A summary is due for what people and the model say, such as Person and Says with long texts,
// rather than for tool work, which becomes records; or call Manager.Compact.
type Summarizer struct {
	Text string // ("what was done so far")
	Err  error  // returned in place of a summary

	mu    sync.Mutex
	asked []winnow.SummaryRequest
}

// Summarize implements [winnow.Summarizer].
func (s *Summarizer) Summarize(ctx context.Context, r winnow.SummaryRequest) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if s.Err != nil {
		return "", s.Err
	}
	text := s.Text
	if text == "" {
		text = "what was done so far"
	}
	return "## Goal\n" + text, ctx.Err()
}

// Asked returns what the summarizer was asked, in its order.
func (s *Summarizer) Asked() []winnow.SummaryRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}
