package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// listChild writes to sessions until it is killed. It reports how many turns each session has: after each
// acknowledgement, and before it deletes or resets one.
func listChild(dir string) error {
	ctx := context.Background()
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for {
		key := fmt.Sprint("k", random.IntN(8))
		if random.IntN(12) == 0 {
			fmt.Println(key, 0)
			if err := store.Delete(ctx, key); err != nil {
				return err
			}
			continue
		}
		s, err := store.Open(ctx, key)
		if err != nil {
			return err
		}
		for range 1 + random.IntN(3) {
			if err := s.Append(ctx, session.User("hello"), answer("hello")); err != nil {
				return err
			}
			fmt.Println(key, s.View().Counts.Turns)
		}
		title := fmt.Sprint("title ", random.IntN(100))
		if err := store.SetInfo(ctx, key, session.Info{Title: &title}); err != nil {
			return err
		}
		if random.IntN(4) > 0 {
			err = s.Close()
		} else {
			fmt.Println(key, 0)
			err = errors.Join(s.Reset(ctx, "test", nil), s.Close())
		}
		if err != nil {
			return err
		}
	}
}

// feedChild follows the feed until it is killed, and keeps what it knows in a file.
func feedChild(dir string) error {
	store, err := session.OpenDirectory(filepath.Join(dir, "store"), nil)
	if err != nil {
		return err
	}
	reader, err := readFeedReader(dir)
	if err != nil {
		return err
	}
	for {
		c, err := store.NextChanges(context.Background(), reader.Cursor)
		if err != nil {
			return err
		}
		if err := reader.Take(c); err != nil {
			return err
		}
		text, err := json.Marshal(reader)
		if err != nil {
			return err
		}
		temp := filepath.Join(dir, "reader.tmp")
		if err := os.WriteFile(temp, text, 0o600); err != nil {
			return err
		}
		if err := os.Rename(temp, filepath.Join(dir, "reader")); err != nil {
			return err
		}
		fmt.Println(len(c.Changes))
	}
}

func readFeedReader(dir string) (reader sessiontest.FeedReader, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "reader"))
	if os.IsNotExist(err) {
		return reader, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &reader)
	}
	return reader, err
}

// ackedBy reads the reports of a child.
type ackedBy struct {
	mu    sync.Mutex
	turns map[string]int
}

func (a *ackedBy) take(line string) {
	key, turns, _ := strings.Cut(line, " ")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns[key], _ = strconv.Atoi(turns)
}

func (a *ackedBy) now() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.turns)
}

// TestKilledWithFeed kills a writer and a reader of the feed again and again. A store that was open all the time
// lists everything that the logs hold, and so does the reader once it continues.
func TestKilledWithFeed(t *testing.T) {
	t.Parallel()
	rounds := *kills
	if testing.Short() {
		rounds = min(rounds, 12)
	}
	dir := t.TempDir()
	at := filepath.Join(dir, "store")
	store, err := session.OpenDirectory(at, nil)
	require.NoError(t, err)
	requireListed(t, store, nil, "empty")
	acked := ackedBy{turns: map[string]int{}}
	random := rand.New(rand.NewPCG(1, 1))
	told := 0
	for round := range rounds {
		name := fmt.Sprint("round ", round)
		writer, lines := child(t, "list", at)
		reader, changes := child(t, "feed", dir)
		require.True(t, lines.Scan(), name)
		var wg sync.WaitGroup
		wg.Go(func() {
			acked.take(lines.Text())
			for lines.Scan() {
				acked.take(lines.Text())
			}
		})
		wg.Go(func() {
			for changes.Scan() {
				told++
			}
		})
		end := time.Now().Add(time.Duration(random.IntN(60)) * time.Millisecond)
		for first := true; first || time.Now().Before(end); first = false {
			_, err := store.List(t.Context(), session.Query{Limit: 3})
			require.NoError(t, err, name)
			time.Sleep(time.Millisecond) // the others work meanwhile
		}
		require.NoError(t, writer.Process.Kill())
		require.NoError(t, reader.Process.Kill())
		_, _ = writer.Process.Wait()
		_, _ = reader.Process.Wait()
		wg.Wait()
		requireListed(t, store, acked.now(), name)
		r, err := readFeedReader(dir)
		require.NoError(t, err, name)
		c, err := store.Changes(t.Context(), r.Cursor)
		require.NoError(t, err, name)
		require.NoError(t, r.Take(c), name)
		require.NoError(t, r.Check(t.Context(), store), name)
	}
	require.Positive(t, told, "the reader was never told anything: the test shows nothing")
	require.NoError(t, store.Close())
}

// tickingChild appends to a session now and then, and tells when it did.
func tickingChild(dir string) error {
	ctx := context.Background()
	store, err := session.OpenDirectory(dir, &session.Options{Durability: session.OS})
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, "ticking")
	if err != nil {
		return err
	}
	for {
		if err := s.Append(ctx, session.User("tick")); err != nil {
			return err
		}
		fmt.Println(s.View().Counts.Turns, time.Now().UnixNano())
		time.Sleep(230 * time.Millisecond) // out of step with the poller
	}
}

// TestFeedOfAnotherProcess waits for what another process writes. How long that takes is printed with -v.
func TestFeedOfAnotherProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	store, err := session.OpenDirectory(dir, nil)
	require.NoError(t, err)
	c, err := store.Changes(ctx, "")
	require.NoError(t, err)
	cursor := c.Cursor
	ticking, lines := child(t, "ticking", dir)
	defer func() {
		_ = ticking.Process.Kill()
		_, _ = ticking.Process.Wait()
	}()
	var told []time.Time
	seen := map[string]bool{}
	for len(told) < 8 {
		c, err := store.NextChanges(ctx, cursor)
		require.NoError(t, err)
		now := time.Now()
		for _, change := range c.Changes {
			for e, err := range store.ReadChange(ctx, change) {
				require.NoError(t, err)
				if e.Type == entry.TypeMessage && !seen[e.ID] { // a change may be delivered twice
					seen[e.ID] = true
					told = append(told, now)
				}
			}
		}
		cursor = c.Cursor
	}
	for range 8 {
		require.True(t, lines.Scan())
		var turn int
		var at int64
		_, err := fmt.Sscan(lines.Text(), &turn, &at)
		require.NoError(t, err)
		t.Log("told after", told[turn-1].Sub(time.Unix(0, at)).Round(time.Millisecond))
	}
	require.NoError(t, store.Close())
}
