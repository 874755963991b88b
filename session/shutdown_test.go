package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// TestShutdown closes the store of a server with 100 open sessions, in whatever they are. Nobody waits, everybody is
// told that the store is closed, and what was acknowledged is there afterwards.
func TestShutdown(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	waits := winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
		<-ctx.Done() // a slow model
		return "", ctx.Err()
	})
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS, Manager: func(string) (int, *winnow.Options) {
		return 8_000, &winnow.Options{Summarizer: waits}
	}})
	require.NoError(t, err)
	const sessions = 100
	ended, closed := make(chan error), make(chan struct{})
	var open []*session.Session
	for i := range sessions {
		s, err := store.Open(ctx, fmt.Sprint(i))
		require.NoError(t, err)
		open = append(open, s)
		require.NoError(t, s.Begin(ctx, session.User("question")))
		switch i % 4 {
		case 0: // a call of the model runs
			called := make(chan struct{})
			go func() {
				_, err := s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) {
					close(called)
					<-closed
					return answer("too late"), nil
				})
				ended <- err
			}()
			<-called
		case 1: // somebody else waits for the turn, with no end
			go func() { _, err := store.Open(ctx, fmt.Sprint(i)); ended <- err }()
		case 2: // a summary is being made
			require.NoError(t, s.Append(ctx, answer(strings.Repeat("words ", 5_000)), session.User(strings.Repeat("more ", 3_000))))
			go func() { _, err := s.Prepare(ctx); ended <- err }()
		default: // idle
			go func() { ended <- session.ErrClosed }()
		}
	}
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	require.NoError(t, store.Close())
	close(closed)
	for range sessions {
		require.ErrorIs(t, <-ended, session.ErrClosed)
	}
	require.Less(t, time.Since(began), 10*time.Second)
	for _, s := range open {
		for name, call := range map[string]func() error{
			"Begin":   func() error { return s.Begin(ctx, session.User("more")) },
			"Append":  func() error { return s.Append(ctx, answer("x")) },
			"Prepare": func() error { _, err := s.Prepare(ctx); return err },
			"Rewind":  func() error { return s.Rewind(ctx, "") },
			"AddData": func() error { return s.AddData(ctx, "n", []byte("1")) },
			"Open":    func() error { _, err := store.Open(ctx, s.Key()); return err },
		} {
			require.ErrorIs(t, call(), session.ErrClosed, name)
		}
		require.NoError(t, s.Close())
	}

	store, err = session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	defer store.Close()
	for i := range sessions {
		v, err := store.Read(ctx, fmt.Sprint(i))
		require.NoError(t, err)
		require.Contains(t, texts(v), "question")
		require.NotContains(t, texts(v), "too late")
	}
}

// TestCloseDuringAFlush: what the manager does in the background may append to the session that is being closed.
func TestCloseDuringAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		var s *session.Session
		flushed := make(chan error, 1)
		store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
			return 16_000, &winnow.Options{Compact: &winnow.CompactOptions{
				Background: true, KeepRecent: 1_000,
				BeforeCompact: func(ctx context.Context, _ []winnow.Message) error {
					<-ctx.Done()
					flushed <- s.Append(context.Background(), answer("saved"))
					return nil
				},
			}}
		}})
		s = open(t, store, "k")
		for range 10 {
			require.NoError(t, s.Append(ctx, session.User("question"), answer(strings.Repeat("words and more words ", 250))))
		}
		require.NoError(t, s.Append(ctx, session.User("go on")))
		_, err := s.Prepare(ctx)
		require.NoError(t, err)
		require.NoError(t, store.Close())
		require.ErrorIs(t, <-flushed, session.ErrClosed)
	})
}

// TestTypoInTheModel: what is wrong with a session's options shows when it is opened, and nothing is written.
func TestTypoInTheModel(t *testing.T) {
	ctx := context.Background()
	store := session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 0, &winnow.Options{Model: "claude-opsu-5"}
	}})
	_, err := store.Open(ctx, "k")
	require.ErrorContains(t, err, "claude-opsu-5")
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = store.Open(ctx, "k")
	require.ErrorContains(t, err, "claude-opsu-5", "the turn was given back")
	keys, err := store.Keys(ctx)
	require.NoError(t, err)
	require.Empty(t, keys)
}

// TestPausesEnd: a provider that always pauses is not asked for ever, and what it said is stored.
func TestPausesEnd(t *testing.T) {
	s := open(t, session.NewMemory(nil), "k")
	defer s.Close()
	require.NoError(t, s.Begin(context.Background(), session.User("look")))
	asked := 0
	got, err := s.Do(context.Background(), func(context.Context, []winnow.Message) (winnow.Message, error) {
		asked++
		m := answer("I look.")
		m.StopReason = "pause_turn"
		return m, nil
	})
	require.ErrorContains(t, err, "has paused 21 times")
	require.False(t, errors.Is(err, winnow.ErrOverflow))
	require.Equal(t, 21, asked)
	require.True(t, got.Paused())
	require.Len(t, s.View().History, 1+asked)
}

// TestPausesAddUpSummaries: the last request of an answer that paused says what all of its requests asked for.
func TestPausesAddUpSummaries(t *testing.T) {
	ctx, asked := context.Background(), 0
	said := winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
		asked++
		winnow.ReportUsage(ctx, winnow.Usage{Input: 1_000})
		return "## Goal\nto look around", nil
	})
	s := open(t, session.NewMemory(&session.Options{Manager: func(string) (int, *winnow.Options) {
		return 8_000, &winnow.Options{Summarizer: said}
	}}), "k")
	defer s.Close()
	for range 12 {
		require.NoError(t, s.Append(ctx, session.User(strings.Repeat("and something else ", 100)), answer(strings.Repeat("a long answer ", 200))))
	}
	require.NoError(t, s.Begin(ctx, session.User("well?")))
	n := 0
	got, err := s.Do(ctx, func(context.Context, []winnow.Message) (winnow.Message, error) {
		m := answer("I look.")
		if n++; n < 4 {
			m.StopReason = "pause_turn"
		}
		return m, nil
	})
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Positive(t, asked)
	require.Equal(t, asked, got.Request.SummaryCalls)
	require.Equal(t, 1_000*asked, got.Request.SummaryUsage.Input)
}
