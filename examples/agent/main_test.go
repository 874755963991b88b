package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
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

// TestScript is the conversation that a newcomer sees: it is refused, recovers, summarizes and goes on, and no request is
// invalid. The README shows a line of it.
func TestScript(t *testing.T) {
	var out strings.Builder
	a, err := newAgent(7_000, &screen{out: &out, window: 7_000})
	require.NoError(t, err)
	require.NoError(t, a.play(t.Context(), 7_000))
	ordered(t, out.String(),
		"you    "+scenes[0].user, "   1   █", "of 5 250, billed", `list {}`, `write_note {`, scenes[0].answer(""),
		"you    "+scenes[1].user, scenes[1].answer(""),
		"[The provider now switches", ", refused", "3500", "billed", `read {"path":"config/port.yaml"}`,
		"summarizing", "summarized:", "tokens became", `end_phase {`,
		"you    "+scenes[4].user, "It is INC-4711, and config/billing.yaml stays as it is.",
		"you    "+scenes[5].user, `recall {`, "It weighed 716 kg.")

	known := 0
	for _, request := range a.model.Requests() {
		if text := textOf(request...); strings.Contains(text, scenes[5].user) && weight.MatchString(text) {
			known++
		}
	}
	assert.Equal(t, 1, known, "the weight was left out, and is known again once it was recalled")

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
	assert.Equal(t, forgotten, remember(""))
	assert.Equal(t, forgotten, tellWeight(""))
}

func TestScreen(t *testing.T) {
	var out strings.Builder
	s := screen{out: &out, window: 100}
	s.sent(&winnow.Request{Tokens: 10, Budget: 50, Edits: []winnow.Edit{{Op: winnow.OpClear}, {Op: winnow.OpClear}, {Op: winnow.OpLimit}}},
		&winnow.Message{Usage: &winnow.Usage{Input: 1_234_567}}, nil)
	s.says("agent", "Two\nlines.")
	s.says("agent", "")
	s.says("agent", "1\n2\n3\n4\n5\n6")
	s.called(winnow.Part{Name: "run", Arguments: []byte(`{"command": "a\nb"}`)}, "née")
	assert.Equal(t, "   1   ████············|                      10 of 50, 2 cleared, billed 1 234 567, 0 of it cached\n"+
		"agent  Two\n       lines.\n"+
		"agent  1\n       2\n       3\n       4\n       … 2 more lines\n"+
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
