package winnow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// denseText returns n characters of what programs print: it has far fewer characters in a token than prose.
func denseText(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%04x: src/%x.go:%d ok %d\n", r.IntN(1<<16), r.IntN(1<<20), r.IntN(900), r.IntN(9_000))
	}
	return b.String()[:n]
}

// TestLittleRoom plays agents in windows that have hardly room for the newest step. Where a request cannot fit, no
// summary is paid for, and nothing is left that a summary could have replaced.
func TestLittleRoom(t *testing.T) {
	t.Parallel()
	overflows, compactions := 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		calls := 0
		s := winnow.SummarizerFunc(func(_ context.Context, req winnow.SummaryRequest) (string, error) {
			calls++
			return "## Goal\n" + denseText(r, min(2*req.MaxTokens, 600)), nil
		})
		m := newManager(t, 2_000+int(seed%3)*500, &winnow.Options{
			Summarizer: s, Recall: seed%2 == 0, Now: newClock().Now, Compact: &winnow.CompactOptions{SummarizerWindow: 50_000},
		})
		h := list(systemSays(denseText(r, 600)))
		for step := range 60 {
			if step%3 == 0 {
				h = append(h, userSays(denseText(r, 50+r.IntN(400))))
			}
			h = append(h, parallelStep(r, fmt.Sprintf("c%d_", step))...)
			before := calls
			request, err := m.Prepare(t.Context(), h)
			if err == nil {
				require.LessOrEqual(t, request.Tokens, request.Budget)
				if request.Compaction != nil {
					compactions++
				}
				continue
			}
			full := overflowOf(t, err)
			overflows++
			assert.Equal(t, before, calls, "seed %d, step %d: a summary was paid for and %v", seed, step, err)
			plan, counts := m.Plan(h), 0
			for _, n := range plan.Counts { // estimates; the error has what the provider would bill
				counts += n
			}
			missing := (full.Tokens - full.Budget) * counts / (full.Tokens - full.Overhead)
			// A digest has about 90 tokens here, and its frame with the note for Recall has as many.
			assert.Less(t, oldTokens(plan), missing+180, "seed %d, step %d: a summary would have made room: %v", seed, step, err)
		}
	}
	t.Logf("%d overflows, %d compactions", overflows, compactions)
	assert.Positive(t, overflows)
	assert.Positive(t, compactions)
}

// If leaving out the old steps makes a request fit, a summary replaces them, however few tokens they have.
func TestLittleIsSummarizedBeforeAnError(t *testing.T) {
	t.Parallel()
	o := &winnow.Options{
		Estimator: winnow.CharsPerToken(4), Summarizer: answers("## Goal\nTo port the parser."), Now: newClock().Now,
		Compact: &winnow.CompactOptions{KeepRecent: -1},
	}
	m := newManager(t, 2_000, o)
	h := append(chat(8, 600), userSays("Go on."))
	compact(t, m, h)
	h = append(h, modelSays(asciiText[:240]), userSays(asciiText[:240]), modelSays(asciiText[:200]))
	state := snapshotOf(t, m)
	compactions := 0
	for size := 3_000; size < 5_600; size += 40 {
		next := restarted(t, 2_000, o, state)
		asked := append(h[:len(h):len(h)], userSays(asciiText[:size]))
		plan := next.Plan(asked)
		r, err := next.Prepare(t.Context(), asked)
		if err != nil {
			full := overflowOf(t, err)
			assert.Less(t, oldTokens(plan), full.Tokens-full.Budget, "%d characters: %v", size, err)
			continue
		}
		assert.Equal(t, r.Compaction != nil, plan.NeedsCompaction, "%d characters", size)
		if r.Compaction != nil {
			compactions++
		}
	}
	assert.Positive(t, compactions)
}

// parallelStep returns an answer with one to four calls and their results.
func parallelStep(r *rand.Rand, id string) []winnow.Message {
	n := 1 + r.IntN(4)
	var ids []string
	for k := range n {
		ids = append(ids, id+itoa(k))
	}
	h := list(modelCalls(ids...))
	for _, id := range ids {
		h = append(h, toolSays(id, denseText(r, 50+r.IntN(1_500))))
	}
	return h
}

// oldTokens returns the tokens of the messages in r that a summary could replace: those of older steps.
func oldTokens(r *winnow.Request) (n int) {
	newestStep, newestRequest := 0, 0
	for i, m := range r.Messages {
		switch {
		case m.Role == winnow.RoleAssistant:
			newestStep = i
		case m.Role == winnow.RoleUser && !m.Summary && !m.Injected:
			newestRequest = i
		}
	}
	for i, m := range r.Messages {
		if i < newestStep && i != newestRequest && !m.Summary && m.Role != winnow.RoleSystem {
			n += r.Counts[i]
		}
	}
	return n
}

// The error says how much of the window the definitions of tools take.
func TestOverflowNamesTheTools(t *testing.T) {
	t.Parallel()
	m := newManager(t, 4_000, &winnow.Options{Overhead: 3_000, Tools: &winnow.ToolOptions{Tokens: 2_800}})
	_, err := m.Prepare(t.Context(), list(userSays(asciiText[:9_000])))
	full := overflowOf(t, err)
	assert.Equal(t, 2_800, full.Tools)
	assert.Contains(t, err.Error(), "system prompt and tools 3000 (tools alone 2800)")
}
