package adaptertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// Rounds lets a person ask 16 times about the weather, each time after a restart, in a window that this outgrows. Some
// rounds end in a compaction, and some go on in a fork.
func Rounds(t *testing.T, codec session.Codec, call session.Call) {
	t.Helper()
	ctx := t.Context()
	store, err := session.OpenDirectory(t.TempDir(), &session.Options{Codec: codec,
		Manager: func(string) (int, *winnow.Options) {
			return 6_000, &winnow.Options{FoldAbove: -1, Compact: &winnow.CompactOptions{KeepRecent: 400}}
		}})
	require.NoError(t, err)
	defer store.Close()
	key := "k"
	for round := range 16 {
		s, err := store.Open(ctx, key)
		require.NoError(t, err)
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("weather ", round, strings.Repeat(" please", 60)))))
		for {
			answer, err := s.Do(ctx, call)
			require.NoError(t, err)
			if len(answer.Calls()) == 0 {
				break
			}
			for _, c := range answer.Calls() {
				text := strings.Repeat(fmt.Sprintln("rain", round), 100)
				require.NoError(t, s.Append(ctx, session.Result(c.ID, c.Name, text)))
			}
		}
		if round%5 == 4 {
			_, err = s.Compact(ctx, "")
			require.NoError(t, err)
		}
		leaf := s.Leaf()
		require.NoError(t, s.Close())
		if round%6 == 5 {
			fork := fmt.Sprint("fork-", round)
			require.NoError(t, store.Fork(ctx, key, leaf, fork))
			key = fork
		}
	}
}
