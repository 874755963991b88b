package winnow_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// The manager on sessions that real agents recorded, replayed request by request. They are not part of the
// project: WINNOW_SHARED is the folder that holds corpus.

var corpus = flag.String("corpus", "sample", "recorded sessions that the manager replays: sample, or all")

// corpusSample: the default run takes one session in this number.
const corpusSample = 18

func corpusFiles(t *testing.T) []string {
	shared := os.Getenv("WINNOW_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(shared, "corpus", "*.jsonl.gz"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the recorded sessions are not here: set WINNOW_SHARED to the folder that holds corpus")
	}
	every := corpusSample
	switch {
	case *corpus == "all":
		every = 1
	case testing.Short():
		every *= 8
	}
	var out []string
	for i := every / 2; i < len(files); i += every {
		out = append(out, files[i])
	}
	return out
}

func readCorpus(t *testing.T, file string) []winnow.Message {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	h, err := winnow.ReadMessages(z)
	require.NoError(t, err, file)
	for i := range h {
		h[i].Usage = nil // it was billed for what that agent sent, which is not what this manager sends
	}
	return named(h)
}

// corpusRow is what happened in the sessions at one window.
type corpusRow struct {
	sessions, requests, overflows     int
	epochs, compactions, degraded     int
	invalid, above, wrongFirst, wrote int
	edits                             map[winnow.Op]int
	problems                          []string
}

func (r *corpusRow) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// add joins what happened in other sessions.
func (r *corpusRow) add(o *corpusRow) {
	r.sessions += o.sessions
	r.requests += o.requests
	r.overflows += o.overflows
	r.epochs += o.epochs
	r.compactions += o.compactions
	r.degraded += o.degraded
	r.invalid += o.invalid
	r.above += o.above
	r.wrongFirst += o.wrongFirst
	r.wrote += o.wrote
	if r.edits == nil {
		r.edits = map[winnow.Op]int{}
	}
	for op, n := range o.edits {
		r.edits[op] += n
	}
	r.problems = append(r.problems, o.problems...)
}

// replay prepares the request that each assistant message of h answered.
func replay(ctx context.Context, name string, h []winnow.Message, window int) *corpusRow {
	row := &corpusRow{sessions: 1, edits: map[winnow.Op]int{}}
	c := newClock()
	m, err := winnow.New(window, &winnow.Options{Now: c.Now})
	if err != nil {
		row.problem("%v", err)
		return row
	}
	before := deepCopy(h)
	rules := wire.Rules{Lead: leads(h), Blank: true}
	told := map[winnow.Edit]bool{} // an edit is in every request from the first on: it counts once
	var last []winnow.Message
	for n := range h {
		if h[n].Role != winnow.RoleAssistant {
			continue
		}
		c.follow(h[n].Time)
		r, err := m.Prepare(ctx, h[:n])
		row.requests++
		if err != nil {
			row.overflows++
			if !errors.As(err, new(*winnow.OverflowError)) {
				row.problem("%s at %d: %v", name, n, err)
			}
			continue
		}
		if err := rules.Check(r.Messages); err != nil {
			row.invalid++
			row.problem("%s at %d: %v", name, n, err)
		}
		if r.Tokens > r.Budget {
			row.above++
			row.problem("%s at %d: %d tokens of %d", name, n, r.Tokens, r.Budget)
		}
		if at := firstDifference(last, r.Messages); at != r.FirstChanged {
			row.wrongFirst++
			row.problem("%s at %d: FirstChanged %d, and the bytes differ at %d", name, n, r.FirstChanged, at)
		} else if at < len(last) {
			row.epochs++
		}
		for _, e := range r.Edits {
			if e = (winnow.Edit{Op: e.Op, Index: e.Index, ID: e.ID}); !told[e] {
				told[e] = true
				row.edits[e.Op]++
			}
		}
		if r.Compaction != nil {
			row.compactions++
			if r.Degraded {
				row.degraded++
			}
		}
		last = r.Messages
	}
	if !reflect.DeepEqual(before, h) {
		row.wrote++
		row.problem("%s: the history was written to", name)
	}
	return row
}

// follow sets the clock to when a message was written; where that is unknown half a minute passes.
func (c *clock) follow(at time.Time) {
	if d := at.Sub(c.Now()); !at.IsZero() && d > 0 {
		c.pass(d)
		return
	}
	c.pass(30 * time.Second)
}

func TestManagerCorpus(t *testing.T) {
	t.Parallel()
	windows := []int{32_000, 128_000, 200_000}
	rows := make([]corpusRow, len(windows))
	var mu sync.Mutex
	var wg sync.WaitGroup
	todo := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for file := range todo {
				h := readCorpus(t, file)
				for k, window := range windows {
					row := replay(t.Context(), filepath.Base(file), h, window)
					mu.Lock()
					rows[k].add(row)
					mu.Unlock()
				}
			}
		})
	}
	for _, file := range corpusFiles(t) {
		todo <- file
	}
	close(todo)
	wg.Wait()

	var b strings.Builder
	b.WriteString("\nwindow   sessions requests epochs compactions degraded | repair  limit   trim  clear truncate compact | overflow invalid above wrote\n")
	for k, window := range windows {
		r := &rows[k]
		fmt.Fprintf(&b, "%-8d %8d %8d %6d %11d %8d | %6d %6d %6d %6d %8d %7d | %8d %7d %5d %5d\n", window, r.sessions, r.requests, r.epochs, r.compactions, r.degraded,
			r.edits[winnow.OpRepair], r.edits[winnow.OpLimit], r.edits[winnow.OpTrim], r.edits[winnow.OpClear], r.edits[winnow.OpTruncate], r.edits[winnow.OpCompact],
			r.overflows, r.invalid, r.above, r.wrote)
		assert.Empty(t, r.problems, "window %d", window)
		assert.NotZero(t, r.requests)
	}
	t.Log(b.String())
}
