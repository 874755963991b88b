package session_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
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
		report, err := upkeep.Verify(ctx, store, "fork")
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
	entries := []*entry.Entry{{Type: entry.TypeMessage, Message: new(session.User("hello"))}}
	for _, err := range []error{store.Fork(ctx, "a", "", "b"), upkeep.Import(ctx, store, "b", entries)} {
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

// TestForkKeepsWhatANewerVersionWrote: members that this version does not know, at the top and inside of a message, and
// entries of an unknown type. What says where an entry lies or counts is of the fork.
func TestForkKeepsWhatANewerVersionWrote(t *testing.T) {
	ctx := context.Background()
	lines := `{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}
{"seq":2,"id":"e2","parentId":"e1","type":"message","time":"2026-01-02T03:04:05Z","mood":"A","message":{"role":"user","parts":[{"text":"one","tone":"B"}]}}
{"seq":3,"id":"e3","parentId":"e2","type":"thought","time":"2026-01-02T03:04:05Z","text":"C","why":{"deep":["D"]}}
{ "seq":4, "id":"e4", "parentId":"e3", "type":"message", "mood":"E", "message":{"role":"assistant","parts":[{"text":"two","tone":"F"}]} }
{"seq":5,"id":"e5","parentId":"e4","type":"edit","time":"2026-01-02T03:04:05Z","target":"e2","editor":"G","message":{"role":"user","parts":[{"text":"ONE"}]}}
{"seq":6,"id":"e6","parentId":"e5","type":"compaction","time":"2026-01-02T03:04:05Z","summary":"before","firstKept":{"id":"e4","at":999},"judge":"H"}
{"seq":7,"id":"e7","parentId":"e6","type":"state","time":"2026-01-02T03:04:05Z","full":{"counters":{"entries":99}},"mind":"I"}
{"seq":8,"id":"e8","parentId":"e7","type":"message","time":"2026-01-02T03:04:05Z","message":{"role":"user","parts":[{"text":"three"}],"tone":"J"},"mood":"K"}`
	lines = strings.Replace(lines, `"at":999`, fmt.Sprintf(`"at":%d`, strings.Index(lines, `{ "seq":4`)), 1)
	for _, seal := range []session.Sealer{nil, openSealer{}} {
		backend := session.NewMemory(nil).Backend()
		begin(t, backend, lines)
		store := session.New(backend, &session.Options{Seal: seal})
		want, err := store.Read(ctx, "k")
		require.NoError(t, err)
		require.NoError(t, store.Fork(ctx, "k", "e5", "before"))
		require.NoError(t, store.Fork(ctx, "before", "", "again")) // opens what the first fork sealed
		require.NoError(t, store.Fork(ctx, "k", "", "fork"))

		got, err := store.Read(ctx, "fork")
		require.NoError(t, err)
		require.Equal(t, texts(want), texts(got))
		require.NotEqual(t, 99, got.Counts.Entries)
		for _, key := range []string{"fork", "again"} {
			report, err := upkeep.Verify(ctx, store, key)
			require.NoError(t, err)
			require.Empty(t, report.Damage)
			text := ""
			for log, lines := range logsOf(t, store, key) {
				if strings.HasPrefix(log, key+" ") {
					text = openedText(lines)
				}
			}
			kept := `"mood":"E" "tone":"F" "editor":"G" "judge":"H" "mind":"I" "tone":"J" "mood":"K"`
			if key == "again" {
				kept = `"mood":"A" "tone":"B" "text":"C" "deep":["D"] "mood":"E" "tone":"F" "editor":"G"`
			}
			for _, member := range strings.Fields(kept) {
				require.Contains(t, text, member, "%s, sealed: %v", key, seal != nil)
			}
		}
	}
}

// openSealer seals nothing, so that a test can read what it would seal.
type openSealer struct{}

func (openSealer) Current() (string, error)                               { return "1", nil }
func (openSealer) Seal(_ string, text, _ []byte) ([]byte, error)          { return bytes.Clone(text), nil }
func (openSealer) Open(_ string, sealed, _ []byte) (text []byte, _ error) { return sealed, nil }

// openedText returns the text of a log with what openSealer sealed.
func openedText(log string) string {
	return regexp.MustCompile(`"payload":"[^"]*"`).ReplaceAllStringFunc(log, func(member string) string {
		text, _ := base64.StdEncoding.DecodeString(strings.Split(member, `"`)[3])
		return string(text)
	})
}

// TestForkOfAnImportedSession: imported entries keep their ids, and the numbers in them can be higher than those of the
// lines. What is new in a fork gets ids that no copied entry has.
func TestForkOfAnImportedSession(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		reason string
		ids    []string
		label  bool
	}{
		{"a label would get the id of the second message", []string{"e2", "e5", "e4"}, true},
		{"what is written beside the branch would get it", []string{"e2", "e5", "e4"}, false},
		{"so would what is written beside the imported branch", []string{"e2", "e9", "e4"}, false},
		{"the header would get the id of a message", []string{"e2", "e1", "e7"}, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			store := session.NewMemory(nil)
			var entries []*entry.Entry
			parent := ""
			for _, id := range c.ids {
				m := session.User("message " + id)
				entries = append(entries, &entry.Entry{ID: id, ParentID: parent, Type: entry.TypeMessage, Message: &m})
				parent = id
			}
			if c.label {
				entries = append(entries, &entry.Entry{Type: entry.TypeLabel, Target: c.ids[0], Label: "first"})
			}
			require.NoError(t, upkeep.Import(ctx, store, "k", entries))
			require.NoError(t, store.Fork(ctx, "k", c.ids[2], "fork"))
			for _, key := range []string{"k", "fork"} {
				for range 6 {
					require.NoError(t, store.AddData(ctx, key, "beside", []byte("1")))
				}
				seen := map[string]bool{}
				for e, err := range store.Entries(ctx, key) {
					require.NoError(t, err)
					require.False(t, seen[e.ID], "%s: the id %s is there twice", key, e.ID)
					seen[e.ID] = true
				}
			}
			v, err := store.Read(ctx, "fork")
			require.NoError(t, err)
			require.Equal(t, c.ids, v.IDs)
			require.Equal(t, c.label, v.Labels[c.ids[0]] == "first")
			_, err = upkeep.EraseEntries(ctx, store, "fork", "", c.ids[1])
			require.NoError(t, err)
			require.Equal(t, []string{"message " + c.ids[0], "[erased]", "message " + c.ids[2]}, heard(t, store, "fork"))
		})
	}
}
