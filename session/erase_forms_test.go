package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

const word = "4711-0815"

// newest returns the id of the newest entry of a type in the newest log.
func newest(t testing.TB, store *session.Store, kind entry.Type) (id string) {
	t.Helper()
	for e, err := range store.Entries(context.Background(), "k") {
		require.NoError(t, err)
		if e.Type == kind {
			id = e.ID
		}
	}
	require.NotEmpty(t, id)
	return id
}

// plainCodec stores a Source that is a text.
type plainCodec struct{}

func (plainCodec) Name() string { return "plain" }

func (plainCodec) Encode(messages []winnow.Message) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(messages))
	for i, m := range messages {
		if text, ok := m.Source.(string); ok {
			out[i], _ = json.Marshal(text)
		}
	}
	return out, nil
}

func (plainCodec) Decode(messages []winnow.Message, sources []json.RawMessage) error {
	for i := range messages {
		var text string
		if sources[i] != nil && json.Unmarshal(sources[i], &text) == nil {
			messages[i].Source = text
		}
	}
	return nil
}

// TestEraseForms: whatever kind of entry holds the text, and wherever, no byte of it is left, and the conversation
// continues.
func TestEraseForms(t *testing.T) {
	ctx := context.Background()
	message := func(m winnow.Message) func(*testing.T, *session.Store, *session.Session) string {
		return func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.Append(ctx, m))
			return newest(t, store, entry.TypeMessage)
		}
	}
	for _, tt := range []struct {
		why   string
		write func(*testing.T, *session.Store, *session.Session) (id string)
		shown string // what the model sees of it
	}{
		{"a message of a person", message(session.User(secret)), "[erased]"},
		{"a text that is shorter than what stands for it", message(session.User("#")), "[erased]"},
		{"an answer", message(answer(secret)), "[erased]"},
		{"thinking, and its signature", message(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: secret, Signature: word}, {Text: "so"},
		}}), "[erased]"},
		{"what the host keeps beside a message", message(winnow.Message{
			ID: word, Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "text"}}, Details: json.RawMessage(`{"a":"` + word + `"}`),
		}), "[erased]"},
		{"what a codec keeps", message(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "text"}}, Source: secret}), "[erased]"},
		{"text that is not UTF-8", message(session.User("\xff" + word)), "[erased]"},
		{"arguments of a call", func(t *testing.T, store *session.Store, s *session.Session) string {
			m := call("c1", "exec")
			m.Parts[0].Arguments = json.RawMessage(`{"number":"` + word + `"}`)
			require.NoError(t, s.Append(ctx, m))
			id := newest(t, store, entry.TypeMessage)
			require.NoError(t, s.Append(ctx, session.Result("c1", "exec", "done")))
			return id
		}, "[erased]"},
		{"arguments that are not JSON", func(t *testing.T, store *session.Store, s *session.Session) string {
			m := call("c1", "exec")
			m.Parts[0].Arguments = json.RawMessage(`{"number":"` + word)
			require.NoError(t, s.Append(ctx, m))
			id := newest(t, store, entry.TypeMessage)
			require.NoError(t, s.Append(ctx, session.Result("c1", "exec", "done")))
			return id
		}, "[erased]"},
		{"the result of a call", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.Append(ctx, call("c1", "exec"), session.Result("c1", "exec", secret)))
			return newest(t, store, entry.TypeMessage)
		}, "[erased]"},
		{"a message of the host", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.Inject(ctx, "memory", true, session.User(secret)))
			return newest(t, store, entry.TypeCustomMessage)
		}, "[erased]"},
		{"a note", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.AddData(ctx, "note", json.RawMessage(`"`+word+`"`)))
			return newest(t, store, entry.TypeCustom)
		}, ""},
		{"an edit: the original is not shown again", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.Append(ctx, session.User("original")))
			m := session.User(secret)
			require.NoError(t, s.Edit(ctx, newest(t, store, entry.TypeMessage), &m, "test"))
			return newest(t, store, entry.TypeEdit)
		}, "[erased]"},
		{"the reason of an edit that leaves a message out", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.Append(ctx, session.User("original")))
			require.NoError(t, s.Edit(ctx, newest(t, store, entry.TypeMessage), nil, word))
			return newest(t, store, entry.TypeEdit)
		}, ""},
		{"a message that was left out", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, s.Append(ctx, session.User(secret)))
			id := newest(t, store, entry.TypeMessage)
			require.NoError(t, s.Edit(ctx, id, nil, "test"))
			return id
		}, ""},
		{"the summary of a branch", func(t *testing.T, store *session.Store, s *session.Session) string {
			leaf := s.Leaf()
			require.NoError(t, s.SummarizeBranch(ctx, leaf, secret))
			return newest(t, store, entry.TypeBranchSummary)
		}, ""},
		{"a title", func(t *testing.T, store *session.Store, s *session.Session) string {
			title := secret
			require.NoError(t, store.SetInfo(ctx, "k", session.Info{Title: &title}))
			return newest(t, store, entry.TypeInfo)
		}, ""},
		{"a label", func(t *testing.T, store *session.Store, s *session.Session) string {
			require.NoError(t, store.SetLabel(ctx, "k", s.Leaf(), secret))
			return newest(t, store, entry.TypeLabel)
		}, ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			fsys := sessiontest.NewCrashFS()
			opts := quotingOptions()
			opts.Codec = plainCodec{}
			store, err := sessiontest.OpenFiles(fsys, opts)
			require.NoError(t, err)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("begin"), answer("yes")))
			id := tt.write(t, store, s)
			require.NoError(t, s.Append(ctx, session.User("and then"), answer("so")))
			require.NoError(t, s.Close())
			r, err := upkeep.EraseEntries(ctx, store, "k", "", id)
			require.NoError(t, err)
			assert.Equal(t, []string{id}, r.Entries)
			requireNowhere(t, fsys, tt.why, secret, word, "the number of the account", `"#"`)
			report, err := upkeep.Verify(ctx, store, "k")
			require.NoError(t, err)
			require.Empty(t, report.Damage)

			s = open(t, store, "k")
			shown := texts(s.View())
			assert.Equal(t, tt.shown != "", slices.Contains(shown, "[erased]"), shown)
			assert.NotContains(t, shown, "original")
			require.NoError(t, s.Append(ctx, session.User("go on")))
			request, err := s.Prepare(ctx)
			require.NoError(t, err)
			requireAccepted(t, request.Messages, tt.why)
			require.NoError(t, s.Close())
		})
	}
}

// TestEraseOfLinesOfOthers: lines that a person wrote, without times and checksums, and an import with its own ids.
func TestEraseOfLinesOfOthers(t *testing.T) {
	ctx := context.Background()
	for why, line := range map[string]string{
		"short":              `{"seq":2,"id":"x","parentId":"e1","type":"message","message":{"role":"user","parts":[{"text":"4711-0815"}]}}`,
		"with spaces":        `{ "type": "message", "seq": 2, "id": "x", "parentId": "e1", "message": {"role":"user","parts":[{"text":"4711-0815"}]} }`,
		"with other members": `{"seq":2,"id":"x","parentId":"e1","type":"message","extra":"4711-0815","message":{"role":"user","parts":[{"text":"a"}]}}`,
		"an unknown type":    `{"seq":2,"id":"x","parentId":"e1","type":"thought","text":"4711-0815"}`,
	} {
		backend := session.NewMemory(nil).Backend()
		begin(t, backend, `{"seq":1,"id":"e1","type":"session","format":1,"key":"k"}`+"\n"+line+"\r\n"+
			`{"seq":3,"id":"y","parentId":"x","type":"message","message":{"role":"user","parts":[{"text":"next"}]}}`)
		store := session.New(backend, nil)
		_, err := upkeep.EraseEntries(ctx, store, "k", "", "x")
		require.NoError(t, err, why)
		for log, text := range logsOf(t, store, why) {
			require.NotContains(t, text, word, "%s: %s", why, log)
		}
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User("go on")), why)
		require.Equal(t, []string{"next", "go on"}, texts(s.View())[len(s.View().History)-2:], why)
		require.NoError(t, s.Close())
		report, err := upkeep.Verify(ctx, store, "k")
		require.NoError(t, err)
		require.Empty(t, report.Damage, why)
	}
}

// TestCopiesOfWhatIsLeft: a fork and an import of a session in which something was erased hold the same as the session.
func TestCopiesOfWhatIsLeft(t *testing.T) {
	ctx := context.Background()
	for name, opts := range map[string]*session.Options{"clear": nil, "sealed": {Seal: openSealer{}}} {
		t.Run(name, func(t *testing.T) {
			store := session.NewMemory(opts)
			s := open(t, store, "k")
			for _, text := range []string{"first", secret, "third"} {
				require.NoError(t, s.Append(ctx, session.User(text)))
				_, err := s.Do(ctx, echo) // stores a state, of which nothing is left
				require.NoError(t, err)
			}
			id := s.View().IDs[2]
			require.NoError(t, s.Close())
			require.NoError(t, store.SetLabel(ctx, "k", id, "label"))
			r, err := upkeep.EraseEntries(ctx, store, "k", "", id)
			require.NoError(t, err)
			require.NotEmpty(t, r.With)
			require.NoError(t, store.Fork(ctx, "k", "", "fork"))
			require.NoError(t, upkeep.Import(ctx, store, "import", entries(t, store, "k")))
			require.NoError(t, store.Fork(ctx, "import", "", "fork of the import"))

			want, err := store.Read(ctx, "k")
			require.NoError(t, err)
			require.Equal(t, "[erased]", texts(want)[2])
			for _, key := range []string{"fork", "import", "fork of the import"} {
				report, err := upkeep.Verify(ctx, store, key)
				require.NoError(t, err)
				assert.Empty(t, report.Damage, key)
				got, err := store.Read(ctx, key)
				require.NoError(t, err)
				assert.Equal(t, texts(want), texts(got), key)
				assert.Equal(t, want.IDs, got.IDs, key)
				assert.Equal(t, want.Counts.Messages, got.Counts.Messages, key)
			}
		})
	}
}
