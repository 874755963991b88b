package session_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
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
	require.NoError(t, store.Entries(ctx, "k", func(e *session.Entry) error {
		if e.Type == session.TypeMessage && e.Batch == [2]int64{1, 4} {
			batches++
		}
		return nil
	}))
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
}
