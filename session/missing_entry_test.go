package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
)

// TestMissingEntries: a label or a summary of a branch names an entry that is there. Otherwise nothing is written, so
// that a mistyped id is noticed.
func TestMissingEntries(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		entry  string
		want   error
		reason string
	}{
		{"e2", nil, "a message of the branch"},
		{"e3", nil, "one of an abandoned branch"},
		{"e4", session.ErrNotFound, "an entry beside the branches"},
		{"e99", session.ErrNotFound, "no entry has this id"},
		{"2", session.ErrNotFound, "an id in the form of another program"},
	} {
		store := session.NewMemory(nil)
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User("one"), answer("two")))
		title := "t"
		require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
		require.NoError(t, s.Rewind(ctx, "e2"))
		label, summary := store.SetLabel(ctx, "k", c.entry, "here"), s.SummarizeBranch(ctx, c.entry, "left")
		if c.want == nil {
			assert.NoError(t, label, c.reason)
			assert.NoError(t, summary, c.reason)
			continue
		}
		assert.ErrorIs(t, label, c.want, c.reason)
		assert.ErrorIs(t, summary, c.want, c.reason)
		assert.NoError(t, store.SetLabel(ctx, "k", c.entry, ""), "a label that an import kept can be removed")
		assert.NoError(t, s.Append(ctx, session.User("goes on")), "the session stays usable")
	}
}

// TestNoLabelOfAHeader: a branch can begin at the header, but there is nothing that a label could name.
func TestNoLabelOfAHeader(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	assert.ErrorIs(t, store.SetLabel(ctx, "k", "", "here"), session.ErrNotFound, "before the first message")
	require.NoError(t, s.Append(ctx, session.User("one"), answer("two")))
	for _, header := range []string{"", "e1"} {
		assert.ErrorIs(t, store.SetLabel(ctx, "k", header, "here"), session.ErrNotFound, "%q", header)
	}
	assert.Empty(t, s.View().Labels)
	require.NoError(t, s.Rewind(ctx, ""), "the beginning can be gone back to")
}
