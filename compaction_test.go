package winnow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/digest"
)

// work is a history of one request and n steps of a tool, of some 300 tokens each.
func work(n int) []Message {
	h := []Message{userSays("Fix the build. Never push to main.")}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		args := fmt.Sprintf(`{"path":"src/file_%d.go","old":"%s"}`, i, strings.Repeat("x", 200))
		h = append(h, assistantSays(fmt.Sprintf("Step %d. %s", i, strings.Repeat("I look at it. ", 20)), toolCall(id, "edit", args)),
			resultOf(id, "edit", fmt.Sprintf("result %d %s", i, strings.Repeat("and more ", 40)), i%5 == 0))
	}
	return h
}

func workManager(t *testing.T, s Summarizer, o CompactOptions) *Manager {
	t.Helper()
	o.SummarizerWindow = 200_000
	return newManager(t, 20_000, &Options{Summarizer: s, Estimator: CharsPerToken(4), Tools: &ToolOptions{Keep: []string{"*"}}, Compact: &o})
}

// 25 compactions, by a summarizer that repeats all it was given and adds to it: the summary stays within its
// cap, every section is there once, and the text keeps its half.
func TestCompactionDoesNotGrow(t *testing.T) {
	for _, oneTurn := range []bool{true, false} {
		t.Run(fmt.Sprintf("one turn %v", oneTurn), func(t *testing.T) {
			var asked []SummaryRequest
			s := SummarizerFunc(func(_ context.Context, r SummaryRequest) (string, error) {
				asked = append(asked, r)
				text := r.Previous + fmt.Sprintf("\n- fact %d: %s", len(asked), strings.Repeat("something that matters ", 20))
				// It copies what it should not, as models do.
				text += "\n\n## Tool Failures\n- edit: copied\n\n<read-files>\ncopied.go\n</read-files>"
				if most := 4 * r.MaxTokens; len(text) > most {
					text = text[:most/2] + "\n" + text[len(text)-most/2:]
				}
				return text, nil
			})
			m := workManager(t, s, CompactOptions{Rules: func() string { return "Run the tests first." }})
			full, compactions := work(3_000), 0
			var h []Message
			for n := 1; compactions < 25; n += 2 {
				require.Less(t, n+2, len(full))
				h = append(h, full[max(0, n-2):n]...)
				if !oneTurn && n%20 == 1 {
					h = append(h, userSays(fmt.Sprintf("And then %d.", n)))
				}
				r := prepare(t, m, h)
				if r.Compaction == nil {
					continue
				}
				compactions++
				said, text, _ := strings.Cut(r.Compaction.Summary, "</people-said>\n")
				assert.LessOrEqual(t, textTokens(CharsPerToken(4), said), 20_000/10, "compaction %d", compactions)
				text = cmp.Or(text, said)
				limit := (20_000 - 5_000) / 8
				assert.LessOrEqual(t, textTokens(CharsPerToken(4), text), limit, "compaction %d", compactions)
				for _, once := range []string{"## Tool Failures", "<modified-files>", "<workspace-critical-rules>", "Run the tests first.", "Never push to main."} {
					assert.LessOrEqual(t, strings.Count(text, once), 1, once)
				}
				assert.NotContains(t, text, "copied")
				assert.Contains(t, text, "## Tool Failures")
				assert.Contains(t, text, "</modified-files>")
				if body := textTokens(CharsPerToken(4), string(m.state.checkpoint.Body)); compactions > 10 {
					assert.Greater(t, body, limit/3, "the text is not crowded out")
				}
				assert.LessOrEqual(t, float64(r.Tokens), 0.65*15_000, "it lands well below the line")
			}
			for i, r := range asked {
				for _, sign := range []string{"## Tool Failures", "<modified-files>", digest.IdentifiersHeading, "Run the tests first."} {
					assert.NotContains(t, r.Previous, sign, "request %d: what code owns is not summarized", i)
				}
			}
		})
	}
}

func countSummaries(messages []Message) (n int) {
	for i := range messages {
		if messages[i].Summary {
			n++
		}
	}
	return n
}

// outage is a summarizer that is down while it is told to be, and keeps what it was asked.
type outage struct {
	down  bool
	calls int
	asked []SummaryRequest
}

func (o *outage) Summarize(_ context.Context, r SummaryRequest) (string, error) {
	o.calls++
	if o.down {
		return "", errors.New("503 overloaded")
	}
	o.asked = append(o.asked, r)
	return fmt.Sprintf("## Goal\nby the model, %d", len(o.asked)), nil
}

// What a digest stood in for is summarized from the history as soon as a model answers again; what a model
// summarized before the outage is not read again.
func TestDegradedIsReplacedFromTheHistory(t *testing.T) {
	for _, way := range []string{"goes on", "restarted", "by hand"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &outage{}
				m := workManager(t, s, CompactOptions{})
				h := work(400)
				var firstKept, degradedAt int
				n := 1
				until := func(degraded bool) *Request {
					for ; n <= len(h); n += 2 {
						r := prepare(t, m, h[:n])
						if r.Compaction != nil && (r.Degraded != "") == degraded {
							return r
						}
					}
					t.Fatal("no compaction")
					return nil
				}
				r := until(false)
				firstKept = r.Compaction.FirstKept
				s.down = true
				r = until(true)
				assert.NotEmpty(t, r.Degraded)
				assert.Contains(t, r.Compaction.Summary, "by the model, 1", "the digest goes on from the summary")
				degradedAt = r.Compaction.FirstKept
				s.down = false
				if way == "restarted" {
					state := snapshotOf(t, m)
					m = workManager(t, s, CompactOptions{})
					require.NoError(t, m.Restore(state))
				}
				before := len(s.asked)
				if way == "by hand" { // it is replaced at once
					r = compact(t, m, h[:n])
				} else {
					r = until(false)
				}
				assert.Empty(t, r.Degraded)
				require.Equal(t, before+1, len(s.asked))
				q := s.asked[before]
				assert.True(t, strings.HasPrefix(q.Previous, "## Goal\nby the model, 1"), "the summary of the model, not the digest: %s", q.Previous)
				assert.Equal(t, h[firstKept].Parts[0].Text, q.Messages[0].Parts[0].Text, "from where that ends")
				assert.GreaterOrEqual(t, len(q.Messages), degradedAt-firstKept, "and all that the digest stood for")
				assert.Equal(t, 1, strings.Count(r.Compaction.Summary, "Never push to main.")+strings.Count(r.Messages[0].Parts[0].Text, "Never push to main."))
			})
		})
	}
}

// Models count tokens badly: a text that is longer than it was asked for is taken as it is, where there is room.
func TestCompactionTakesALongerText(t *testing.T) {
	var text string
	m := workManager(t, SummarizerFunc(func(_ context.Context, r SummaryRequest) (string, error) {
		text = "## Goal\n" + strings.Repeat("one two ", r.MaxTokens*4*12/10/8) + "\n## Critical Context\nthe end"
		return text, nil
	}), CompactOptions{})
	r := compact(t, m, work(100))
	assert.Equal(t, text, r.Compaction.Summary[:min(len(text), len(r.Compaction.Summary))])
}

// An answer that makes nothing smaller was billed, like one that is no summary: a pause alone is then no reason to ask again.
func TestUselessAnswersAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{"no gain": {errNoGain, true}, "no summary": {&badAnswer{"it is empty"}, true}, "an outage": {errors.New("503"), false}} {
		c := workManager(t, Digest(), CompactOptions{}).begin(nil, nil)
		for range 2 {
			c.noteFailure(tt.err, c.newDraft())
		}
		assert.Equal(t, tt.want, c.manager.state.Breaker.RefusesAnswers(), name)
	}
}
