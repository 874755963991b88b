package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestFullStateHoldsWhatOthersWroteMeanwhile: entries that are written beside the branch while a request writes a full
// state are still there after a reopening, although a reader looks for nothing before that state.
func TestFullStateHoldsWhatOthersWroteMeanwhile(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one"), answer("two")))
	id, title := s.View().IDs[0], "set meanwhile"
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	require.NoError(t, store.SetLabel(ctx, "k", id, "here"))
	require.NoError(t, store.AddUsage(ctx, "k", "m", winnow.Usage{Input: 7}))
	require.NoError(t, session.CompactTo(ctx, s, 1))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, title, *v.Info.Title)
	require.Equal(t, map[string]string{id: "here"}, v.Labels)
	require.Equal(t, 7, v.Counts.Usage.Input)
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	require.Equal(t, report.Entries, v.Counts.Entries)
}

// TestIdsOfOthersThatLookLikeOurs: an entry that somebody else wrote has the id that the next one would get.
func TestIdsOfOthersThatLookLikeOurs(t *testing.T) {
	ctx := context.Background()
	const header = `{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}` + "\n"
	for name, lines := range map[string]string{
		"on the branch":  `{"seq":2,"id":"e3","parentId":"e1","type":"message","message":{"role":"user","parts":[{"text":"x"}]}}`,
		"beside it":      `{"seq":2,"id":"e3","type":"custom"}`,
		"behind damage":  "no entry\n" + `{"seq":3,"id":"e4","type":"custom"}`,
		"a large number": `{"seq":2,"id":"e9007199254740993","type":"custom"}`,
	} {
		t.Run(name, func(t *testing.T) {
			backend := session.NewMemory(nil).Backend()
			begin(t, backend, header+lines+"\n")
			store := session.New(backend, nil)
			title := "title"
			require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("goes on")))
			want := texts(s.View())
			require.NoError(t, s.Close())
			v, err := store.Read(ctx, "k")
			require.NoError(t, err)
			require.Equal(t, want, texts(v))
			require.Contains(t, texts(v), "goes on")
			require.NotNil(t, v.Info.Title)
		})
	}
}

// TestNoNumberIsLeft: lines that no reader would accept are not acknowledged.
func TestNoNumberIsLeft(t *testing.T) {
	ctx := context.Background()
	for _, seq := range []string{"9007199254740992", "9007199254740993", "9223372036854775807"} {
		backend := session.NewMemory(nil).Backend()
		begin(t, backend, `{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}`+"\n"+
			`{"seq":`+seq+`,"id":"x","type":"custom"}`+"\n")
		store := session.New(backend, nil)
		s := open(t, store, "k")
		err := s.Append(ctx, session.User("goes on"))
		require.NoError(t, s.Close())
		v, readErr := store.Read(ctx, "k")
		require.NoError(t, readErr)
		if err != nil {
			require.ErrorIs(t, err, session.ErrFormat)
			require.Empty(t, v.History)
		} else {
			require.Equal(t, []string{"goes on"}, texts(v), seq)
		}
	}
}

// TestNoteThatIsNotJSON: the error says which note it is.
func TestNoteThatIsNotJSON(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	defer s.Close()
	require.NoError(t, s.Append(ctx, session.User("one")))
	require.ErrorContains(t, s.AddData(ctx, "plan", []byte("{")), `session: the data of "plan"`)
	require.ErrorContains(t, store.AddData(ctx, "k", "plan", []byte("{")), `session: the data of "plan"`)
}
