package main

import (
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

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

// TestScript is the conversation that a newcomer sees: it compacts, is refused, recovers and continues, and no request
// is invalid. The README shows a line of it.
func TestScript(t *testing.T) {
	var out strings.Builder
	local, err := play(t.Context(), config{}.withDefaults(scriptWindow), &screen{out: &out})
	require.NoError(t, err)
	ordered(t, out.String(),
		"you    "+scenes[0].user, "   1   █", "of 5 250, billed", `list {"path":"."}`, `write_note {`, scenes[0].answer(nil),
		"you    "+scenes[1].user, scenes[1].answer(nil),
		"[The provider now switches", ", refused", "3500", "billed", `read {"path":"config/port.yaml"}: failed: `,
		"summarizing", "summarized:", "tokens became", `end_phase {`,
		"you    "+scenes[3].user, "It is INC-4711, and config/billing.yaml stays as it is.",
		"you    "+scenes[4].user, `recall {`, "It weighed 716 kg.")

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

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	shown := 0
	for line := range strings.Lines(string(readme)) {
		if strings.Contains(line, " of it cached") {
			assert.Contains(t, out.String(), strings.TrimSpace(line))
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

// TestTalk talks to a server as to a real one.
func TestTalk(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "none")
	p := provider.New(provider.Options{Model: func(r *provider.Request) provider.Answer {
		if r.Last().Role == "user" {
			return provider.Answer{Text: "I look.", Calls: []provider.ToolCall{call("list", "path", "."), call("read", "path", "../x")}}
		}
		return provider.Answer{Text: "There is one file."}
	}})
	server := httptest.NewServer(p)
	defer server.Close()
	c := config{model: "m", url: server.URL + "/v1/", dir: t.TempDir(), questions: []string{"What is here?", "And now?"}}
	var out strings.Builder
	require.NoError(t, c.run(t.Context(), &screen{out: &out}))
	ordered(t, out.String(), "you    What is here?", "agent  I look.", "0 characters", "failed: ", "agent  There is one file.", "you    And now?", "There is one file.")
	for _, x := range p.Exchanges() {
		assert.Nil(t, x.Error)
		assert.Equal(t, []string{"list", "read", "search", "recall", "write_note", "end_phase"}, x.Request.Tools)
	}
	server.Close()
	assert.Error(t, c.run(t.Context(), &screen{out: io.Discard}))
}

// TestFailedSummary: a cut answer does not count as a summary.
func TestFailedSummary(t *testing.T) {
	server := httptest.NewServer(provider.New(provider.Options{Model: func(*provider.Request) provider.Answer {
		return provider.Answer{Text: strings.Repeat("word ", 100)}
	}}))
	defer server.Close()
	s := summarizer{&endpoint{url: server.URL + "/v1", model: "m", key: "none"}, &screen{out: io.Discard}}
	request := winnow.SummaryRequest{MaxTokens: 10, Messages: []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}}}
	_, err := s.Summarize(t.Context(), request)
	require.ErrorIs(t, err, winnow.ErrIncomplete)
	request.MaxTokens = 1_000
	text, err := s.Summarize(t.Context(), request)
	require.NoError(t, err)
	assert.Contains(t, text, "word")
}

func TestScreen(t *testing.T) {
	var out strings.Builder
	s := screen{out: &out, window: 100}
	s.sent(&winnow.Request{Tokens: 10, Budget: 50, Edits: []winnow.Edit{{Op: winnow.OpClear}, {Op: winnow.OpClear}, {Op: winnow.OpLimit}}},
		&winnow.Message{Usage: &winnow.Usage{Input: 1_234_567}}, nil)
	s.says("agent", "Two\nlines.")
	s.says("agent", " ")
	s.called(winnow.Part{Name: "run", Arguments: []byte(`{"command": "a\nb"}`)}, &winnow.Message{Parts: []winnow.Part{{Text: "née"}}})
	assert.Equal(t, "   1   ████············|                      10 of 50, 2 cleared, billed 1 234 567, 0 of it cached\n"+
		"agent  Two\n       lines.\n"+
		"       run {\"command\": \"a\\nb\"}: 3 characters\n", out.String())
	assert.Equal(t, "ab…", oneLine("abcd", 3))
	for _, tt := range []struct {
		tokens, budget, window int
		want                   string
		reason                 string
	}{
		{0, 24_000, 32_000, "························|        ", "nothing is sent"},
		{1, 24_000, 32_000, "█·······················|        ", "what is there at all gets a cell"},
		{24_000, 24_000, 32_000, "████████████████████████|        ", "full"},
		{99_000, 24_000, 32_000, "████████████████████████|        ", "never beyond the budget"},
		{5, 10, 10, "████████████████················|", "no reserve"},
	} {
		assert.Equal(t, tt.want, bar(tt.tokens, tt.budget, tt.window), tt.reason)
	}
}
