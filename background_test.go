package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// slowSummarizer is a summarizer that answers after a while, and says when it was told to stop.
type slowSummarizer struct {
	mu      sync.Mutex
	takes   time.Duration
	err     error
	calls   int
	stopped int
}

func (s *slowSummarizer) Summarize(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
	s.mu.Lock()
	s.calls++
	takes, err, n := s.takes, s.err, s.calls
	s.mu.Unlock()
	select {
	case <-time.After(takes):
		return fmt.Sprintf("## Goal\nsummary %d", n), err
	case <-ctx.Done():
		s.mu.Lock()
		s.stopped++
		s.mu.Unlock()
		return "", ctx.Err()
	}
}

// chatOf is a conversation of n turns, of about 110 tokens each by chars/4.
func chatOf(n int) []winnow.Message {
	var h []winnow.Message
	for i := range n {
		h = append(h, userSays("Question "+itoa(i)+". "+strings.Repeat("why is that so ", 13)),
			modelSays("Answer "+itoa(i)+". "+strings.Repeat("because of this ", 13)))
	}
	return append(h, userSays("The request that is pending."))
}

// In a window of 10 000 tokens with 2 000 kept free a conversation that was never counted is compacted at
// about 7 800, which is above 70 turns; the work ahead of it begins 2 000 tokens earlier.
const (
	softTurns = 60
	hardTurns = 75
)

func chatManager(t *testing.T, s winnow.Summarizer, o winnow.CompactOptions) *winnow.Manager {
	t.Helper()
	o.SummarizerWindow = 100_000 // one call
	return newManager(t, 10_000, &winnow.Options{Summarizer: s, Reserve: 2_000, Estimator: winnow.CharsPerToken(4), Compact: &o, Now: time.Now})
}

func TestBackgroundSplice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSummarizer{takes: time.Minute}
		m := chatManager(t, s, winnow.CompactOptions{Background: true})
		start := time.Now()
		h := chatOf(softTurns - 20)
		assert.Zero(t, summariesIn(prepare(t, m, h).Messages))

		h = chatOf(softTurns)
		r := prepare(t, m, h)
		assert.Nil(t, r.Compaction)
		assert.Zero(t, time.Since(start), "nobody waits")
		synctest.Wait()
		assert.Equal(t, 1, s.calls)
		covered := len(h)

		h = append(h, modelSays("here"), userSays("one more"))
		r = prepare(t, m, h)
		assert.Zero(t, summariesIn(r.Messages), "it is not ready")
		time.Sleep(time.Minute)
		synctest.Wait()

		before := snapshotOf(t, m)
		planned := m.Plan(h)
		after := snapshotOf(t, m)
		assert.Equal(t, before, after, "Plan changes nothing")

		r = prepare(t, m, h)
		require.NotNil(t, r.Compaction)
		assert.Equal(t, planned.Messages, r.Messages, "Plan says what Prepare does")
		assert.Equal(t, planned.Tokens, r.Tokens)
		assert.Less(t, r.Compaction.TokensAfter, r.Compaction.TokensBefore)
		assert.Contains(t, r.Messages[0].Parts[0].Text, "summary 1")
		first := r.Compaction.FirstKept
		assert.Less(t, first, covered)
		assert.Equal(t, h[first:], r.Messages[1:], "what was kept and what came meanwhile, in order")
		assert.Equal(t, 1, s.calls)
		assert.Zero(t, time.Since(start)-time.Minute, "nobody waited")
	})
}

func TestBackgroundDiscards(t *testing.T) {
	other := userSays("something else altogether")
	for _, tc := range []struct {
		name    string
		change  func(m *winnow.Manager, h []winnow.Message) []winnow.Message
		stopped bool // while it still runs
	}{
		{"rewound into what is summarized", func(_ *winnow.Manager, h []winnow.Message) []winnow.Message {
			return append(h[:20:20], chatOf(softTurns)[30:]...)
		}, true},
		{"a message that is summarized was edited", func(_ *winnow.Manager, h []winnow.Message) []winnow.Message { h[4] = other; return h }, true},
		{"a message was put in front", func(_ *winnow.Manager, h []winnow.Message) []winnow.Message { return append(list(other), h...) }, true},
		{"another conversation", func(*winnow.Manager, []winnow.Message) []winnow.Message { return list(other) }, true},
		{"compacted by hand", func(m *winnow.Manager, h []winnow.Message) []winnow.Message {
			_, err := m.Compact(context.Background(), h, "") // t is of another bubble
			require.NoError(t, err)
			return h
		}, true},
		{"restored", func(m *winnow.Manager, h []winnow.Message) []winnow.Message {
			state := snapshotOf(t, m)
			require.NoError(t, m.Restore([]byte(state)))
			return h
		}, true},
		{"rewound behind it", func(_ *winnow.Manager, h []winnow.Message) []winnow.Message {
			return append(h[:len(h)-1:len(h)-1], other)
		}, false},
	} {
		for _, ready := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/ready %v", tc.name, ready), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &slowSummarizer{takes: time.Minute}
					m := chatManager(t, s, winnow.CompactOptions{Background: true})
					defer m.Close()
					h := chatOf(softTurns)
					prepare(t, m, h)
					synctest.Wait()
					if ready {
						time.Sleep(time.Minute)
						synctest.Wait()
					}
					h = tc.change(m, h)
					calls := s.calls
					r := prepare(t, m, h)
					synctest.Wait()
					if tc.stopped {
						assert.Nil(t, r.Compaction, "it is another history: %s", tc.name)
						assert.Equal(t, !ready, s.stopped == 1, "what nobody can use is not paid for")
					} else {
						assert.Equal(t, ready, r.Compaction != nil)
						assert.Zero(t, s.stopped)
						assert.Equal(t, calls, s.calls)
					}
				})
			})
		}
	}
}

func TestBackgroundIsWaitedForAboveTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSummarizer{takes: time.Minute}
		m := chatManager(t, s, winnow.CompactOptions{Background: true})
		h := chatOf(softTurns)
		prepare(t, m, h)
		h = chatOf(hardTurns)
		time.Sleep(20 * time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		state := snapshotOf(t, m)
		_, err := m.Prepare(ctx, h)
		require.ErrorIs(t, err, context.DeadlineExceeded, "it waits no longer than its context")
		same := snapshotOf(t, m)
		assert.Equal(t, state, same)

		start := time.Now()
		r := prepare(t, m, h)
		require.NotNil(t, r.Compaction)
		assert.Equal(t, 30*time.Second, time.Since(start))
		assert.Equal(t, 1, s.calls, "what was begun is not begun again")
		assert.Equal(t, h[len(h)-1], r.Messages[len(r.Messages)-1])
	})
}

func TestBackgroundFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSummarizer{err: errors.New("503 overloaded")}
		m := chatManager(t, s, winnow.CompactOptions{Background: true})
		h := chatOf(softTurns)
		plain := prepare(t, m, h)
		synctest.Wait()
		time.Sleep(time.Hour)
		synctest.Wait()
		before := s.calls
		for range 5 {
			r := prepare(t, m, h)
			assert.Equal(t, plain.Messages, r.Messages, "the history stays")
			assert.Nil(t, r.Compaction)
			synctest.Wait()
			time.Sleep(time.Hour)
		}
		assert.Equal(t, 2*before, s.calls, "the second failure opens the breaker")

		r := prepare(t, m, chatOf(hardTurns))
		require.NotNil(t, r.Compaction)
		assert.NotEmpty(t, r.Degraded, "the digest stands in")
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSummarizer{takes: time.Hour}
		m := chatManager(t, s, winnow.CompactOptions{Background: true})
		m.Close() // nothing to end
		m = chatManager(t, s, winnow.CompactOptions{Background: true})
		h := chatOf(softTurns)
		prepare(t, m, h)
		synctest.Wait()
		start := time.Now()
		m.Close()
		assert.Zero(t, time.Since(start))
		assert.Equal(t, 1, s.stopped)
		m.Close()

		assert.Nil(t, prepare(t, m, h).Compaction)
		synctest.Wait()
		assert.Equal(t, 1, s.calls, "nothing begins in the background any more")
		require.NotNil(t, prepare(t, m, chatOf(hardTurns)).Compaction, "and the foreground works")
	})
}

// flushes counts the calls of BeforeCompact and keeps the length of the history that each was given.
type flushes struct {
	lengths []int
	err     error
	run     func(ctx context.Context, h []winnow.Message)
}

func (f *flushes) beforeCompact(ctx context.Context, h []winnow.Message) error {
	f.lengths = append(f.lengths, len(h))
	if f.run != nil {
		f.run(ctx, h)
	}
	return f.err
}

func TestFlushOnceInACycle(t *testing.T) {
	f := &flushes{}
	m := chatManager(t, &slowSummarizer{}, winnow.CompactOptions{BeforeCompact: f.beforeCompact})
	prepare(t, m, chatOf(softTurns-20))
	assert.Empty(t, f.lengths, "not before the soft line")
	for turns := softTurns; turns < softTurns+5; turns++ {
		assert.Nil(t, prepare(t, m, chatOf(turns)).Compaction)
	}
	assert.Equal(t, []int{2*softTurns + 1}, f.lengths, "once, with the history")

	state := snapshotOf(t, m)
	m = chatManager(t, &slowSummarizer{}, winnow.CompactOptions{BeforeCompact: f.beforeCompact})
	require.NoError(t, m.Restore([]byte(state)))
	prepare(t, m, chatOf(softTurns+5))
	assert.Len(t, f.lengths, 1, "not again in another process")

	r := prepare(t, m, chatOf(hardTurns))
	require.NotNil(t, r.Compaction)
	assert.Len(t, f.lengths, 1, "the compaction ends the cycle")
	for turns := hardTurns; len(f.lengths) == 1 && turns < 2*hardTurns; turns++ {
		assert.Nil(t, prepare(t, m, chatOf(turns)).Compaction, "the next one is flushed before it comes")
	}
	assert.Len(t, f.lengths, 2, "once in the next cycle")
}

func TestFlushBeforeAForcedCompaction(t *testing.T) {
	for _, tc := range []struct {
		name  string
		force func(t *testing.T, m *winnow.Manager) *winnow.Request
	}{
		{"a history that jumps over the soft line", func(t *testing.T, m *winnow.Manager) *winnow.Request { return prepare(t, m, chatOf(hardTurns)) }},
		{"by hand", func(t *testing.T, m *winnow.Manager) *winnow.Request { return compact(t, m, chatOf(softTurns-20)) }},
		{"after an overflow", func(t *testing.T, m *winnow.Manager) *winnow.Request {
			prepare(t, m, chatOf(softTurns-20))
			return recovered(t, m, chatOf(softTurns-20), errors.New("prompt is too long: 4700 tokens > 3500 maximum"))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &slowSummarizer{}
			f := &flushes{run: func(context.Context, []winnow.Message) { assert.Zero(t, s.calls, "before the summary") }}
			r := tc.force(t, chatManager(t, s, winnow.CompactOptions{BeforeCompact: f.beforeCompact}))
			require.NotNil(t, r.Compaction)
			assert.Len(t, f.lengths, 1)
		})
	}
}

func TestFlushNeverBlocks(t *testing.T) {
	for _, f := range []*flushes{{err: errors.New("no disk")}, {run: func(context.Context, []winnow.Message) { panic("no disk") }}} {
		m := chatManager(t, &slowSummarizer{}, winnow.CompactOptions{BeforeCompact: f.beforeCompact})
		prepare(t, m, chatOf(softTurns))
		require.NotNil(t, prepare(t, m, chatOf(hardTurns)).Compaction)
		assert.Len(t, f.lengths, 1, "a failure is not tried again")
	}
	f := &flushes{}
	m := chatManager(t, &slowSummarizer{}, winnow.CompactOptions{BeforeCompact: f.beforeCompact, Off: true})
	prepare(t, m, chatOf(softTurns))
	assert.Empty(t, f.lengths, "where nothing is compacted nothing is lost")
}

// A flush is often a run of the agent, which uses the same manager.
func TestFlushMayUseTheManager(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprintf("background %v", background), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m *winnow.Manager
				f := &flushes{}
				f.run = func(ctx context.Context, h []winnow.Message) {
					ask := hostSays(strings.Repeat("Write down what must not be lost. ", 30))
					r := prepare(t, m, append(h, ask))
					assert.Equal(t, ask.Parts, r.Messages[len(r.Messages)-1].Parts)
					_ = snapshotOf(t, m)
				}
				m = chatManager(t, &slowSummarizer{takes: time.Second}, winnow.CompactOptions{BeforeCompact: f.beforeCompact, Background: background})
				prepare(t, m, chatOf(softTurns))
				prepare(t, m, chatOf(hardTurns))
				time.Sleep(time.Minute)
				synctest.Wait()
				r := prepare(t, m, chatOf(hardTurns+1))
				assert.Equal(t, 1, summariesIn(r.Messages))
				assert.Len(t, f.lengths, 1)
			})
		})
	}
}

// In the background a flush may take as long as it likes, and nobody waits for it.
func TestFlushInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSummarizer{takes: time.Minute}
		f := &flushes{run: func(ctx context.Context, _ []winnow.Message) {
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
			}
		}}
		m := chatManager(t, s, winnow.CompactOptions{BeforeCompact: f.beforeCompact, Background: true})
		start := time.Now()
		prepare(t, m, chatOf(softTurns))
		synctest.Wait()
		assert.Len(t, f.lengths, 1)
		assert.Zero(t, s.calls, "first the flush, then the summary")
		r := prepare(t, m, chatOf(hardTurns))
		require.NotNil(t, r.Compaction, "in the foreground: who waits for a flush waits for the host")
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Len(t, f.lengths, 1)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, 1, s.calls, "the history is another one by then")
	})
	synctest.Test(t, func(t *testing.T) {
		f := &flushes{run: func(ctx context.Context, _ []winnow.Message) { <-ctx.Done() }}
		m := chatManager(t, &slowSummarizer{}, winnow.CompactOptions{BeforeCompact: f.beforeCompact, Background: true})
		prepare(t, m, chatOf(softTurns))
		m.Close() // ends it
	})
}

// Once a call has returned the host may write to its messages, whatever goes on in the background.
func TestBackgroundReadsCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		var flushed, asked strings.Builder
		s := winnow.SummarizerFunc(func(_ context.Context, r winnow.SummaryRequest) (string, error) {
			asked.WriteString(r.Prompt())
			return "## Goal\nsummary", nil
		})
		m := chatManager(t, s, winnow.CompactOptions{Background: true, BeforeCompact: func(_ context.Context, h []winnow.Message) error {
			<-begin
			for i := range h {
				flushed.WriteString(fullText(h[i]))
			}
			return nil
		}})
		step := callOf("c", "exec", `{"cmd":"ls"}`, "a.go")
		step[1].Details = json.RawMessage(`{"status":"good"}`)
		h := slices.Insert(chatOf(softTurns), 2, step...)
		prepare(t, m, h)
		for i := range h {
			for k := range h[i].Parts {
				h[i].Parts[k].Text = "overwritten"
				copy(h[i].Parts[k].Arguments, `{"cmd":"rm"}`)
			}
			copy(h[i].Details, `{"status":"evil"}`)
		}
		close(begin)
		time.Sleep(time.Minute)
		m.Close()
		assert.Contains(t, flushed.String(), "Question 3")
		assert.NotContains(t, flushed.String(), "overwritten")
		require.Contains(t, asked.String(), "Question 3")
		for _, late := range []string{"overwritten", `"rm"`, "evil"} {
			assert.NotContains(t, asked.String(), late)
		}
	})
}
