package transcript_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestExportOfErased: what was erased keeps its place in a file of pi, on a branch or beside it.
func TestExportOfErased(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory(nil)
	s, err := store.Open(ctx, "k")
	require.NoError(t, err)
	yes := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "yes"}}}
	require.NoError(t, s.Append(ctx, session.User("first"), yes, session.User("secret"), yes))
	ids := s.View().IDs
	require.NoError(t, s.Close())
	require.NoError(t, store.SetLabel(ctx, "k", ids[2], "of the secret"))
	r, err := upkeep.EraseEntries(ctx, store, "k", "", ids[2])
	require.NoError(t, err)
	require.NotEmpty(t, r.With, "the label was erased too")

	back, err := transcript.Parse(export(t, store, "k"))
	require.NoError(t, err)
	require.NoError(t, upkeep.Import(ctx, store, "again", back.Entries))
	assert.Equal(t, entriesOf(t, store, "k"), entriesOf(t, store, "again"))
	v, err := store.Read(ctx, "again")
	require.NoError(t, err)
	assert.Equal(t, ids, v.IDs)
	assert.Equal(t, "u:first a:yes u:[erased] a:yes", shorten(v.History))
}
