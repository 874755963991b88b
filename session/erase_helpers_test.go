package session_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
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
			if _, err := fsys.Sub(path); err == nil {
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

// requireNowhere requires that no file has any of the texts, in any form that a line may give it.
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
	for e, err := range store.Entries(context.Background(), key) {
		require.NoError(t, err)
		if e.Type == entry.TypeMessage && e.Message != nil {
			for _, p := range e.Message.Parts {
				if strings.Contains(p.Text, text) || strings.Contains(string(p.Arguments), text) {
					id = e.ID
				}
			}
		}
	}
	require.NotEmpty(t, id)
	return id
}
