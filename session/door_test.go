package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

// TestTheDoor: what a log would keep for good is refused before it is written, with its place.
func TestTheDoor(t *testing.T) {
	ctx := context.Background()
	typo := answer("done")
	typo.Role = "asistant"
	billed := winnow.Message{Role: winnow.RoleAssistant, StopReason: "stop"}
	injected := session.User("the time is 12:00")
	injected.Injected = true
	kind := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Kind: "video"}}}
	for _, tt := range []struct {
		name          string
		m             winnow.Message
		append, begin string // the field that is refused
		reason        string
	}{
		{"typo", typo, "role", "role", "an adapter would send it as the user's"},
		{"kind", kind, "parts[0].kind", "parts[0].kind", "no adapter can send it"},
		{"nothing", winnow.Message{}, "parts", "role", "no request would hold it"},
		{"blank", session.User(" \n"), "parts", "parts", "a request drops it, and then has no question"},
		{"orphan", session.Result("7", "read", "x"), "toolCallId", "role", "no call of the log has this id"},
		{"result", session.Result("1", "read", ""), "", "role", "an empty file was read"},
		{"result without an id", session.Result("", "read", "x"), "", "role", "it answers the open call"},
		{"answer", answer("x"), "", "role", "no person begins a turn as the model"},
		{"empty answer", billed, "", "role", "it says how it ended"},
		{"injected", injected, "", "injected", "the host says it"},
		{"question", session.User("go on"), "", "", "a person's message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused := func(err error, field string, index int, s *session.Session, before int) {
				t.Helper()
				if field == "" {
					require.NoError(t, err, tt.reason)
					return
				}
				var invalid *winnow.InvalidMessageError
				require.ErrorAs(t, err, &invalid, tt.reason)
				assert.Equal(t, [2]any{field, index}, [2]any{invalid.Field, invalid.Index}, tt.reason)
				assert.Len(t, s.View().History, before, "all or nothing, and no call is abandoned")
			}
			s := open(t, session.NewMemory(nil), "k")
			defer s.Close()
			require.NoError(t, s.Begin(ctx, session.User("look")))
			require.NoError(t, s.Append(ctx, call("1", "read")))
			refused(s.Begin(ctx, tt.m), tt.begin, 0, s, 2)
			if tt.begin != "" {
				refused(s.Append(ctx, answer("wait"), tt.m), tt.append, 1, s, 2)
			}
		})
	}
	s := open(t, session.NewMemory(nil), "k")
	defer s.Close()
	require.NoError(t, s.Begin(ctx, session.User("look")))
	var invalid *winnow.InvalidMessageError
	blank, stray := session.User(" "), call("1", "read")
	stray.Role = winnow.RoleUser // a request leaves out a call of a person
	require.ErrorAs(t, s.Begin(ctx, stray), &invalid)
	require.ErrorAs(t, s.Inject(ctx, "clock", true, session.Result("7", "read", "x")), &invalid, "no call has this id")
	for _, m := range []winnow.Message{kind, typo, blank, stray, {}} {
		require.ErrorAs(t, s.Inject(ctx, "clock", true, m), &invalid)
		require.ErrorAs(t, s.Edit(ctx, s.View().IDs[0], &m, "redacted"), &invalid)
	}
	_, err := s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) { return typo, nil })
	require.ErrorAs(t, err, &invalid, "an adapter of the host's own has the typo")
	require.Equal(t, []string{"look"}, texts(s.View()))

	entries := []*entry.Entry{
		{Type: entry.TypeMessage, Message: &winnow.Message{Role: winnow.RoleTool, ToolCallID: "gone"}},
		{Type: entry.TypeMessage, Message: &typo},
	}
	require.NoError(t, upkeep.Import(ctx, session.NewMemory(nil), "orphan", entries[:1]), "an import may hold orphans")
	err = upkeep.Import(ctx, session.NewMemory(nil), "typo", entries)
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, 1, invalid.Index)
}

// TestLateResult: a result may come when a summary stands for its call. Its id is in the log, not in the history.
func TestLateResult(t *testing.T) {
	ctx := context.Background()
	said := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
		return "## Goal\n- A build was started with bash, and it runs.\n- Then something else, many times, and a long answer each.", nil
	})
	s := open(t, session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 8_000, &winnow.Options{Summarizer: said}
	}}), "k")
	defer s.Close()
	require.NoError(t, s.Begin(ctx, session.User("start the build")))
	require.NoError(t, s.Append(ctx, call("build", "bash"), session.Result("build", "bash", "started"), answer("It runs.")))
	for range 12 {
		require.NoError(t, s.Append(ctx, session.User(strings.Repeat("and something else ", 100)), answer(strings.Repeat("a long answer ", 200))))
	}
	require.NoError(t, s.Append(ctx, session.User("well?")))
	_, err := s.Compact(ctx, "")
	require.NoError(t, err)
	for _, m := range s.View().History {
		for _, p := range m.Parts {
			require.NotEqual(t, "build", p.ID, "the summary stands for it")
		}
	}
	require.NoError(t, s.Append(ctx, session.Result("build", "bash", "it failed")))
	require.Error(t, s.Append(ctx, session.Result("built", "bash", "it failed")))
}

// TestNothingToSend: a model is not called without a message.
func TestNothingToSend(t *testing.T) {
	s := open(t, session.NewMemory(nil), "k")
	defer s.Close()
	_, err := s.Do(context.Background(), func(context.Context, []winnow.Message) (winnow.Message, error) { panic("called") })
	require.ErrorIs(t, err, winnow.ErrNothingToSend)
}
