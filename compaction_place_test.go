package winnow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What stands before the first summarized message is in the provider's cache. A summary behind it leaves it there,
// whoever writes the summary and whenever, and so does the next one.
func TestSummaryStandsBehindWhatLeads(t *testing.T) {
	rules := strings.Repeat("Answer in French. ", 300)
	fronts := []struct {
		name  string
		front []winnow.Message
		kept  int // of front
	}{
		{"a pin", list(pinned(userSays(rules))), 1},
		{"a pinned text of the host", list(pinned(hostSays(rules))), 1},
		{"a text of the host", list(hostSays(rules)), 1},
		{"system, instructions, a list", list(systemSays("You are careful."), pinned(userSays(rules)), hostSays("Skills: deploy, test.")), 3},
		{"a system message in between", list(hostSays("Skills: deploy, test."), systemSays("You are careful."), pinned(userSays(rules))), 3},
		{"a pinned call", list(pinned(userSays(rules)), pinned(modelCalls("plan")), toolSays("plan", "1. build")), 3},
		{"texts of the host that take most of the window", list(pinned(userSays("Be brief.")), hostSays(strings.Repeat(rules, 8))), 1},
		{"nothing", nil, 0},
	}
	type maker func(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error)
	ways := []struct {
		name string
		size int // of each message in the beginning
		by   winnow.Summarizer
		make maker
	}{
		{"by hand", 2_500, says("## Goal\nto go on"), func(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
			return m.Compact(t.Context(), h, "")
		}},
		{"by hand, a digest", 2_500, winnow.Digest(), func(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
			return m.Compact(t.Context(), h, "")
		}},
		{"when it is due", 12_000, says("## Goal\nto go on"), func(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
			return m.Prepare(t.Context(), h)
		}},
		{"when it is due, the summarizer is down", 12_000, fails(errors.New("down")), func(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
			return m.Prepare(t.Context(), h)
		}},
		{"after a refusal", 6_000, says("## Goal\nto go on"), func(m *winnow.Manager, h []winnow.Message) (*winnow.Request, error) {
			n := prepare(t, m, h).Tokens
			return m.Recover(t.Context(), h, fmt.Errorf("prompt is too long: %d tokens > %d maximum", n, n*4/5))
		}},
	}
	for _, f := range fronts {
		for _, way := range ways {
			t.Run(f.name+", "+way.name, func(t *testing.T) {
				o := &winnow.Options{
					Estimator: byChars, Summarizer: way.by, Now: newClock().Now, FoldAbove: 1, NoMinify: true,
					Compact: &winnow.CompactOptions{KeepRecent: 2_000},
				}
				m := newManager(t, 40_000, o)
				h := slices.Clip(f.front)
				for range 2 { // the second summary takes the place of the first
					h = append(h, chat(12, 2_500)...)
					prepare(t, m, named(h))
					h = named(append(h, chat(12, way.size)...))
					r, err := way.make(m, h)
					require.NoError(t, err)
					require.NotNil(t, r.Compaction)
					assert.Equal(t, f.kept, r.FirstChanged)
					assert.Equal(t, f.kept, summaryAt(r.Messages))
					assert.Equal(t, f.kept, firstDifference(h, r.Messages))
					assert.GreaterOrEqual(t, r.Cached, estimateAll(byChars, h[:f.kept])/1_024*1_024, "less than that is not cached")
					m = newManager(t, 40_000, o)
					sameWire(t, r.Messages, prepare(t, m, r.Messages).Messages, "from what was sent")
				}
			})
		}
	}
}

// summaryAt returns the index of the first summary, or -1.
func summaryAt(messages []winnow.Message) int {
	for i := range messages {
		if messages[i].Summary {
			return i
		}
	}
	return -1
}
