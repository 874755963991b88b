package main

import (
	"context"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// buffer is an output that can be watched.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
	seen func(all string) // called with each write
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	if b.seen != nil {
		b.seen(b.text.String())
	}
	return len(p), nil
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// ordered finds texts in this order.
func ordered(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		require.True(t, ok, "%q is not there, or not in its place:\n%s", w, text)
		rest = after
	}
}

// TestScript is the conversation that a newcomer sees: with both APIs it compacts, is refused, recovers and continues,
// and no request is invalid.
func TestScript(t *testing.T) {
	for _, api := range []string{apiAnthropic, apiOpenAI} {
		t.Run(api, func(t *testing.T) {
			c, err := parse([]string{"-api", api})
			require.NoError(t, err)
			var out buffer
			local, err := play(t.Context(), c, newScreen(&out), &player{})
			require.NoError(t, err)
			ordered(t, out.String(),
				"you    "+scenes[0].user, "   1   █", "of 6 375, billed", `list {"path":"."}`, `write_note {`, scenes[0].answer(nil),
				"you    "+scenes[1].user, "summarizing", "summarized:", "tokens became", scenes[1].answer(nil),
				"[The provider now switches", ", refused", "4250", "billed", `end_phase {`,
				"you    "+scenes[3].user, "It is INC-4711, and config/billing.yaml stays as it is.",
				"you    "+scenes[4].user, `recall {`, "It weighed 716 kg.")
			assert.Contains(t, out.String(), `run {"command":"sh check.sh"}: failed: exit status 1`)
			assert.NotContains(t, out.String(), "\r", "it is not a terminal")
			assert.NotContains(t, out.String(), "\x1b")

			refusals, known := 0, 0
			for i, x := range local.Exchanges() {
				if text := requestText(x.Request); len(x.Request.Tools) > 0 && strings.Contains(text, scenes[4].user) && weight.MatchString(text) {
					known++
				}
				if x.Error != nil {
					refusals++
					assert.Equal(t, provider.RuleWindow, x.Error.Rule, "request %d: %v", i, x.Error)
				}
			}
			assert.Positive(t, refusals)
			assert.Equal(t, 1, known, "the weight was cleared, and is known again once it was recalled")
			assert.Empty(t, local.Repeats(), "what was refused comes again")
		})
	}
}

// TestReadmeShowsTheScript: the line of a request in the README is one of the scripted conversation.
func TestReadmeShowsTheScript(t *testing.T) {
	c, err := parse(nil)
	require.NoError(t, err)
	var out buffer
	_, err = play(t.Context(), c, newScreen(&out), &player{})
	require.NoError(t, err)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	shown := 0
	for line := range strings.Lines(string(readme)) {
		if strings.Contains(line, " of it cached") {
			assert.Contains(t, strings.ReplaceAll(out.String(), "\u00a0", " "), strings.TrimSpace(line))
			shown++
		}
	}
	require.Positive(t, shown)
}

// TestForgetting: the scripted model knows only its request.
func TestForgetting(t *testing.T) {
	assert.Equal(t, "I do not know any more.", remember(&provider.Request{}))
	assert.Equal(t, "I do not know any more.", tellWeight(&provider.Request{}))
}

// TestStop: Ctrl-C while a summary is made, and while a command runs.
func TestStop(t *testing.T) {
	for _, tt := range []struct {
		at    string
		pause time.Duration
	}{{"summarizing", time.Hour}, {"billed", 0}} {
		t.Run(tt.at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			out := buffer{seen: func(all string) {
				if strings.Contains(all, tt.at) {
					cancel()
				}
			}}
			c, err := parse(nil)
			require.NoError(t, err)
			_, err = play(ctx, c, newScreen(&out), &player{pause: tt.pause})
			require.ErrorIs(t, err, context.Canceled)
			assert.NotContains(t, out.String(), "INC-4711, and")
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs buffer
	assert.Equal(t, exitStopped, run(ctx, nil, strings.NewReader(""), &out, &errs))
	assert.Equal(t, "agent: stopped\n", errs.String())
}

// TestEndpoint talks to a server as to a real one.
func TestEndpoint(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "none")
	t.Setenv("ANTHROPIC_API_KEY", "none")
	for _, api := range []string{apiAnthropic, apiOpenAI} {
		t.Run(api, func(t *testing.T) {
			p := provider.New(provider.Options{Model: func(r *provider.Request) provider.Answer {
				if last := r.Last(); last.Role == "user" && len(last.Results) == 0 {
					return provider.Answer{Text: "I look.", Calls: []provider.ToolCall{call("list", "path", "."), call("read", "path", "../x")}}
				}
				return provider.Answer{Text: "There is one file."}
			}})
			server := httptest.NewServer(p)
			defer server.Close()
			args := []string{"-api", api, "-model", "m", "-url", server.URL + "/v1/", "-dir", t.TempDir()}
			var out, errs buffer
			code := run(t.Context(), append(args, "-prompt", "What is here?"), nil, &out, &errs)
			require.Equal(t, exitOK, code, errs.String())
			ordered(t, out.String(), "you    What is here?", "agent  I look.", "0 characters", "failed: ", "agent  There is one file.")

			out = buffer{}
			code = run(t.Context(), args, strings.NewReader("One?\n\nTwo?\n"), &out, &errs)
			require.Equal(t, exitOK, code, errs.String())
			ordered(t, out.String(), "you    One?", "There is one file.", "you    Two?", "There is one file.")
			for _, x := range p.Exchanges() {
				assert.Nil(t, x.Error)
				assert.Equal(t, []string{"list", "read", "search", "recall", "write_note", "end_phase"}, x.Request.Tools, "commands are asked for")
			}

			server.Close()
			assert.Equal(t, exitFailed, run(t.Context(), append(args, "-prompt", "q"), nil, &out, &errs))
		})
	}
}

// TestFailedSummary: a cut answer does not count as a summary.
func TestFailedSummary(t *testing.T) {
	p := provider.New(provider.Options{Model: func(*provider.Request) provider.Answer {
		return provider.Answer{Text: strings.Repeat("word ", 100)}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	e := newEndpoint(config{api: apiAnthropic, url: server.URL + "/v1", model: "m"})
	e.key = "none"
	var out buffer
	s := summarizer{e, newScreen(&out)}
	_, err := s.Summarize(t.Context(), summaryRequest(10))
	require.ErrorIs(t, err, errIncomplete)
	text, err := s.Summarize(t.Context(), summaryRequest(1_000))
	require.NoError(t, err)
	assert.Contains(t, text, "word")
	assert.Equal(t, "       summarizing 1 messages\n       summarizing 1 messages\n", out.String())
}

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		args, want string
	}{
		{"-api gemini", "want anthropic or openai"},
		{"-window -1", "positive"},
		{"-url http://x", "-model is missing"},
		{"-prompt q", "name a -model"},
		{"-model m extra", `unexpected argument "extra"`},
		{"-no", "not defined"},
	} {
		var out, errs buffer
		assert.Equal(t, exitUsage, run(t.Context(), strings.Fields(tt.args), nil, &out, &errs), tt.args)
		assert.Contains(t, errs.String(), tt.want)
		assert.Empty(t, out.String())
	}
	var out buffer
	assert.Equal(t, exitOK, run(t.Context(), []string{"-h"}, nil, &out, io.Discard))
	assert.Contains(t, out.String(), "Usage: go run ./examples/agent")
}
