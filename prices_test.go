package winnow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/models"
)

// dollarsOf returns what the prompts of a session cost, billed as the provider of a model does: by exact prefixes, with
// its tiers, each request a few seconds behind the one before it.
func dollarsOf(t *testing.T, model string, window int, history []winnow.Message) float64 {
	t.Helper()
	known, ok := models.Find(model)
	require.True(t, ok, model)
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	estimator := estimatorOf(t, "")
	summaries := 0.0
	m, err := winnow.New(window, &winnow.Options{
		Model: model, Estimator: estimator, Now: func() time.Time { return now },
		Summarizer: winnow.SummarizerFunc(func(ctx context.Context, r winnow.SummaryRequest) (string, error) {
			text, err := winnow.Digest().Summarize(ctx, r)
			ask := estimator.Estimate(userSays(r.System() + r.Prompt()))
			d, _ := known.Dollars(models.Tokens{Input: ask, Output: estimator.Estimate(userSays(text))})
			summaries += d
			return text, err
		}),
	})
	require.NoError(t, err)
	dollars := 0.0
	last := []string{}
	for i := range history {
		if i == 0 || history[i].Role != winnow.RoleAssistant {
			continue
		}
		now = now.Add(8 * time.Second)
		r, err := m.Prepare(context.Background(), history[:i])
		require.NoError(t, err)
		tokens := models.Tokens{}
		keys, same := make([]string, len(r.Messages)), true
		for k := range r.Messages {
			keys[k] = fmt.Sprint(r.Messages[k].Role, r.Messages[k].Parts)
			n := estimator.Estimate(r.Messages[k])
			if same = same && k < len(last) && last[k] == keys[k]; same {
				tokens.CacheRead += n
			} else {
				tokens.CacheWrite += n
			}
		}
		last = keys
		d, _ := known.Dollars(tokens)
		dollars += d
	}
	return dollars + summaries
}

// reading is a session of so many reads, in so many turns, whose results have about so many tokens.
func reading(reads, turns, tokens int) (history []winnow.Message) {
	for i := range reads {
		if i%max(1, reads/turns) == 0 {
			history = append(history, userSays(fmt.Sprintf("Look for what is wrong in part %d.", i)))
		}
		id := fmt.Sprintf("call_%d", i)
		text := strings.Repeat(fmt.Sprintf("line of file %d, which says what it does with value_%d\n", i, i*7919), tokens/16)
		history = append(history, call(id, "read", fmt.Sprintf(`{"path":"dir/file_%d.go"}`, i)), toolSays(id, text))
	}
	return append(history, modelSays("Done."))
}

// shell is a session of commands whose results differ in size: most are short and every tenth is long.
func shell(calls int) (history []winnow.Message) {
	history = append(history, userSays("Find out why the build is slow."))
	for i := range calls {
		id := fmt.Sprintf("call_%d", i)
		n := 20 + i*37%60
		if i%10 == 0 {
			n = 500
		}
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "compiled unit %d of target %d in %d ms, with no warning\n", k, i, i*k%977)
		}
		history = append(history, call(id, "bash", fmt.Sprintf(`{"command":"make -d target_%d"}`, i)), toolSays(id, b.String()))
	}
	return append(history, modelSays("Done."))
}

// joined are recorded sessions as one conversation of so many tokens.
func joined(t *testing.T, tokens int) (history []winnow.Message) {
	t.Helper()
	for i, file := range recordedFiles(t, 9) {
		for _, m := range readNamed(t, file) {
			m.ID = fmt.Sprint(i, m.ID)
			history = append(history, m)
		}
		if estimateAll(estimatorOf(t, ""), history) > tokens {
			break
		}
	}
	return history
}

// mostAboveBest is how many times as much as with the best of twelve windows that a host could set by hand, from .7 of the
// size above which requests cost more as a whole, a session may cost by default. Where it is more than 1.1, the best is
// the smallest window, as it is for a model without such a size: in a smaller window old work goes earlier, because
// FoldAbove is a share of it, and summaries come sooner. Both cost less and lose more of what the model works with.
var mostAboveBest = map[string]float64{"reads in one turn": 1.1, "reads in 20 turns": 1.1, "shell": 1.14, "recorded": 1.5}

func TestCliffs(t *testing.T) {
	if !*replayTimes {
		t.Skip("on request: -replay; it replays 156 sessions, a minute on two idle cores")
	}
	sessions := map[string][]winnow.Message{
		"reads in one turn": reading(150, 1, 7_000), "reads in 20 turns": reading(150, 20, 7_000), "shell": shell(400),
		"recorded": joined(t, 600_000),
	}
	for _, model := range []string{"claude-haiku-5-5", "openrouter/openai/gpt-6.2-sol", "gemini-3.1-pro"} {
		known, _ := models.Find(model)
		for name, history := range sessions {
			byDefault, best, at := dollarsOf(t, model, 0, history), 0.0, 0
			for _, share := range []float64{.7, .75, .8, .85, .9, .95, 1, 1.1, 1.25, 1.5, 2, 10} { // of the cliff
				window := min(known.Window, int(share*float64(known.Tiers[0].Above)))
				if d := dollarsOf(t, model, window, history); best == 0 || d < best {
					best, at = d, window
				}
			}
			t.Logf("%-30s %-20s %.3f by default, %.3f with %d", model, name, byDefault, best, at)
			assert.LessOrEqual(t, byDefault, mostAboveBest[name]*best, "%s, %s: best with %d", model, name, at)
		}
	}
}

// TestRequestsStayBelowACliff: a conversation that is longer than the size above which requests cost more as a whole, and
// fits into the window, has no request above that size.
func TestRequestsStayBelowACliff(t *testing.T) {
	const model = "openrouter/openai/gpt-6.2-sol"
	known, _ := models.Find(model)
	history, now := chat(40, 32_000), newClock()
	whole := estimateAll(estimatorOf(t, ""), history)
	require.Greater(t, whole, known.Tiers[0].Above)
	require.Less(t, whole, known.Window*8/10)
	m := newManager(t, 0, &winnow.Options{Model: model, Now: now.Now})
	for i := range history {
		if i > 0 && history[i].Role == winnow.RoleAssistant {
			now.pass(8 * time.Second)
			require.LessOrEqual(t, prepare(t, m, history[:i]).Tokens, known.Tiers[0].Above, "request at %d", i)
		}
	}
}
