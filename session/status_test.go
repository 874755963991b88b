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
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestStatusIsWhatTheLinesAddUpTo runs random programs. The status is the same, whether it is read from the end of the
// log, or added up line by line.
func TestStatusIsWhatTheLinesAddUpTo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	compactions, sums := 0, 0
	for seed := range times.Of(uint64(8)) {
		fsys := sessiontest.NewCrashFS()
		p := &program{t: t, random: rand.New(rand.NewPCG(seed, 7)), key: "k"}
		var err error
		p.store, err = sessiontest.OpenFiles(fsys, p.options())
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

// TestStatusSaysHowFullTheWindowIs: the tokens of the last request and the window are known after a restart too, and
// forgotten where nobody knows how large the next request is.
func TestStatusSaysHowFullTheWindowIs(t *testing.T) {
	dir := t.TempDir()
	window := 8_000
	opts := &session.Options{Manager: func(string) (int, *winnow.Options) {
		return window, &winnow.Options{Summarizer: winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			return "## Goal\nTo go on.", nil
		})}
	}}
	store, err := session.OpenDirectory(dir, opts)
	require.NoError(t, err)
	full := func() [2]int {
		reader, err := session.OpenDirectory(dir, nil) // another process, which knows no window
		require.NoError(t, err)
		st, err := reader.Status(t.Context(), "k")
		require.NoError(t, err)
		return [2]int{st.Counts.Tokens, st.Counts.Window}
	}
	billed := func(usage *winnow.Usage) session.Call {
		return func(context.Context, []winnow.Message) (winnow.Message, error) {
			m := answer("done")
			m.Usage = usage
			return m, nil
		}
	}
	s := open(t, store, "k")
	require.NoError(t, s.Append(t.Context(), session.User("hello")))
	assert.Equal(t, [2]int{}, full(), "no request was made")
	_, err = s.Do(t.Context(), billed(&winnow.Usage{Input: 100, CacheRead: 900, Output: 50}))
	require.NoError(t, err)
	assert.Equal(t, [2]int{1_000, 8_000}, full())

	require.NoError(t, s.Append(t.Context(), session.User("go on")))
	assert.Equal(t, [2]int{1_000, 8_000}, full(), "of the last request")
	_, err = s.Do(t.Context(), billed(nil))
	require.NoError(t, err)
	assert.Equal(t, [2]int{0, 8_000}, full(), "a provider that does not count")

	for range 6 {
		require.NoError(t, s.Append(t.Context(), session.User("go on"), answer(strings.Repeat("many words ", 500))))
	}
	r, err := s.Compact(t.Context(), "")
	require.NoError(t, err)
	require.NotNil(t, r.Compaction)
	assert.Equal(t, [2]int{r.Compaction.TokensAfter, 8_000}, full(), "what a compaction left")
	require.NoError(t, s.Close())

	window = 16_000
	s = open(t, store, "k")
	require.NoError(t, s.Append(t.Context(), session.User("go on")))
	_, err = s.Do(t.Context(), billed(&winnow.Usage{Input: 2_000}))
	require.NoError(t, err)
	assert.Equal(t, [2]int{2_000, 16_000}, full(), "another model")
	require.NoError(t, s.Reset(t.Context(), "asked", nil))
	require.NoError(t, s.Append(t.Context(), session.User("anew")))
	assert.Equal(t, [2]int{}, full(), "begun anew")
	require.NoError(t, s.Close())
}
