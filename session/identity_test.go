package session_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

// recorded returns sessions that agents recorded.
func recorded(t *testing.T, most int) map[string][]winnow.Message {
	names, err := filepath.Glob("../../shared/corpus/*.jsonl.gz")
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skip("the recorded sessions are not here")
	}
	if most > 0 && most < len(names) { // from everywhere in the list
		var some []string
		for i := range most {
			some = append(some, names[i*len(names)/most])
		}
		names = some
	}
	all := map[string][]winnow.Message{}
	for _, name := range names {
		packed, err := os.ReadFile(name)
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		messages, err := winnow.ReadMessages(r)
		require.NoError(t, err, name)
		all[strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")] = messages
	}
	return all
}

// replay makes the requests of a recorded session, and opens it anew before each one if restarts is set.
type replay struct {
	store    *session.Store
	now      time.Time
	restarts bool
	requests []string // as JSON
}

func newReplay(window int, restarts bool) *replay {
	r := &replay{restarts: restarts}
	r.store = session.NewMemory(&session.Options{
		Now: func() time.Time { return r.now },
		Manager: func(string) (int, *winnow.Options) {
			return window, &winnow.Options{Now: func() time.Time { return r.now }}
		},
	})
	return r
}

func (r *replay) run(t *testing.T, messages []winnow.Message) {
	ctx := context.Background()
	s := open(t, r.store, "k")
	r.now = time.Unix(1_700_000_000, 0)
	for i, m := range messages {
		if m.Time.After(r.now) {
			r.now = m.Time
		}
		r.now = r.now.Add(time.Second)
		if m.Role != winnow.RoleAssistant || i == 0 {
			require.NoError(t, s.Append(ctx, m))
			continue
		}
		if r.restarts {
			require.NoError(t, s.Close())
			s = open(t, r.store, "k")
		}
		_, err := s.Do(ctx, func(_ context.Context, request []winnow.Message) (winnow.Message, error) {
			text, err := json.Marshal(request)
			r.requests = append(r.requests, string(text))
			return m, err
		})
		if err != nil { // what cannot fit in so small a window
			require.ErrorIs(t, err, winnow.ErrOverflow)
			r.requests = append(r.requests, err.Error())
			require.NoError(t, s.Append(ctx, m))
		}
	}
	require.NoError(t, s.Close())
}

// TestRecordedSessionsWithRestarts replays recorded sessions and opens them again before each request. Every request is
// the same as that of a process that keeps them open, if that one makes it.
func TestRecordedSessionsWithRestarts(t *testing.T) {
	t.Parallel()
	requests, differ, deltas, deltaBytes, fulls, fullBytes, logBytes := 0, 0, 0, 0, 0, 0, int64(0)
	compactions := 0
	for name, messages := range recorded(t, times.Of(3)) {
		for _, window := range []int{16_000, 200_000} {
			whole, restarted := newReplay(window, false), newReplay(window, true)
			whole.run(t, messages)
			restarted.run(t, messages)
			require.Len(t, restarted.requests, len(whole.requests), name)
			for i := range whole.requests {
				isRefused := strings.HasPrefix(whole.requests[i], "winnow: ")
				if isRefused && strings.HasPrefix(restarted.requests[i], "[") {
					break // refused for what the tools of the old process took: from here on they are two conversations
				}
				if isRefused && strings.HasPrefix(restarted.requests[i], "winnow: ") {
					continue // neither sends anything; how large those tools are is known only to the old process
				}
				requests++
				if whole.requests[i] != restarted.requests[i] {
					differ++
					if differ < 4 {
						t.Errorf("%s, window %d: request %d of %d differs", name, window, i, len(whole.requests))
					}
				}
			}
			report, err := upkeep.Verify(context.Background(), whole.store, "k")
			require.NoError(t, err)
			assert.Empty(t, report.Damage, name)
			logBytes += report.Bytes
			for e, err := range whole.store.Entries(context.Background(), "k") {
				require.NoError(t, err)
				switch {
				case e.Type == entry.TypeState && e.Full != nil:
					fulls++
					fullBytes += len(e.Full.State)
				case e.Type == entry.TypeState:
					deltas++
					deltaBytes += len(e.Delta)
				case e.Type == entry.TypeCompaction:
					compactions++
				}
			}
		}
	}
	assert.Zero(t, differ)
	assert.Greater(t, requests, times.Of(50), "hardly a request was compared")
	assert.LessOrEqual(t, deltaBytes/max(1, deltas), 1536, "bytes of a delta")
	assert.LessOrEqual(t, float64(deltaBytes)/float64(logBytes), 0.3, "deltas in the log")
	messagesBytes := logBytes - int64(deltaBytes+fullBytes)
	t.Logf("%d requests, %d differ; %d compactions; %d deltas of %d bytes on average, %d full states of %d; states %.2f of the log, %.2f of what is not state",
		requests, differ, compactions, deltas, deltaBytes/max(1, deltas), fulls, fullBytes/max(1, fulls),
		float64(deltaBytes+fullBytes)/float64(logBytes), float64(deltaBytes+fullBytes)/float64(messagesBytes))
}

// TestCallIdsThatAreUsedAgain has calls with the same ids on both sides of a compaction and of a restart.
func TestCallIdsThatAreUsedAgain(t *testing.T) {
	var messages []winnow.Message
	for n := range 60 {
		id := fmt.Sprint("call_", n%3)
		messages = append(messages, session.User(fmt.Sprint("do ", n)), call(id, "exec"), session.Result(id, "exec", wordsOf(n)), answer("done "+wordsOf(n)))
	}
	whole, restarted := newReplay(3_000, false), newReplay(3_000, true)
	whole.run(t, messages)
	restarted.run(t, messages)
	require.Equal(t, whole.requests, restarted.requests)
	v, err := restarted.store.Read(context.Background(), "k")
	require.NoError(t, err)
	require.Positive(t, v.Counts.Compactions)
}
