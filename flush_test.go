package winnow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The vectors say when the reference flushes. One without an entry is of a session that does not exist yet.
func TestFlushConformance(t *testing.T) {
	n := 0
	readVectors(t, "flush", func(line []byte) {
		var v struct {
			Name string
			Args struct {
				TokenCount, ContextWindowTokens, ReserveTokensFloor, SoftThresholdTokens int
				Entry                                                                    *struct{ CompactionCount, MemoryFlushCompactionCount int }
			}
			Want bool
		}
		v.Args.Entry = nil
		require.NoError(t, json.Unmarshal(line, &v))
		n++
		a := v.Args
		if a.Entry == nil {
			assert.False(t, v.Want, v.Name)
			return
		}
		done := strings.Contains(string(line), "memoryFlushCompactionCount") && a.Entry.MemoryFlushCompactionCount == a.Entry.CompactionCount
		if done {
			assert.False(t, v.Want, "%s: once in each cycle, which the ledger sees to", v.Name)
			return
		}
		assert.Equal(t, v.Want, flushDue(a.TokenCount, a.ContextWindowTokens-a.ReserveTokensFloor-a.SoftThresholdTokens), v.Name)
	})
	assert.Equal(t, 48, n)
}

// flushes counts the calls of BeforeCompact and keeps the length of the history that each was given.
type flushes struct {
	lengths []int
	err     error
	run     func(ctx context.Context, h []Message)
}

func (f *flushes) beforeCompact(ctx context.Context, h []Message) error {
	f.lengths = append(f.lengths, len(h))
	if f.run != nil {
		f.run(ctx, h)
	}
	return f.err
}

func TestFlushOnceInACycle(t *testing.T) {
	f := &flushes{}
	m := chatManager(t, &slowSummarizer{}, CompactOptions{BeforeCompact: f.beforeCompact})
	prepareChat(t, m, chatOf(softTurns-20))
	assert.Empty(t, f.lengths, "not before the soft line")
	for turns := softTurns; turns < softTurns+5; turns++ {
		assert.Nil(t, prepareChat(t, m, chatOf(turns)).Compaction)
	}
	assert.Equal(t, []int{2*softTurns + 1}, f.lengths, "once, with the history")

	state, err := m.Snapshot()
	require.NoError(t, err)
	m = chatManager(t, &slowSummarizer{}, CompactOptions{BeforeCompact: f.beforeCompact})
	require.NoError(t, m.Restore(state))
	prepareChat(t, m, chatOf(softTurns+5))
	assert.Len(t, f.lengths, 1, "not again in another process")

	r := prepareChat(t, m, chatOf(hardTurns))
	require.NotNil(t, r.Compaction)
	assert.Len(t, f.lengths, 1, "the compaction ends the cycle")
	for turns := hardTurns; len(f.lengths) == 1 && turns < 2*hardTurns; turns++ {
		assert.Nil(t, prepareChat(t, m, chatOf(turns)).Compaction, "the next one is flushed before it comes")
	}
	assert.Len(t, f.lengths, 2, "once in the next cycle")
}

func TestFlushBeforeAForcedCompaction(t *testing.T) {
	for _, tc := range []struct {
		name  string
		force func(t *testing.T, m *Manager) *Request
	}{
		{"a history that jumps over the soft line", func(t *testing.T, m *Manager) *Request { return prepareChat(t, m, chatOf(hardTurns)) }},
		{"by hand", func(t *testing.T, m *Manager) *Request {
			r, err := m.Compact(t.Context(), chatOf(softTurns-20), "")
			require.NoError(t, err)
			return r
		}},
		{"after an overflow", func(t *testing.T, m *Manager) *Request {
			prepareChat(t, m, chatOf(softTurns-20))
			r, err := m.Recover(t.Context(), chatOf(softTurns-20), errors.New("prompt is too long: 4700 tokens > 3500 maximum"))
			require.NoError(t, err)
			return r
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &slowSummarizer{}
			f := &flushes{run: func(context.Context, []Message) { assert.Zero(t, s.calls, "before the summary") }}
			r := tc.force(t, chatManager(t, s, CompactOptions{BeforeCompact: f.beforeCompact}))
			require.NotNil(t, r.Compaction)
			assert.Len(t, f.lengths, 1)
		})
	}
}

func TestFlushNeverBlocks(t *testing.T) {
	for _, tc := range []struct {
		name string
		f    flushes
	}{
		{"error", flushes{err: errors.New("no disk")}},
		{"panic", flushes{run: func(context.Context, []Message) { panic("no disk") }}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := chatManager(t, &slowSummarizer{}, CompactOptions{BeforeCompact: tc.f.beforeCompact})
			prepareChat(t, m, chatOf(softTurns))
			require.NotNil(t, prepareChat(t, m, chatOf(hardTurns)).Compaction)
			assert.Len(t, tc.f.lengths, 1, "a failure is not tried again")
		})
	}
	f := &flushes{}
	m := chatManager(t, &slowSummarizer{}, CompactOptions{BeforeCompact: f.beforeCompact, Off: true})
	prepareChat(t, m, chatOf(softTurns))
	assert.Empty(t, f.lengths, "where nothing is compacted nothing is lost")
}

// A flush is often a run of the agent, which uses the same manager.
func TestFlushMayUseTheManager(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprintf("background %v", background), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m *Manager
				f := &flushes{}
				f.run = func(ctx context.Context, h []Message) {
					ask := Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: strings.Repeat("Write down what must not be lost. ", 30)}}}
					r, err := m.Prepare(ctx, append(h, ask))
					require.NoError(t, err)
					assert.Equal(t, ask.Parts, r.Messages[len(r.Messages)-1].Parts)
					_, err = m.Snapshot()
					require.NoError(t, err)
				}
				m = chatManager(t, &slowSummarizer{takes: time.Second}, CompactOptions{BeforeCompact: f.beforeCompact, Background: background})
				prepareChat(t, m, chatOf(softTurns))
				prepareChat(t, m, chatOf(hardTurns))
				time.Sleep(time.Minute)
				synctest.Wait()
				r := prepareChat(t, m, chatOf(hardTurns+1))
				assert.Equal(t, 1, countSummaries(r.Messages))
				assert.Len(t, f.lengths, 1)
			})
		})
	}
}

// In the background a flush may take as long as it likes, and nobody waits for it.
func TestFlushInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSummarizer{takes: time.Minute}
		f := &flushes{run: func(ctx context.Context, _ []Message) {
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
			}
		}}
		m := chatManager(t, s, CompactOptions{BeforeCompact: f.beforeCompact, Background: true})
		start := time.Now()
		prepareChat(t, m, chatOf(softTurns))
		synctest.Wait()
		assert.Len(t, f.lengths, 1)
		assert.Zero(t, s.calls, "first the flush, then the summary")
		r := prepareChat(t, m, chatOf(hardTurns))
		require.NotNil(t, r.Compaction, "in the foreground: who waits for a flush waits for the host")
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Len(t, f.lengths, 1)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		assert.Equal(t, 1, s.calls, "the history is another one by then")
	})
	synctest.Test(t, func(t *testing.T) {
		f := &flushes{run: func(ctx context.Context, _ []Message) { <-ctx.Done() }}
		m := chatManager(t, &slowSummarizer{}, CompactOptions{BeforeCompact: f.beforeCompact, Background: true})
		prepareChat(t, m, chatOf(softTurns))
		require.NoError(t, m.Close(), "ends it")
	})
}

// Old results are cleared before anything is summarized: a flush for their sake would be paid for nothing.
func TestFlushNotForWhatIsCleared(t *testing.T) {
	f := &flushes{}
	m := chatManager(t, &slowSummarizer{}, CompactOptions{BeforeCompact: f.beforeCompact})
	h := chatOf(10)
	for i := range 40 {
		id := fmt.Sprintf("call_%d", i)
		h = append(h,
			Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a.go"}`)}}},
			Message{Role: RoleTool, ToolCallID: id, ToolName: "read", Parts: []Part{{Text: strings.Repeat("package a\n", 50)}}})
		r := prepareChat(t, m, h)
		assert.Nil(t, r.Compaction)
	}
	assert.Empty(t, f.lengths)
}
