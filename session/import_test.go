package session_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

func entries(t *testing.T, store *session.Store, key string) (out []*entry.Entry) {
	for e, err := range store.Entries(context.Background(), key) {
		require.NoError(t, err)
		c := *e
		out = append(out, &c)
	}
	return out
}

// TestImport: the entries of a session make another one that holds the same, on all branches.
func TestImport(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s, err := store.Open(ctx, "from")
	require.NoError(t, err)
	require.NoError(t, s.Append(ctx, session.User("one"), session.User("bad \xff bytes"), session.User("three")))
	second := s.View().IDs[1]
	require.NoError(t, s.AddData(ctx, "todo", json.RawMessage(`{"a": 1}`)))
	changed := session.User("shorter")
	require.NoError(t, s.Edit(ctx, second, &changed, "too long"))
	require.NoError(t, session.CompactTo(ctx, s, 2))
	require.NoError(t, s.Inject(ctx, "reminder", true, session.User("It is late.")))
	leaf := s.Leaf()
	require.NoError(t, s.Append(ctx, session.User("another way")))
	require.NoError(t, s.Rewind(ctx, leaf))
	require.NoError(t, s.SummarizeBranch(ctx, leaf, "It led nowhere."))
	require.NoError(t, s.Close())
	title, pinned := "Title", true
	require.NoError(t, store.SetInfo(ctx, "from", session.Info{Title: &title, Pinned: &pinned}))
	require.NoError(t, store.SetLabel(ctx, "from", second, "here"))
	require.NoError(t, store.AddUsage(ctx, "from", "m", winnow.Usage{Input: 5}))
	require.NoError(t, store.AddData(ctx, "from", "beside", []byte(`"x"`)))

	require.NoError(t, upkeep.Import(ctx, store, "to", entries(t, store, "from")))
	want, err := store.Read(ctx, "from")
	require.NoError(t, err)
	got, err := store.Read(ctx, "to")
	require.NoError(t, err)
	assert.Equal(t, want.History, got.History)
	assert.Equal(t, want.IDs, got.IDs)
	assert.Equal(t, want.Labels, got.Labels)
	assert.Equal(t, want.Info, got.Info)
	want.Counts.Entries, got.Counts.Entries = 0, 0 // states are not imported
	assert.Equal(t, want.Counts, got.Counts)
	report, err := upkeep.Verify(ctx, store, "to")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)

	o, err := store.Open(ctx, "to")
	require.NoError(t, err)
	require.NoError(t, o.Append(ctx, session.User("and on")))
	require.NoError(t, o.Close())
	again := entries(t, store, "to")
	assert.Equal(t, "and on", again[len(again)-1].Message.Parts[0].Text)
	assert.ErrorIs(t, upkeep.Import(ctx, store, "to", again), session.ErrExists, "it has entries")
}

func TestImportOfWhatIsNoSession(t *testing.T) {
	ctx := context.Background()
	message := func(id, parent string) *entry.Entry {
		m := session.User(id)
		return &entry.Entry{ID: id, ParentID: parent, Type: entry.TypeMessage, Message: &m}
	}
	header := &entry.Entry{ID: "h", Type: entry.TypeSession}
	for _, tt := range []struct {
		why     string
		entries []*entry.Entry
		problem string
	}{
		{"no header", []*entry.Entry{message("a", ""), message("b", "a")}, ""},
		{"nothing but a header", []*entry.Entry{header}, ""},
		{"nothing", nil, ""},
		{"ids are given", []*entry.Entry{header, message("", "h"), message("e2", "h"), message("", "e2")}, ""},
		{"an id twice", []*entry.Entry{header, message("a", "h"), message("a", "h")}, "twice"},
		{"the header's id", []*entry.Entry{header, message("h", "h")}, "twice"},
		{"a parent that comes later", []*entry.Entry{header, message("a", "b"), message("b", "h")}, "does not stand before it"},
		{"a header in the middle", []*entry.Entry{header, {ID: "x", Type: entry.TypeSession}}, "a second header"},
		{"no room for numbers", []*entry.Entry{header, message("e9007199254740991", "h")}, "no number"},
		{"data that is not JSON", []*entry.Entry{header, {ID: "x", Type: entry.TypeCustom, Data: []byte("{")}}, "JSON"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			store := session.NewMemory(nil)
			err := upkeep.Import(ctx, store, "k", tt.entries)
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				_, err = store.Read(ctx, "k")
				assert.ErrorIs(t, err, session.ErrNotFound, "nothing of it is stored")
				return
			}
			require.NoError(t, err)
			v, err := store.Read(ctx, "k")
			require.NoError(t, err)
			assert.Empty(t, v.Damage)
			o, err := store.Open(ctx, "k")
			require.NoError(t, err)
			require.NoError(t, o.Append(ctx, session.User("on")))
			require.NoError(t, o.Close())
			v, err = store.Read(ctx, "k")
			require.NoError(t, err)
			assert.Empty(t, v.Damage)
			assert.Equal(t, "on", v.History[len(v.History)-1].Parts[0].Text)
		})
	}
}

// TestImportRedacts: redacted content is not stored, whatever kind of entry holds it.
func TestImportRedacts(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, &session.Options{AllowNetwork: true, Redact: func(m winnow.Message) (winnow.Message, error) {
		for i := range m.Parts {
			m.Parts[i].Text = strings.ReplaceAll(m.Parts[i].Text, "hunter2", "***")
		}
		return m, nil
	}})
	require.NoError(t, err)
	defer store.Close()
	m := session.User("the password is hunter2")
	raw := json.RawMessage(`{"text":"hunter2"}`)
	require.NoError(t, upkeep.Import(ctx, store, "k", []*entry.Entry{
		{ID: "h", Type: entry.TypeSession},
		{ID: "a", ParentID: "h", Type: entry.TypeMessage, Message: &m, Source: &entry.Source{Codec: "c", Data: raw}},
		{ID: "b", Type: entry.TypeCustom, Name: "line", Data: raw},
		{ID: "c", ParentID: "a", Type: entry.TypeCompaction, Summary: "it was hunter2"},
		{ID: "d", ParentID: "c", Type: entry.TypeBranchSummary, Summary: "hunter2 again"},
	}))
	assert.Equal(t, "the password is hunter2", m.Parts[0].Text, "what was passed in stays")
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		assert.NotContains(t, string(text), "hunter2", path)
		return err
	}))
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, "it was ***", v.History[0].Parts[0].Text)
}
