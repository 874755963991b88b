package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestStatusIsWhatTheLinesAddUpTo runs random programs. The status is the same, whether it is read from the end of the
// log, from the catalog, or added up line by line.
func TestStatusIsWhatTheLinesAddUpTo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	compactions, sums := 0, 0
	for seed := range uint64(30) {
		fsys := sessiontest.NewCrashFS()
		p := &program{t: t, random: rand.New(rand.NewPCG(seed, 7)), key: "k"}
		var err error
		p.store, err = session.OpenFiles(fsys, p.options())
		require.NoError(t, err)
		for n := range 120 {
			require.NoError(t, p.step(ctx))
			if n%10 != 9 {
				continue
			}
			requireListed(t, p.store, nil, fmt.Sprint("program ", seed, ", step ", n))
			st, err := p.store.Status(ctx, "k")
			if errors.Is(err, session.ErrNotFound) {
				continue
			}
			require.NoError(t, err)
			added := session.Status{Key: "k", Log: st.Log, Open: st.Open}
			added.Counts.Messages = map[winnow.Role]int{}
			added.Add(readStored(t, fsys, p.store, "k").raw)
			require.Equal(t, *st, added, "program %d, step %d", seed, n)
			compactions += st.Counts.Compactions
			for _, text := range readStored(t, fsys, p.store, "k").entries {
				sums += strings.Count(text, `"type":"status"`)
			}
		}
	}
	require.Positive(t, compactions, "nothing was compacted: the test shows less than it says")
	require.Positive(t, sums, "no session left a status: the test shows less than it says")
}

// TestFlushesAreCounted: each run of BeforeCompact is counted once, also over a restart; and each compaction is, by
// its kind.
func TestFlushesAreCounted(t *testing.T) {
	flushes := 0
	dir := t.TempDir()
	opts := &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{
			Compact: &winnow.CompactOptions{BeforeCompact: func(context.Context, []winnow.Message) error {
				flushes++
				return nil
			}},
		}
	}}
	store, err := session.OpenDirectory(dir, opts)
	require.NoError(t, err)
	for n := range 40 {
		s := open(t, store, "k")
		require.NoError(t, s.Append(t.Context(), session.User(fmt.Sprint("question ", n, strings.Repeat(" words", 150)))))
		_, err := s.Do(t.Context(), echo)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		st, err := store.Status(t.Context(), "k")
		require.NoError(t, err)
		assert.Equal(t, flushes, st.Counts.Flushes, "turn %d", n)
		assert.Equal(t, st.Counts.Compactions, st.Counts.Degraded, "there is no model that summarizes")
	}
	require.Greater(t, flushes, 1, "there was no flush: the test shows nothing")
}
