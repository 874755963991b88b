package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// What leads a conversation stays in front of each summary. A session that was opened again goes on with the same
// bytes.
func TestSummaryStandsBehindWhatLeads(t *testing.T) {
	ctx := context.Background()
	pinned, listed := session.User("Answer in French."), session.User("Skills: deploy, test.")
	pinned.Pinned, listed.Injected = true, true
	late := session.User("Never push to main.")
	late.Pinned = true
	for _, front := range [][]winnow.Message{
		{}, {pinned}, {listed}, {{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "You are careful."}}}, pinned, listed},
	} {
		store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
			return 40_000, &winnow.Options{Compact: &winnow.CompactOptions{KeepRecent: 500}}
		}})
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, front...))
		for n := range 4 {
			for i := range 5 {
				text := fmt.Sprintf("question %d.%d %s", n, i, strings.Repeat("and more of it ", 60))
				require.NoError(t, s.Append(ctx, session.User(text), answer("done: "+text)))
			}
			require.NoError(t, s.Append(ctx, late, session.User("go on")))
			made, err := s.Compact(ctx, "")
			require.NoError(t, err)
			require.True(t, made.Messages[len(front)].Summary, n)
			assert.Equal(t, front, made.Messages[:len(front):len(front)])
			require.NoError(t, s.Close())
			s = open(t, store, "k")
			again, err := s.Prepare(ctx)
			require.NoError(t, err)
			assert.Equal(t, made.Messages, again.Messages)
			require.NoError(t, s.Append(ctx, answer("ok")))
		}
	}
}
