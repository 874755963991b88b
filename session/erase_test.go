package session_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// filesOf returns all files of a store by name, archives as they are and unpacked.
func filesOf(t testing.TB, fsys *sessiontest.CrashFS) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	var walk func(dir string)
	walk = func(dir string) {
		names, err := fsys.List(dir)
		require.NoError(t, err)
		for _, name := range names {
			path := strings.TrimPrefix(dir+"/"+name, "./")
			if is, err := fsys.IsDir(path); err == nil && is {
				walk(path)
				continue
			}
			text, err := fsys.ReadFile(path)
			require.NoError(t, err)
			found[path] = text
			if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
				if text, err = io.ReadAll(z); err == nil {
					found[path+" unpacked"] = text
				}
			}
		}
	}
	walk(".")
	return found
}

// requireNowhere wants none of the texts in any file, in whichever form a line may have it.
func requireNowhere(t testing.TB, fsys *sessiontest.CrashFS, why string, secrets ...string) {
	t.Helper()
	for name, text := range filesOf(t, fsys) {
		for _, secret := range secrets {
			quoted, err := json.Marshal(secret)
			require.NoError(t, err)
			for _, form := range []string{secret, strings.Trim(string(quoted), `"`), b64(secret)} {
				require.False(t, bytes.Contains(text, []byte(form)), "%s: %q is in %s", why, secret, name)
			}
		}
	}
}

func b64(s string) string { // as in JSON; the last character may depend on what follows
	text, _ := json.Marshal([]byte(s))
	return strings.TrimRight(strings.Trim(string(text), `"`), "=")
}

func requireSomewhere(t testing.TB, fsys *sessiontest.CrashFS, texts ...string) {
	t.Helper()
	for _, want := range texts {
		found := false
		for _, text := range filesOf(t, fsys) {
			found = found || bytes.Contains(text, []byte(want))
		}
		require.True(t, found, "%q is in no file", want)
	}
}

const secret = "the number of the account is 4711-0815, \"quoted\" \u00fc\nand a second line"

// quoting is a summarizer that repeats what it summarizes.
func quoting(_ context.Context, req winnow.SummaryRequest) (string, error) {
	var b strings.Builder
	b.WriteString("Summary. ")
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if strings.Contains(p.Text, "4711-0815") {
				b.WriteString(p.Text)
			}
		}
	}
	return b.String(), nil
}

func quotingOptions() *session.Options {
	return &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{Summarizer: winnow.SummarizerFunc(quoting)}
	}}
}

func entryWith(t testing.TB, store *session.Store, key, text string) (id string) {
	t.Helper()
	require.NoError(t, store.Entries(context.Background(), key, func(e *session.Entry) error {
		if e.Type == session.TypeMessage && e.Message != nil {
			for _, p := range e.Message.Parts {
				if strings.Contains(p.Text, text) || strings.Contains(string(p.Arguments), text) {
					id = e.ID
				}
			}
		}
		return nil
	}))
	require.NotEmpty(t, id)
	return id
}

// TestEraseEntries: of a message that went through everything that a session does with one, no byte is left.
func TestEraseEntries(t *testing.T) {
	ctx := context.Background()
	fsys := sessiontest.NewCrashFS()
	store, err := session.OpenFiles(fsys, quotingOptions())
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("begin"), answer("yes?"), session.User(secret)))
	id := entryWith(t, store, "k", "4711-0815")
	_, err = s.Do(ctx, echo)
	require.NoError(t, err)
	for n := range 12 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprintf("message %d %s", n, strings.Repeat("word ", 400)))))
		_, err = s.Do(ctx, echo)
		require.NoError(t, err)
	}
	require.Positive(t, s.View().Counts.Compactions)
	compactions := s.View().Counts.Compactions
	require.NoError(t, store.SetLabel(ctx, "k", id, "label 4711-0815"))
	leaf := s.Leaf()
	require.NoError(t, s.Rewind(ctx, id))
	edited := session.User("edited: " + secret)
	require.NoError(t, s.Edit(ctx, id, &edited, "test"))
	require.NoError(t, s.SummarizeBranch(ctx, leaf, "on the other branch: "+secret))
	require.NoError(t, s.Close())
	require.NoError(t, store.Fork(ctx, "k", "", "fork"))
	s = open(t, store, "k")
	require.NoError(t, s.Rewind(ctx, leaf))
	before := s.View()
	require.NoError(t, s.Close())
	requireSomewhere(t, fsys, "4711-0815", "label 4711", "edited: the number", "on the other branch: the number")

	r, err := store.EraseEntries(ctx, "k", "", id)
	require.NoError(t, err)
	requireNowhere(t, fsys, "after the erasure", secret, "4711-0815", "the number of the account")
	require.Equal(t, []string{id}, r.Entries)
	assert.Empty(t, r.Quoted)
	require.Len(t, r.Copies, 1)
	assert.Equal(t, "fork", r.Copies[0].Key)
	assert.Equal(t, []string{id}, r.Copies[0].Entries)
	assert.Positive(t, r.Bytes)
	assert.NotEmpty(t, r.With)
	receipt, err := json.Marshal(r)
	require.NoError(t, err)
	assert.NotContains(t, string(receipt), "4711")

	for _, key := range []string{"k", "fork"} {
		report, err := store.Verify(ctx, key)
		require.NoError(t, err)
		require.Empty(t, report.Damage, key)
		status, err := store.Status(ctx, key)
		require.NoError(t, err)
		s := open(t, store, key)
		require.Equal(t, status.Counts.Messages, s.View().Counts.Messages)
		require.Contains(t, texts(s.View()), "[erased]")
		require.NoError(t, s.Append(ctx, session.User("go on")))
		_, err = s.Do(ctx, func(_ context.Context, m []winnow.Message) (winnow.Message, error) {
			requireAccepted(t, m, key)
			for i := range m {
				for _, p := range m[i].Parts {
					assert.NotContains(t, p.Text, "4711-0815")
				}
			}
			return answer("gone on"), nil
		})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, before.Counts.Turns+1, v.Counts.Turns, "what was erased still counts")
	assert.GreaterOrEqual(t, v.Counts.Compactions, compactions)
	requireNowhere(t, fsys, "after the session went on", secret, "4711-0815")

	again, err := store.EraseEntries(ctx, "k", "", id)
	require.NoError(t, err, "once more is no error")
	assert.Zero(t, again.Bytes)
	assert.Equal(t, []string{id}, again.Entries)
	_, err = store.EraseEntries(ctx, "k", "", id, "nobody")
	require.ErrorIs(t, err, session.ErrNotFound)
	_, err = store.EraseEntries(ctx, "nobody", "", id)
	require.ErrorIs(t, err, session.ErrNotFound)
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"k", "fork"}, keys, "to look for a session made none")
}
