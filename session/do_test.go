package session_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

// TestDoWithSeveralMessages uses a provider that runs its own tool, and asks the host to run another one.
func TestDoWithSeveralMessages(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("look")))
	first := answer("I look.")
	first.Parts = append(first.Parts, call("1", "shell").Parts...)
	first.Usage = &winnow.Usage{Input: 7}
	given := []winnow.Message{first, session.Result("1", "shell", "two files"), answer(" Now you."), call("2", "read")}
	got, err := s.DoMessages(ctx, func(context.Context, []winnow.Message) ([]winnow.Message, error) { return given, nil })
	require.NoError(t, err)
	require.Equal(t, "I look. Now you.", got.Text())
	require.Len(t, got.Calls(), 1, "the other one has its result")
	require.Equal(t, "2", got.Calls()[0].ID)
	require.Equal(t, 7, got.Usage.Input)
	require.NoError(t, s.Close())

	v, err := store.Read(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, []string{"look", "I look.", "two files", " Now you.", ""}, texts(v))
	batches := 0
	for e, err := range store.Entries(ctx, "k") {
		require.NoError(t, err)
		if e.Type == entry.TypeMessage && e.Batch == [2]int64{1, 4} {
			batches++
		}
	}
	require.Equal(t, 1, batches, "the answer is stored whole or not at all")
}

// TestDoWithoutAMessage: an answer of no message is an error, and nothing is appended.
func TestDoWithoutAMessage(t *testing.T) {
	ctx := context.Background()
	s := open(t, session.NewMemory(nil), "k")
	defer s.Close()
	require.NoError(t, s.Append(ctx, session.User("look")))
	_, err := s.DoMessages(ctx, func(context.Context, []winnow.Message) ([]winnow.Message, error) { return nil, nil })
	require.ErrorContains(t, err, "no message")
	require.Equal(t, []string{"look"}, texts(s.View()))
	_, err = s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) { return session.User("I?"), nil })
	var invalid *winnow.InvalidMessageError
	require.ErrorAs(t, err, &invalid, "no model speaks for a person")
	require.Equal(t, "role", invalid.Field)
	require.Equal(t, []string{"look"}, texts(s.View()))
}

// TestDoReturnsTheCallsError: a call that ended with its context is no overflow that could not be mended.
func TestDoReturnsTheCallsError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := open(t, session.NewMemory(nil), "k")
	defer s.Close()
	require.NoError(t, s.Append(ctx, session.User("look")))
	_, err := s.Do(ctx, func(ctx context.Context, _ []winnow.Message) (winnow.Message, error) {
		cancel()
		return winnow.Message{}, ctx.Err()
	})
	require.Equal(t, context.Canceled, err)
}

// TestManagersLogToTheStore: a typo in the model's name is heard of where the store has a logger.
func TestManagersLogToTheStore(t *testing.T) {
	var log strings.Builder
	store := session.NewMemory(&session.Options{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Manager: func(string) (int, *winnow.Options) {
			return 100_000, &winnow.Options{Model: "claude-opsu-5"}
		},
	})
	require.NoError(t, open(t, store, "k").Close())
	require.Contains(t, log.String(), "the model is unknown")
}

// TestDoGoesOnAfterAPause: an answer that paused is not the end of the turn, whatever comes after it.
func TestDoGoesOnAfterAPause(t *testing.T) {
	search := winnow.Part{Kind: winnow.KindOpaque, ID: "1", Name: "web_search", Bytes: 9}
	found := winnow.Part{Kind: winnow.KindOpaque, ID: "1", Bytes: 90}
	said := func(reason string, parts ...winnow.Part) winnow.Message {
		return winnow.Message{Role: winnow.RoleAssistant, StopReason: reason, Parts: parts}
	}
	refused := errors.New("overloaded")
	for _, tt := range []struct {
		name    string
		answers []winnow.Message
		asked   []int // messages in each request
		text    string
		calls   int
		err     error
		reason  string
	}{
		{"once", []winnow.Message{said("pause_turn", winnow.Part{Text: "I look."}, search), said("end_turn", found, winnow.Part{Text: " Found."})}, []int{1, 2}, "I look. Found.", 0, nil, "the rest is an answer of its own"},
		{"twice", []winnow.Message{said("pause_turn", search), said("pause_turn", found, winnow.Part{Text: "A"}), said("end_turn", winnow.Part{Text: "B"})}, []int{1, 2, 3}, "AB", 0, nil, "also between two calls"},
		{"then calls", []winnow.Message{said("pause_turn", search), said("tool_use", found, call("2", "read").Parts[0])}, []int{1, 2}, "", 1, nil, "the host has to run them"},
		{"then an error", []winnow.Message{said("pause_turn", winnow.Part{Text: "I look."}, search), said("error")}, []int{1, 2}, "I look.", 0, refused, "what was said stays"},
		{"no stop reason", []winnow.Message{said("", search), said("", found, winnow.Part{Text: "Found."})}, []int{1, 2}, "Found.", 0, nil, "an open call says as much"},
		{"no pause", []winnow.Message{said("end_turn", winnow.Part{Text: "Done."})}, []int{1}, "Done.", 0, nil, "the usual case"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := context.Background()
			store := session.NewMemory(nil)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("look")))
			var asked []int
			got, err := s.Do(ctx, func(_ context.Context, messages []winnow.Message) (winnow.Message, error) {
				asked = append(asked, len(messages))
				next := tt.answers[len(asked)-1]
				if next.StopReason == "error" {
					return winnow.Message{}, tt.err
				}
				return next, nil
			})
			require.Equal(t, tt.err, err, tt.reason)
			require.Equal(t, tt.asked, asked, tt.reason)
			require.Equal(t, tt.text, got.Text(), tt.reason)
			require.Len(t, got.Calls(), tt.calls, tt.reason)
			require.Equal(t, tt.err != nil, got.Paused(), tt.reason)
			if tt.err != nil {
				require.Equal(t, &session.Interruption{Unanswered: true}, s.Interrupted(), "the turn is not over")
			}
			require.NoError(t, s.Close())
		})
	}
}
