package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
)

// TestBatchFarFromTheEnd: a branch goes back to the first of two messages of the same length, far from the end of the
// log, and does not read the second one in its place.
func TestBatchFarFromTheEnd(t *testing.T) {
	ctx := context.Background()
	for _, seal := range []session.Sealer{nil, sealedWith("a")} {
		store := session.NewMemory(&session.Options{Seal: seal})
		s := open(t, store, "k")
		long := func(s string) string { return strings.Repeat(s, 150<<10) }
		require.NoError(t, s.Append(ctx, session.User("x")))
		require.NoError(t, s.Append(ctx, answer(long("a")), answer(long("b"))))
		require.NoError(t, s.Append(ctx, session.User(long("later"))))
		require.NoError(t, s.Rewind(ctx, s.View().IDs[1]))
		require.NoError(t, s.Append(ctx, session.User("another way")))
		require.NoError(t, s.Close())

		v, err := store.Read(ctx, "k")
		require.NoError(t, err)
		require.Len(t, v.History, 3)
		assert.Equal(t, "a", v.History[1].Parts[0].Text[:1])
	}
}
