package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// What the tests of the manager share: a clock, scripted summarizers, and the checks that every request
// has to pass. They use the public API alone.

// clock is a clock that goes when it is told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newManager(t testing.TB, window int, o *winnow.Options) *winnow.Manager {
	t.Helper()
	m, err := winnow.New(window, o)
	require.NoError(t, err)
	return m
}

func prepare(t testing.TB, m *winnow.Manager, h []winnow.Message) *winnow.Request {
	t.Helper()
	r, err := m.Prepare(t.Context(), h)
	require.NoError(t, err)
	return r
}

func snapshotOf(t testing.TB, m *winnow.Manager) string {
	t.Helper()
	b, err := m.Snapshot()
	require.NoError(t, err)
	return string(b)
}

// fakeSummarizer records its requests and answers by rule.
type fakeSummarizer struct {
	mu     sync.Mutex
	calls  []winnow.SummaryRequest
	answer func(n int, req winnow.SummaryRequest) (string, error) // n counts from 1
}

func (s *fakeSummarizer) Summarize(_ context.Context, req winnow.SummaryRequest) (string, error) {
	s.mu.Lock()
	s.calls = append(s.calls, req)
	n, answer := len(s.calls), s.answer
	s.mu.Unlock()
	return answer(n, req)
}

func (s *fakeSummarizer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// says answers the same whatever it is asked.
func says(text string) *fakeSummarizer {
	return &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) { return text, nil }}
}

// fails answers nothing.
func fails(err error) *fakeSummarizer {
	return &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) { return "", err }}
}

// byChars counts a token for four bytes: tests that talk of sizes can be read with it.
var byChars = winnow.EstimatorFunc(func(m winnow.Message) int { return 1 + messageBytes(&m)/4 })

func messageBytes(m *winnow.Message) (n int) {
	for i := range m.Parts {
		n += len(m.Parts[i].Text) + len(m.Parts[i].Arguments)
	}
	return n
}

// estimateAll is what e says of the messages together.
func estimateAll(e winnow.Estimator, messages []winnow.Message) (n int) {
	for i := range messages {
		n += e.Estimate(messages[i])
	}
	return n
}

// sameOnWire reports whether a provider is sent the same bytes of both.
func sameOnWire(a, b *winnow.Message) bool {
	return a.Role == b.Role && a.ToolCallID == b.ToolCallID && a.ToolName == b.ToolName && a.IsError == b.IsError &&
		slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
			return p.Kind == q.Kind && p.Text == q.Text && p.Signature == q.Signature && p.ID == q.ID && p.Name == q.Name &&
				bytes.Equal(p.Arguments, q.Arguments) && p.MediaType == q.MediaType && p.Bytes == q.Bytes
		})
}

// firstDifference returns the index of the first message that is not the same on the wire.
func firstDifference(before, after []winnow.Message) int {
	n := min(len(before), len(after))
	for i := range n {
		if !sameOnWire(&before[i], &after[i]) {
			return i
		}
	}
	return n
}

// sameWire fails if two requests differ in what a provider is sent.
func sameWire(t testing.TB, want, got []winnow.Message, note string, args ...any) {
	t.Helper()
	if i := firstDifference(want, got); i < max(len(want), len(got)) {
		require.Failf(t, "requests differ", note+": at message %d\nwant%s\ngot %s", append(args, i, sketch(want), sketch(got))...)
	}
}

// newestRequest returns the index of the newest user message that a person wrote, or -1.
func newestRequest(h []winnow.Message) int {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].Role == winnow.RoleUser && !h[i].Injected && !h[i].Summary {
			return i
		}
	}
	return -1
}

// hasBlankPart reports whether m holds a text that providers refuse: Prepare leaves such parts out, pinned or not.
func hasBlankPart(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindText && visible(p.Text) == "" })
}

// visible is s without what shows nothing at its ends.
func visible(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
}

// requestCheck is what a request is held against.
type requestCheck struct {
	estimator winnow.Estimator
	overhead  int
}

// check fails where r breaks an invariant as the request for in, a history whose messages have the IDs that
// named gives them.
func (c requestCheck) check(t testing.TB, in []winnow.Message, r *winnow.Request) {
	t.Helper()
	require.LessOrEqual(t, r.Tokens, r.Budget, "above the budget, and no error")
	if !slices.ContainsFunc(in, func(m winnow.Message) bool { return m.Usage != nil }) {
		require.Equal(t, c.overhead+estimateAll(c.estimator, r.Messages), r.Tokens, "Tokens is not what the messages and the overhead are estimated to")
	}
	if validText(in) {
		rules := wire.Rules{Lead: leads(in), Blank: true}
		require.NoError(t, rules.Check(r.Messages), "a provider refuses the request %s of the history %s", sketch(r.Messages), sketch(in))
		require.NoError(t, rules.Check(r.History), "a provider refuses Request.History")
	}
	checkSources(t, stage{name: "Prepare"}, in, r.Messages)
	checkVerbatim(t, in, r.Messages)
	checkVerbatim(t, in, r.History)
	checkEdits(t, in, r)
}

// checkVerbatim: the newest user request, the pins and the system messages are there, once and as they were.
func checkVerbatim(t testing.TB, in, out []winnow.Message) {
	t.Helper()
	places := map[string][]int{}
	for k := range out {
		places[out[k].ID] = append(places[out[k].ID], k)
	}
	newest := newestRequest(in)
	for i := range in {
		m := &in[i]
		if !m.Pinned && m.Role != winnow.RoleSystem && i != newest || hasBlankPart(m) || !m.Pinned && !isSound(in, i) {
			continue
		}
		if m.Summary {
			continue // the next one replaces it
		}
		at := places[m.ID]
		require.Len(t, at, 1, "message %d (%s, pinned %v): how often it is in%s", i, m.Role, m.Pinned, sketch(out))
		require.True(t, reflect.DeepEqual(*m, out[at[0]]), "message %d (%s, pinned %v) was changed", i, m.Role, m.Pinned)
	}
}

// checkEdits: kept + edited + dropped = input, by position, and the edits say which is which. A message may
// have several edits, one for each step that it went through. Edits without an ID are of messages that the
// library made.
func checkEdits(t testing.TB, in []winnow.Message, r *winnow.Request) {
	t.Helper()
	out := r.Messages
	at := map[int]int{} // input -> output
	var order []int
	made := 0
	for k := range out {
		i, ok := originOf(&out[k])
		switch {
		case ok:
			require.NotContains(t, at, i, "message %d is there twice", i)
			at[i] = k
			order = append(order, i)
		case !out[k].Summary:
			made++
		}
	}
	inserted := 0
	dropped, changed := map[int]bool{}, map[int]winnow.Op{}
	for _, e := range r.Edits {
		require.NotEmpty(t, e.Reason, "%+v", e)
		require.NotEmpty(t, e.Op, "%+v", e)
		require.True(t, e.Before > 0 || e.After > 0, "%+v says nothing", e)
		if e.Before == 0 {
			inserted++
			continue
		}
		if e.ID == "" {
			continue
		}
		require.Equal(t, in[e.Index].ID, e.ID, "%+v", e)
		if e.After == 0 {
			require.False(t, dropped[e.Index], "message %d is dropped twice: %+v", e.Index, r.Edits)
			dropped[e.Index] = true
		} else {
			changed[e.Index] = e.Op
		}
	}
	require.LessOrEqual(t, made, inserted, "messages that were made and no edit says so")
	moved := misplaced(order)
	for i := range in {
		k, there := at[i]
		if !there {
			require.True(t, dropped[i], "message %d is gone and no edit says so: %+v", i, r.Edits)
			continue
		}
		require.False(t, dropped[i], "message %d is there, and an edit says that it is gone: %+v", i, r.Edits)
		different, op := !sameContent(&in[i], &out[k]) || moved[i], changed[i]
		require.False(t, different && op == "", "message %d was changed or moved and no edit says so: %+v", i, r.Edits)
		// It may have moved ahead of messages that are gone: then nothing is left to be seen of it.
		require.False(t, !different && op != "" && op != winnow.OpRepair, "message %d is as it was, and an edit says otherwise: %+v", i, r.Edits)
	}
}

// checkOverflow: the error says what fills the window, and its parts are no more than the whole.
func checkOverflow(t testing.TB, err error, budget, overhead int) *winnow.OverflowError {
	t.Helper()
	require.ErrorIs(t, err, winnow.ErrOverflow)
	var e *winnow.OverflowError
	require.True(t, errors.As(err, &e), "%T", err)
	require.Greater(t, e.Tokens, e.Budget, "it fits")
	require.Equal(t, budget, e.Budget)
	require.GreaterOrEqual(t, e.Overhead, min(overhead, 0), "it may have been learned from the usage of an answer")
	require.GreaterOrEqual(t, min(e.Pinned, e.Summary, e.Protected), 0)
	require.LessOrEqual(t, e.Overhead+e.Pinned+e.Summary+e.Protected, e.Tokens, "the parts are more than the whole: %+v", e)
	return e
}

// agentSession is the history of an agent that works: turns of a request, two calls with results of about
// the given number of characters, and an answer. No two messages are alike.
func agentSession(turns, size int) []winnow.Message {
	var h []winnow.Message
	text := func(n int) string {
		mark := "mark" + itoa(100_000+len(h)) + " "
		own := make([]byte, 4) // each message has lines of its own
		for i, k := 0, len(h); i < len(own); i, k = i+1, k/26 {
			own[i] = 'a' + byte(k%26)
		}
		return mark + strings.ReplaceAll(asciiText[len(h)*37%10_000:][:n], "line", string(own))
	}
	for i := range turns {
		h = append(h, userSays("Request "+itoa(i)+": "+text(size/10)))
		for k := range 2 {
			id := "call_" + itoa(2*i+k)
			h = append(h, modelSends(textPart(text(size/20)), callPart(id, toolNames[(i+k)%len(toolNames)])))
			m := toolSays(id, text(size))
			m.ToolName = toolNames[(i+k)%len(toolNames)]
			h = append(h, m)
		}
		h = append(h, modelSays(text(size/5)))
	}
	return named(h)
}
