package winnow_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// Sessions that real agents recorded. They are not part of the project: see winnow.SharedDir.

// allRecorded is for the figures that are written down; a sample finds what breaks.
var allRecorded = flag.Bool("recorded", false, "use all recorded sessions, not a sample of them")

// recordedFiles returns one in so many of the files of recorded sessions.
func recordedFiles(t testing.TB, every int) (few []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(winnow.SharedDir(t), "corpus", "*.jsonl.gz"))
	require.NoError(t, err)
	if *allRecorded {
		every = 1
	}
	for i := 0; i < len(files); i += max(1, every) {
		few = append(few, files[i])
	}
	if len(few) == 0 {
		t.Skip("no recorded sessions")
	}
	return few
}

// unpack returns what a file of gzip holds.
func unpack(t testing.TB, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

func readRecorded(t testing.TB, file string) []winnow.Message {
	t.Helper()
	h, err := winnow.ReadMessages(bytes.NewReader(unpack(t, file)))
	require.NoError(t, err, file)
	return h
}

// readNamed is a session without what was billed for it: that was for what the agent sent, and not for what a manager
// sends here.
func readNamed(t testing.TB, file string) []winnow.Message {
	t.Helper()
	h := readRecorded(t, file)
	for i := range h {
		h[i].Usage = nil
	}
	return named(h)
}

// recordedSessions calls f for one in so many of the sessions, several at a time, and returns when all have been tried.
func recordedSessions(t *testing.T, every int, f func(t *testing.T, name string, h []winnow.Message)) {
	files := recordedFiles(t, times.Every(every))
	todo := make(chan string, len(files))
	for _, file := range files {
		todo <- file
	}
	close(todo)
	t.Run("sessions", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for file := range todo {
					f(t, strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), readNamed(t, file))
				}
			})
		}
	})
}

// replay prepares the request that each assistant message of h answered, and returns how many there were.
func replay(t *testing.T, name string, h []winnow.Message, window int) (requests int) {
	c := newClock()
	m := newManager(t, window, &winnow.Options{Now: c.Now})
	before := deepCopy(h)
	rules := wire.Rules{Lead: leads(h), Blank: true}
	var last []winnow.Message
	for n := range h {
		if h[n].Role != winnow.RoleAssistant {
			continue
		}
		c.follow(h[n].Time)
		r, err := m.Prepare(t.Context(), h[:n])
		requests++
		if err != nil {
			assert.True(t, errors.As(err, new(*winnow.OverflowError)), "%s at %d: %v", name, n, err)
			continue
		}
		assert.NoError(t, rules.Check(r.Messages), "%s at %d", name, n)
		assert.LessOrEqual(t, r.Tokens, r.Budget, "%s at %d", name, n)
		assert.Equal(t, firstDifference(last, r.Messages), r.FirstChanged, "%s at %d", name, n)
		last = r.Messages
	}
	sameMessages(t, before, h, name+": the history was written to")
	return requests
}

// follow sets the clock to when a message was written; where that is unknown half a minute passes.
func (c *clock) follow(at time.Time) {
	if d := at.Sub(c.Now()); !at.IsZero() && d > 0 {
		c.pass(d)
		return
	}
	c.pass(30 * time.Second)
}

// The manager on recorded sessions, replayed request by request.
func TestManagerCorpus(t *testing.T) {
	var requests atomic.Int64
	recordedSessions(t, sized(36, 144), func(t *testing.T, name string, h []winnow.Message) {
		for _, window := range []int{32_000, 128_000, 200_000} {
			requests.Add(int64(replay(t, name, h, window)))
		}
	})
	t.Logf("%d requests", requests.Load())
	assert.NotZero(t, requests.Load())
}
