package session_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// TestForkWhereTheFirstKeptMessageIsLeftOut: a compaction refers to a message that was left out later, and that a fork
// therefore does not copy. What the compaction kept behind it stays.
func TestForkWhereTheFirstKeptMessageIsLeftOut(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one"), answer("two"), session.User("three"), answer("four"),
		session.User("five"), answer("six")))
	require.NoError(t, session.CompactTo(ctx, s, 4))
	v := s.View()
	require.NoError(t, s.Edit(ctx, v.IDs[1], nil, "wrong"))
	want := texts(s.View())
	require.NoError(t, s.Close())
	require.Equal(t, []string{"what was before", "four", "five", "six"}, want)

	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	v, err := store.Read(ctx, "fork")
	require.NoError(t, err)
	require.Equal(t, want, texts(v))
}

// TestForkBehindAnOlderCompaction goes back, in a fork, to before the newest compaction: what was copied is there.
func TestForkBehindAnOlderCompaction(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one"), answer("two"), session.User("three"), answer("four")))
	require.NoError(t, session.CompactTo(ctx, s, 3))
	require.NoError(t, s.Append(ctx, session.User("five")))
	before := s.Leaf()
	require.NoError(t, s.Append(ctx, answer("six")))
	require.NoError(t, session.CompactTo(ctx, s, 4))
	require.NoError(t, s.Close())

	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	f := open(t, store, "fork")
	defer f.Close()
	require.Equal(t, []string{"what was before", "three", "four", "five", "six"}, texts(f.View()))
	require.NoError(t, f.Rewind(ctx, before))
	require.Equal(t, []string{"what was before", "three", "four", "five"}, texts(f.View()))
}

// TestForkSaysTheSameWithAndWithoutAFullState: the title is the source's own, labels stay with their entries, and the
// counts are of what was copied.
func TestForkSaysTheSameWithAndWithoutAFullState(t *testing.T) {
	ctx := context.Background()
	title, yes := "of the source", true
	var views []*session.View
	for _, full := range []bool{false, true} {
		store := session.NewMemory(nil)
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User("one"), answer("two")))
		require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title, Pinned: &yes}))
		require.NoError(t, store.SetLabel(ctx, "k", s.View().IDs[0], "here"))
		if full {
			require.NoError(t, session.CompactTo(ctx, s, 2))
		}
		require.NoError(t, s.Append(ctx, session.User("three")))
		require.NoError(t, s.Close())
		require.NoError(t, store.Fork(ctx, "k", "", "fork"))
		v, err := store.Read(ctx, "fork")
		require.NoError(t, err)
		require.Equal(t, 3, v.Counts.Messages[winnow.RoleUser]+v.Counts.Messages[winnow.RoleAssistant])
		report, err := store.Verify(ctx, "fork")
		require.NoError(t, err)
		require.Equal(t, report.Entries, v.Counts.Entries)
		views = append(views, v)
	}
	for _, v := range views {
		require.Equal(t, session.Info{}, v.Info)
		require.Len(t, v.Labels, 1)
		require.Equal(t, "here", v.Labels[v.IDs[len(v.IDs)-3]])
	}
}

func TestForksOfLongKeysAreListed(t *testing.T) {
	ctx := context.Background()
	store, err := session.OpenDirectory(t.TempDir(), nil)
	require.NoError(t, err)
	a, b := strings.Repeat("\x02", 1024), strings.Repeat("\x01", 1024) // six bytes of JSON each
	s := open(t, store, a)
	require.NoError(t, s.Append(ctx, session.User("one")))
	require.NoError(t, s.Close())
	require.NoError(t, store.Fork(ctx, a, "", b))
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{a, b}, keys)
}

// TestInterruptedAfterAHostsMessage: a message that the host puts after an answer is not a question.
func TestInterruptedAfterAHostsMessage(t *testing.T) {
	ctx := context.Background()
	s := open(t, session.NewMemory(nil), "k")
	defer s.Close()
	require.NoError(t, s.Append(ctx, session.User("one"), answer("two")))
	require.NoError(t, s.SummarizeBranch(ctx, "", "another way was tried"))
	require.Nil(t, s.Interrupted())
	require.NoError(t, s.Append(ctx, session.User("three")))
	require.NoError(t, s.SummarizeBranch(ctx, "", "and another"))
	require.Equal(t, &session.Interruption{Unanswered: true}, s.Interrupted())
}

// TestOntoEntries: a fork or an import onto a session with entries fails with ErrExists. It is not ErrConflict, because
// nobody else wrote to the session and opening it again would not help.
func TestOntoEntries(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	for _, key := range []string{"a", "b"} {
		s := open(t, store, key)
		require.NoError(t, s.Append(ctx, session.User("hello")))
		require.NoError(t, s.Close())
	}
	entries := []*session.Entry{{Type: session.TypeMessage, Message: new(session.User("hello"))}}
	for _, err := range []error{store.Fork(ctx, "a", "", "b"), store.Import(ctx, "b", entries)} {
		require.ErrorIs(t, err, session.ErrExists)
		require.NotErrorIs(t, err, session.ErrConflict)
		require.EqualError(t, err, `session: the session has entries already: "b"`)
	}
}

// TestForkMemory: a fork holds the new log in memory once, and no decoded copy of its entries.
func TestForkMemory(t *testing.T) {
	ctx := context.Background()
	const entries, long = 64, 256 << 10
	store, err := session.OpenDirectory(t.TempDir(), &session.Options{Durability: session.OS})
	require.NoError(t, err)
	s := open(t, store, "k")
	for range entries {
		require.NoError(t, s.Append(ctx, session.User(strings.Repeat("x", long))))
	}
	require.NoError(t, s.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	runtime.ReadMemStats(&after)
	copies := float64(after.TotalAlloc-before.TotalAlloc) / (entries * long)
	t.Logf("%.1f bytes for each byte of the session", copies)
	require.Less(t, copies, 6.0, "read, decoded, written, and read by the session that was made")
}
