package session_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

func answer(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}
}

func call(id, tool string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: []byte(`{"a": 1}`)}}}
}

// echo is a model that says how many messages it got.
func echo(_ context.Context, m []winnow.Message) (winnow.Message, error) {
	return answer(fmt.Sprintf("%d messages", len(m))), nil
}

func open(t *testing.T, store *session.Store, key string) *session.Session {
	t.Helper()
	s, err := store.Open(context.Background(), key)
	require.NoError(t, err)
	return s
}

// begin makes a log of "k" with these lines.
func begin(t *testing.T, backend backend.Backend, lines string) {
	t.Helper()
	ctx := context.Background()
	turn, err := backend.Turn(ctx, "k")
	require.NoError(t, err)
	log, err := turn.Next(ctx, []byte(lines))
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.NoError(t, turn.Release())
}

func TestSessionGoesOnAfterAReopening(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for n := range 5 {
		store, err := session.OpenDirectory(dir, nil)
		require.NoError(t, err)
		s := open(t, store, "a/B")
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprintf("question %d", n))))
		a, err := s.Do(ctx, echo)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("%d messages", 2*n+1), a.Text())
		require.NoError(t, s.Close())
		report, err := upkeep.Verify(ctx, store, "a/B")
		require.NoError(t, err)
		assert.Empty(t, report.Damage)
		keys, err := store.Keys(ctx)
		require.NoError(t, err)
		assert.Equal(t, []string{"a/B"}, keys)
		require.NoError(t, store.Close())
	}
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	v, err := store.Read(ctx, "a/B")
	require.NoError(t, err)
	assert.Len(t, v.History, 10)
	assert.Equal(t, 5, v.Counts.Turns)
}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	m := winnow.Message{
		ID: "x", Role: winnow.RoleAssistant, StopReason: "stop", Usage: &winnow.Usage{Input: 3},
		Parts: []winnow.Part{
			{Text: "<b>\u2028 \xff\xfe"},
			{Kind: winnow.KindToolCall, ID: "1", Name: "t", Arguments: []byte("{\n \"a\" : \"<\" }")},
			{Kind: winnow.KindToolCall, ID: "2", Name: "t", Arguments: []byte(`{"a": `)},
			{Kind: winnow.KindToolCall, ID: "3", Name: "t", Arguments: []byte(`null`)},
			{Kind: winnow.KindThinking, Text: "hm", Signature: "sig"},
		},
	}
	require.NoError(t, s.Append(ctx, m))
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, []winnow.Message{m}, v.History)
}

// FuzzMessages: whatever texts and arguments a message has, it comes back to the byte, from a log that is read by
// lines.
func FuzzMessages(f *testing.F) {
	f.Add("plain", `{"a":1}`, "id")
	f.Add("\xff\x00\u2028<&>\r\n", "{\n \"a\" : [1e3,null] }", "\"")
	f.Add("", `{"a":`, "\x7f")
	f.Fuzz(func(t *testing.T, text, arguments, id string) {
		ctx := context.Background()
		store := session.NewMemory(nil)
		s := open(t, store, "k")
		m := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
			{Text: text}, {Kind: winnow.KindThinking, Text: text, Signature: "s"},
			{Kind: winnow.KindToolCall, ID: strings.ToValidUTF8(id, "?"), Name: "t", Arguments: []byte(arguments)},
		}}
		if arguments == "" {
			m.Parts[2].Arguments = nil
		}
		text += "|" // what a person says is not blank
		require.NoError(t, s.Append(ctx, m, session.User(text)))
		require.NoError(t, s.Close())
		v, err := store.Read(ctx, "k")
		require.NoError(t, err)
		require.Empty(t, v.Damage)
		require.Equal(t, []winnow.Message{m, session.User(text)}, v.History)
	})
}

func TestCompactionRefersToMessages(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) { return 8_000, nil }})
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "be brief"}}}))
	compactions := 0
	for n := range 60 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprintf("question %d %s", n, strings.Repeat("words and more words ", 40)))))
		a, err := s.Do(ctx, echo)
		require.NoError(t, err)
		if a.Request.Compaction != nil {
			compactions++
		}
		before := s.View()
		require.NoError(t, s.Close())
		s = open(t, store, "k")
		assert.Equal(t, before, s.View())
	}
	assert.Greater(t, compactions, 1)
	assert.Equal(t, compactions, s.View().Counts.Compactions)
	report, err := upkeep.Verify(ctx, store, "k")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)
	t.Log(compactions, report.Bytes, len(s.View().History))
}

func TestRewindResetForkEdit(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("one")))
	one := s.Leaf()
	require.NoError(t, s.Append(ctx, answer("two"), session.User("three")))
	three := s.Leaf()
	require.NoError(t, s.Rewind(ctx, one))
	require.NoError(t, s.Append(ctx, answer("other")))
	assert.Equal(t, []string{"one", "other"}, texts(s.View()))
	require.NoError(t, s.Rewind(ctx, three))
	assert.Equal(t, []string{"one", "two", "three"}, texts(s.View()))
	m := session.User("1")
	require.NoError(t, s.Edit(ctx, one, &m, "test"))
	assert.Equal(t, []string{"1", "two", "three"}, texts(s.View()))
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	f := open(t, store, "fork")
	assert.Equal(t, []string{"1", "two", "three"}, texts(f.View()))
	require.NoError(t, f.Append(ctx, answer("four")))
	require.NoError(t, f.Close())
	f = open(t, store, "fork")
	assert.Equal(t, []string{"1", "two", "three", "four"}, texts(f.View()))
	require.NoError(t, s.Reset(ctx, "new", nil))
	assert.Empty(t, s.View().History)
	require.NoError(t, s.Append(ctx, session.User("again")))
	require.NoError(t, s.Close())
	s = open(t, store, "k")
	assert.Equal(t, []string{"again"}, texts(s.View()))
	for _, key := range []string{"k", "fork"} {
		report, err := upkeep.Verify(ctx, store, key)
		require.NoError(t, err)
		assert.Empty(t, report.Damage)
	}
	title := "T"
	require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
	require.NoError(t, s.Append(ctx, answer("and again")))
	assert.Equal(t, &title, s.View().Info.Title)
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, &title, v.Info.Title)
	assert.Equal(t, []string{"again", "and again"}, texts(v))
}

func texts(v *session.View) (out []string) {
	for _, m := range v.History {
		text := ""
		for _, p := range m.Parts {
			text += p.Text
		}
		out = append(out, text)
	}
	return out
}

// TestHostsMayAppendWhileARequestIsMade: the hook before a compaction writes to the session.
func TestHostsMayAppendWhileARequestIsMade(t *testing.T) {
	ctx := context.Background()
	var s *session.Session
	flushes := 0
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{Compact: &winnow.CompactOptions{BeforeCompact: func(ctx context.Context, _ []winnow.Message) error {
			flushes++
			return s.Inject(ctx, "memory", true, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "flushed"}}})
		}}}
	}})
	s = open(t, store, "k")
	for n := range 30 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("question ", n, strings.Repeat(" words", 100)))))
		_, err := s.Do(ctx, echo)
		require.NoError(t, err)
	}
	require.Positive(t, flushes)
	want := s.View()
	require.Positive(t, want.Counts.Compactions)
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, want, v)
}

// TestForkAndRewindAcrossACompaction looks at both sides of a compaction: a fork sees what its origin sees and makes
// the same request, and a branch that begins before the compaction has the messages that it replaced.
func TestForkAndRewindAcrossACompaction(t *testing.T) {
	ctx := context.Background()
	now := time.Unix(1_700_000_000, 0)
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{Now: func() time.Time { return now }}
	}})
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "be brief"}}}))
	var before *session.View
	for before == nil || s.View().Counts.Compactions == 0 {
		before = s.View()
		require.NoError(t, s.Append(ctx, session.User("question"+strings.Repeat(" words", 100))))
		_, err := s.Do(ctx, echo)
		require.NoError(t, err)
	}
	require.NoError(t, s.Append(ctx, session.User("and then?")))
	after := s.View()
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	f := open(t, store, "fork")
	assert.Equal(t, after.History, f.View().History)
	assert.Equal(t, after.IDs, f.View().IDs)
	want, err := s.Prepare(ctx)
	require.NoError(t, err)
	got, err := f.Prepare(ctx)
	require.NoError(t, err)
	assert.Equal(t, want.Messages, got.Messages)
	require.NoError(t, f.Append(ctx, answer("this")))
	require.NoError(t, f.Close())
	report, err := upkeep.Verify(ctx, store, "fork")
	require.NoError(t, err)
	assert.Empty(t, report.Damage)

	require.NoError(t, s.Rewind(ctx, before.Leaf))
	assert.Equal(t, before.History, s.View().History)
	_, err = s.Do(ctx, echo)
	require.NoError(t, err)
	want2 := s.View()
	require.NoError(t, s.Close())
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, want2, v)
}

// TestLogOfAnotherFormat: a log that a newer version wrote in a format of its own is not misread, copied into a log of
// this version, or written to. Other sessions of the store are not concerned.
func TestLogOfAnotherFormat(t *testing.T) {
	ctx := context.Background()
	backend := session.NewMemory(nil).Backend()
	const log = `{"seq":1,"id":"e1","type":"session","format":2,"key":"k"}` + "\n" +
		`{"seq":2,"id":"e2","parentId":"e1","type":"message","message":{"role":"user","parts":[{"text":"x"}]}}` + "\n"
	begin(t, backend, log)
	store := session.New(backend, nil)
	other := open(t, store, "other")
	require.NoError(t, other.Append(ctx, session.User("mine")))
	require.NoError(t, other.Close())
	for what, call := range map[string]func() error{
		"open":    func() error { _, err := store.Open(ctx, "k"); return err },
		"read":    func() error { _, err := store.Read(ctx, "k"); return err },
		"verify":  func() error { _, err := upkeep.Verify(ctx, store, "k"); return err },
		"entries": func() error { return errorOf(store.Entries(ctx, "k")) },
		"fork":    func() error { return store.Fork(ctx, "k", "", "fork") },
		"erase":   func() error { _, err := upkeep.EraseEntries(ctx, store, "k", "", "e2"); return err },
		"title":   func() error { return store.SetInfo(ctx, "k", session.Info{}) },
		"label":   func() error { return store.SetLabel(ctx, "k", "e2", "here") },
		"note":    func() error { return store.AddData(ctx, "k", "name", []byte("1")) },
		"usage":   func() error { return store.AddUsage(ctx, "k", "", winnow.Usage{}) },
	} {
		require.ErrorIs(t, call(), session.ErrFormat, what)
	}
	page, err := store.List(ctx, session.Query{})
	require.NoError(t, err)
	require.Len(t, page.Sessions, 2)
	_, err = upkeep.MakePlan(ctx, store, *upkeep.ReferenceMaintenance())
	require.NoError(t, err)

	to := session.NewMemory(nil)
	require.NoError(t, upkeep.Copy(ctx, store, to, "k"), "byte for byte")
	for _, s := range []*session.Store{store, to} {
		for name, text := range logsOf(t, s, "") {
			if strings.HasPrefix(name, "k ") {
				require.Equal(t, log, text)
			}
		}
	}
}

// errorOf returns the error with which entries end.
func errorOf(entries iter.Seq2[*entry.Entry, error]) error {
	for _, err := range entries {
		if err != nil {
			return err
		}
	}
	return nil
}
