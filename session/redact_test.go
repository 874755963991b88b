package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// redacting replaces a password in texts and arguments, in place, as hosts do.
func redacting(m winnow.Message) (winnow.Message, error) {
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Text = strings.ReplaceAll(p.Text, "hunter2", "[password]")
		p.Arguments = json.RawMessage(strings.ReplaceAll(string(p.Arguments), "hunter2", "[password]"))
	}
	return m, nil
}

// TestRedactedIsStoredAndSent: redacted content is neither in the log nor in a request, before and after a restart;
// unredacted messages keep their sources.
func TestRedactedIsStoredAndSent(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(&session.Options{Redact: redacting, Codec: textCodec{}})
	s := open(t, store, "k")
	mine := session.User("it is hunter2")
	mine.Source = "hunter2 of the provider"
	other := session.User("thanks")
	other.Source = "kept"
	require.NoError(t, s.Append(ctx, mine, other))
	require.Equal(t, "it is hunter2", mine.Parts[0].Text, "the caller's message is as it was")
	var sent []string
	ask := func(_ context.Context, request []winnow.Message) (winnow.Message, error) {
		text, err := json.Marshal(request)
		sent = append(sent, string(text))
		a := call("1", "login")
		a.Parts[0].Arguments = json.RawMessage(`{"password":"hunter2"}`)
		return a, err
	}
	got, err := s.Do(ctx, ask)
	require.NoError(t, err)
	require.Contains(t, string(got.Calls()[0].Arguments), "hunter2", "the host runs what the model asked for")
	require.NoError(t, s.Append(ctx, session.Result("1", "login", "hunter2 is right")))
	require.NoError(t, s.Inject(ctx, "note", true, session.User("hunter2")))
	edited := session.User("say hunter2 again")
	require.NoError(t, s.Edit(ctx, s.View().IDs[0], &edited, "test"))
	_, err = s.Do(ctx, ask)
	require.NoError(t, err)
	running := s.View().History
	require.Equal(t, "kept", running[1].Source)
	require.NoError(t, s.Close())

	s = open(t, store, "k")
	require.Equal(t, running, s.View().History)
	require.NoError(t, s.Close())
	log, err := store.Backend().Log(ctx, "k", false)
	require.NoError(t, err)
	size, err := log.Size()
	require.NoError(t, err)
	text := make([]byte, size)
	_, err = log.ReadAt(text, 0)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	assert.Equal(t, 6, strings.Count(string(text), "[password]"))
	assert.Len(t, sent, 2)
	assert.NotContains(t, strings.Join(sent, ""), "hunter2")
}

func TestRedactFails(t *testing.T) {
	ctx := context.Background()
	refused := errors.New("a private key")
	redact := func(m winnow.Message) (winnow.Message, error) { return m, refused }
	store := session.NewMemory(&session.Options{Redact: redact})
	s := open(t, store, "k")
	defer s.Close()
	require.ErrorIs(t, s.Append(ctx, session.User("x")), refused)
	require.Empty(t, s.View().History)
}
