package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

// FuzzErase erases an entry in a log of any bytes: the log keeps its length except for the line at its end, all other
// entries are there in their order, and nothing but whole entries.
func FuzzErase(f *testing.F) {
	const header = `{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}` + "\n"
	for _, lines := range []string{
		`{"seq":2,"id":"e2","parentId":"e1","type":"message","message":{"role":"user","parts":[{"text":"a"}]}}` + "\n" +
			`{"seq":3,"id":"e3","parentId":"e2","type":"edit","target":"e2","message":{"role":"user","parts":[{"text":"b"}]}}` + "\n",
		`{"seq":2,"id":"e2","parentId":"e1","type":"compaction","summary":"s","firstKept":{"id":"e1","at":0}}` + "\r\n\x00\x00" +
			`{"seq":3,"id":"e3","type":"label","target":"e2","label":"l"}`,
		`{"seq":2,"id":"e2","parentId":"e9","type":"state","full":{"info":{"title":"t"},"labels":{"e2":"l"},"state":1}}` + "\nno line\n" +
			`{"seq":3,"id":"e3","type":"info","info":{"title":"t"}}` + "\n",
		`{"seq":2,"id":"e\u0032","parentId":"e1","type":"reset","reason":"<&>"}` + "\n",
		"\xef\xbb\xbf" + `{"seq":2,"id":"e2","parentId":"e1","type":"custom","data":"d","crc":"00000000"}` + `{"seq":3,"id":"x","type":"custom"}`,
	} {
		f.Add([]byte(header+lines), uint(0))
		f.Add([]byte(header+lines), uint(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint) {
		ctx := context.Background()
		backend := session.NewMemory(nil).Backend()
		begin(t, backend, string(data))
		store := session.New(backend, nil)
		ids := func() (all []string) {
			seen := map[string]bool{}
			for e, err := range store.Entries(ctx, "k") {
				require.NoError(t, err)
				if !seen[e.ID] && e.Type != entry.TypeSession { // the first counts that has an id
					all = append(all, e.ID)
				}
				seen[e.ID] = true
			}
			return all
		}
		before := ids()
		if len(before) == 0 {
			return
		}
		id := before[n%uint(len(before))]
		r, err := upkeep.EraseEntries(ctx, store, "k", "", id)
		if err != nil {
			known := slices.ContainsFunc([]error{session.ErrNotFound, session.ErrTooLarge, session.ErrFormat},
				func(target error) bool { return errors.Is(err, target) })
			require.True(t, known, err)
			require.Equal(t, before, ids(), "nothing was changed")
			return
		}
		require.Equal(t, []string{id}, r.Entries)
		after := ids()
		require.GreaterOrEqual(t, len(after), len(before))
		require.Equal(t, before, after[:len(before)])
		for _, text := range logsOf(t, store, "k") {
			require.GreaterOrEqual(t, len(text), len(data))
			require.True(t, len(text) == len(data) || strings.HasSuffix(text, "\n"))
		}
		again, err := upkeep.EraseEntries(ctx, store, "k", "", id)
		require.NoError(t, err)
		require.Equal(t, []string{id}, again.Entries)
	})
}
