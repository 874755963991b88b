package winnow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reasoningTurn is a question and calls with their results, each with this much encrypted reasoning in front.
func reasoningTurn(turn, calls, sealed int) (h []Message) {
	h = append(h, Message{Role: RoleUser, Parts: []Part{{Text: fmt.Sprintf("Question %d", turn)}}})
	for i := range calls {
		id := fmt.Sprintf("call_%d_%d", turn, i)
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{
			{Kind: KindThinking, ID: "rs_" + id, Signature: strings.Repeat("gAAA", sealed/4)},
			{Kind: KindToolCall, ID: id, Name: "shell", Arguments: []byte(`{"command":"ls"}`)},
		}}, Message{Role: RoleTool, ToolCallID: id, ToolName: "shell", Parts: []Part{{Text: strings.Repeat("file.go\n", 40)}}})
	}
	return append(h, Message{Role: RoleAssistant, Parts: []Part{{Text: "Done."}}})
}

// OpenAI reads reasoning until the next message of a user. What is sent is the same.
func TestReasoningOfEarlierTurns(t *testing.T) {
	const sealed = 8_000 // (8 000 × 3/4 − 650) / 4 tokens
	one := (sealed*3/4 - 650) / 4
	h := append(reasoningTurn(1, 10, sealed), reasoningTurn(2, 5, sealed)...)
	tokens := func(model string, h []Message) int {
		m, err := New(400_000, &Options{Model: model, FoldAbove: 1, NoMinify: true})
		require.NoError(t, err)
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err)
		require.Empty(t, r.Edits)
		return r.Tokens
	}
	bare := func(h []Message) []Message {
		out := make([]Message, len(h))
		for i, m := range h {
			if out[i] = m; hasThinking(m) {
				out[i].Parts = m.Parts[1:]
			}
		}
		return out
	}
	assert.InDelta(t, 5*one, tokens("gpt-5.5", h)-tokens("gpt-5.5", bare(h)), 100, "of the open turn")
	next := append(h[:len(h):len(h)], Message{Role: RoleUser, Parts: []Part{{Text: "More"}}})
	assert.InDelta(t, 0, tokens("gpt-5.5", next)-tokens("gpt-5.5", bare(next)), 20, "a user's message ends the turn")
	assert.Greater(t, tokens("claude-opus-5", next)-tokens("claude-opus-5", bare(next)), 15*one, "Claude reads all")

	// Step by step, and where the history is rewound, each request counts as if it were the first one.
	m, err := New(400_000, &Options{Model: "gpt-5.5", FoldAbove: 1, NoMinify: true})
	require.NoError(t, err)
	for _, n := range []int{1, 3, 5, 21, 23, 25, len(next), 25, 23, 5, len(next), len(next) - 2} {
		r, err := m.Prepare(t.Context(), next[:n])
		require.NoError(t, err)
		assert.Equal(t, tokens("gpt-5.5", next[:n]), r.Tokens, "%d messages", n)
	}
}

// A provider that bills as OpenAI does is predicted, at each step and across turns, from its own counts.
func TestReasoningIsBilled(t *testing.T) {
	m, err := New(400_000, &Options{Model: "gpt-5.5", FoldAbove: 1, NoMinify: true})
	require.NoError(t, err)
	e, err := NewEstimator("o200k")
	require.NoError(t, err)
	var h []Message
	billed, last := 0, 0
	for turn := range 6 {
		for _, next := range reasoningTurn(turn, 8, 6_000) {
			if next.Role == RoleAssistant {
				next.Usage = &Usage{Input: billed}
			}
			if h = append(h, next); next.Role == RoleAssistant {
				continue
			}
			if next.Role == RoleUser {
				last = len(h) - 1
			}
			r, err := m.Prepare(t.Context(), h)
			require.NoError(t, err)
			isFirst := billed == 0 // nothing showed yet what no message does
			billed = 9_000
			for i := range h {
				billed += e.Estimate(h[i])
				if i < last {
					billed -= reasoningOf(e, &h[i])
				}
			}
			if !isFirst {
				assert.InEpsilon(t, billed, r.Tokens, 0.01, "%d messages", len(h))
			}
		}
	}
	took, err := New(400_000, &Options{Model: "gpt-5.5", FoldAbove: 1, NoMinify: true})
	require.NoError(t, err)
	r, err := took.Prepare(t.Context(), h)
	require.NoError(t, err)
	assert.InEpsilon(t, h[len(h)-1].Usage.Input, r.Tokens, 0.01, "another manager takes over")
}
