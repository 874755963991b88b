package adaptertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// HugeWindow is larger than any request of a test.
const HugeWindow = 1 << 30

// Direct returns a client that reaches h without a network.
func Direct(h http.Handler) *http.Client { return &http.Client{Transport: direct{h}} }

type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// Send asks a provider through an SDK. The answer is the next message of the history.
type Send func(ctx context.Context, url string, messages []winnow.Message) (winnow.Message, error)

// Answer takes what a call of an SDK returns, and returns the answer as a message.
func Answer[A any](response func(A) winnow.Message) func(A, error) (winnow.Message, error) {
	return func(answer A, err error) (winnow.Message, error) {
		if err != nil {
			return winnow.Message{}, err
		}
		return response(answer), nil
	}
}

// CheckConversations lets managers talk to a provider with a window of 32 000 tokens through an SDK. A manager that
// assumes twice the window meets refusals, recovers and continues. A manager that assumes half of it is never refused.
// It compacts, with a summarizer that asks the same provider, and makes no records, because with records it would need
// no summary. The provider refuses requests only for their size, and no refused request is sent again. An API that the
// provider does not speak has a front.
func CheckConversations(t *testing.T, send Send, summarizer func(url string) winnow.Summarizer, front ...Front) {
	t.Helper()
	for _, tt := range []struct {
		name        string
		window      int
		keep        []string // tools whose work stays as it is
		refusals    bool
		compactions bool
	}{
		{"twice the window", 64_000, nil, true, false},
		{"half the window", 16_000, []string{"*"}, false, true},
	} {
		options := provider.Options{Window: 32_000}
		for _, f := range front {
			options.Overflow = provider.Wordings()[f.Wording]
		}
		refusals, compactions := Converse(t, options, provider.RuleWindow, func(url string) (int, *winnow.Options) {
			return tt.window, &winnow.Options{Summarizer: summarizer(url), Tools: &winnow.ToolOptions{Keep: tt.keep}}
		}, send, front...)
		if refusals > 0 != tt.refusals || tt.compactions && compactions == 0 {
			t.Errorf("%s: %d refusals and %d compactions", tt.name, refusals, compactions)
		}
	}
}

// Converse lets a manager talk to a provider through an SDK, and returns how often that refused, and how often a
// summarizer compacted. The provider refuses by one rule only, and no refused request is sent again.
func Converse(t *testing.T, o provider.Options, rule string, manager func(url string) (int, *winnow.Options),
	send Send, front ...Front) (refusals, compactions int) {
	t.Helper()
	o.Model = reader
	p, url := atProvider(t, o, front...)
	m, err := winnow.New(manager(url))
	require.NoError(t, err)
	compactions = converse(t, m, func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		return send(ctx, url, messages)
	})
	for i, x := range p.Exchanges() {
		if x.Error != nil {
			refusals++
			assert.Equal(t, rule, x.Error.Rule, "request %d: %v", i, x.Error)
		}
	}
	assert.Empty(t, p.Repeats(), "requests that were refused before")
	return refusals, compactions
}

// converse goes through a number of steps and counts the compactions that the summarizer wrote.
func converse(t *testing.T, m *winnow.Manager,
	send func(context.Context, []winnow.Message) (winnow.Message, error)) (compactions int) {
	t.Helper()
	const steps = 40
	history := []winnow.Message{question("Read the notes and tell me what they say.")}
	for step := range steps {
		answer, req, err := winnow.Do(t.Context(), m, history, send)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if req.Compaction != nil && req.Degraded == "" {
			compactions++
			if u := req.SummaryUsage; u.Prompt() == 0 || u.Output == 0 {
				t.Errorf("step %d: the summarizer does not say what it cost: %+v", step, u)
			}
		}
		history = append(history, answer)
		calls := 0
		for _, part := range answer.Parts {
			if part.Kind == winnow.KindToolCall {
				calls++
				history = append(history, result(part.ID, page(10*step+calls)))
			}
		}
		if calls == 0 {
			history = append(history, question(fmt.Sprintf("Thank you. Now read volume %d.", step)))
		}
	}
	return compactions
}

func question(s string) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: s}}}
}

// reader is a model that thinks and reads a file in each step, except that it ends its turn in every eighth. It also
// writes summaries.
func reader(r *provider.Request) provider.Answer {
	if strings.Contains(r.System, "You write the summary") {
		return provider.Answer{Text: "## Goal\nRead the notes and tell what they say.\n\n## Progress\n### Done\nRead " +
			"chapters of notes/chapter.md: all is well."}
	}
	last := r.Last()
	for _, result := range last.Results {
		if strings.HasSuffix(strings.TrimSpace(result.Text), "end of part 7") {
			return provider.Answer{Text: "That was all of it."}
		}
	}
	a := provider.Answer{Text: "I read on.", Calls: []provider.ToolCall{
		{Name: "read", Arguments: json.RawMessage(`{"path":"notes/chapter.md","limit":100}`)},
		{Name: "read", Arguments: json.RawMessage(`{"path":"notes/index.md"}`)},
	}}
	if r.Thinking {
		a.Thinking = []string{"There is more to read."}
	}
	return a
}

// page returns what the tool reads in a step: 4 000 to 11 000 characters.
func page(step int) string {
	return fmt.Sprintf("chapter %d\n%send of part %d", step,
		strings.Repeat(fmt.Sprintf("line %d of the notes says that all is well.\n", step), 90+step%5*40), step%8)
}
