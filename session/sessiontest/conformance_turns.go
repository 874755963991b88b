package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
)

func testTurns(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.store.Open(short, "k")
	c.want(err, session.ErrBusy)
	c.want(err, context.DeadlineExceeded)
	other := c.open("another")
	c.must(other.Close())
	c.must(s.Close())
	c.must(c.open("k").Close())
}

func testOrder(t *testing.T, open Open) {
	c := begin(t, open, nil)
	const writers = 8
	s := c.open("k")
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			s, err := c.store.Open(t.Context(), "k")
			if err == nil {
				err = errors.Join(s.Append(t.Context(), session.User(fmt.Sprint(n))), s.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Millisecond) // so that they come in order
	}
	c.must(s.Close())
	wg.Wait()
	v, err := c.store.Read(t.Context(), "k")
	c.must(err)
	if got := len(v.History); got != writers {
		t.Fatalf("%d of %d turns are there", got, writers)
	}
}

func testBeside(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	title, yes := "a title", true
	c.must(c.store.SetInfo(t.Context(), "k", session.Info{Title: &title}))
	c.must(c.store.AddUsage(t.Context(), "k", "m", winnow.Usage{Input: 7}))
	c.must(s.Append(t.Context(), assistant("two")))
	c.must(c.store.SetInfo(t.Context(), "k", session.Info{Pinned: &yes}))
	c.must(c.store.SetLabel(t.Context(), "k", s.View().IDs[0], "here"))
	c.must(s.Append(t.Context(), session.User("three")))
	c.must(s.Close())
	c.holds("k", "one", "two", "three")
	v, err := c.store.Read(t.Context(), "k")
	c.must(err)
	hasInfo := v.Info.Title != nil && *v.Info.Title == title && v.Info.Pinned != nil
	if !hasInfo || v.Counts.Usage.Input != 7 || v.Labels[v.IDs[0]] != "here" {
		t.Fatalf("what was written beside the branch is %+v, %v, %+v", v.Info, v.Labels, v.Counts)
	}
}

func testReaders(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("0"), assistant("0")))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; n < 100; n++ {
			if err := s.Append(t.Context(), session.User(fmt.Sprint(n)), assistant(fmt.Sprint(n))); err != nil {
				t.Error(err)
			}
		}
	}()
	for before := 0; ; {
		v, err := c.store.Read(t.Context(), "k")
		c.must(err)
		n := len(v.History)
		if n%2 != 0 || n < before {
			t.Fatalf("a reader sees %d messages after %d: batches are not whole", n, before)
		}
		if before = n; n == 200 {
			break
		}
	}
	<-done
	c.must(s.Close())
}

// testReadersBlockNobody has a session written to while it is read. The reader sees what there was when it began.
func testReadersBlockNobody(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one"), assistant("two")))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	title := "a title"
	read := 0
	for e, err := range c.store.Entries(ctx, "k") {
		c.must(err)
		if e.Type != entry.TypeMessage {
			continue
		}
		read++
		c.must(s.Append(ctx, session.User(fmt.Sprint("while ", read))))
		c.must(c.store.SetInfo(ctx, "k", session.Info{Title: &title}))
	}
	if read != 2 {
		t.Fatalf("the reader saw %d messages, want the 2 that there were", read)
	}
	c.must(s.Close())
	c.holds("k", "one", "two", "while 1", "while 2")
}

func testDelete(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	c.must(c.store.Delete(t.Context(), "k"))
	c.want(s.Append(t.Context(), assistant("late")), session.ErrDeleted)
	c.want(s.Append(t.Context(), assistant("again")), session.ErrDeleted)
	_, err := c.store.Read(t.Context(), "k")
	c.want(err, session.ErrNotFound)
	c.must(s.Close())
	c.must(c.store.Delete(t.Context(), "k")) // the session does not exist
}

func testDeleted(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("old")))
	c.must(s.Close())
	c.must(c.store.Delete(t.Context(), "k"))
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) > 0 {
		t.Fatalf("after the deletion there are %q", keys)
	}
	s = c.open("k")
	if n := len(s.View().History); n > 0 {
		t.Fatalf("the new session has %d messages", n)
	}
	c.must(s.Append(t.Context(), session.User("new")))
	c.must(s.Close())
	c.holds("k", "new")
}

// testNextAfterDelete deletes a session between the end of its log and the beginning of the next one, as it may be
// deleted during a reset.
func testNextAfterDelete(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("old")))
	c.must(s.Close())
	turn, err := c.store.Backend().Turn(t.Context(), "k")
	c.must(err)
	log, err := turn.Log(t.Context())
	c.must(err)
	c.must(turn.Check())
	c.must(c.store.Delete(t.Context(), "k"))
	c.want(turn.Check(), session.ErrDeleted)
	_, err = turn.Next(t.Context(), []byte("{}\n"))
	c.want(err, session.ErrDeleted)
	c.must(log.Close())
	c.must(turn.Release())
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) > 0 {
		t.Fatalf("after the deletion there are %q", keys)
	}
	_, err = c.store.Read(t.Context(), "k")
	c.want(err, session.ErrNotFound)
}

// testLeftLog has a log open beside the turn while the session gets its next one.
func testLeftLog(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("old")))
	c.must(s.Close())
	left, err := c.store.Backend().Log(t.Context(), "k", true)
	c.must(err)
	end, err := left.Size()
	c.must(err)
	s = c.open("k")
	c.must(s.Reset(t.Context(), "asked", nil))
	c.must(s.Append(t.Context(), session.User("new")))
	var moved *backend.MovedError
	if err := left.Append(t.Context(), end, []byte("{}\n"), true); !errors.As(err, &moved) || !moved.Next {
		t.Fatalf("a log that was left takes lines: %v", err)
	}
	newest, err := c.store.Backend().Log(t.Context(), "k", false)
	c.must(err)
	if newest.ID() == left.ID() {
		t.Fatalf("two logs of a session have the ID %q", left.ID())
	}
	c.must(errors.Join(left.Close(), newest.Close(), s.Close()))
	c.holds("k", "new")
}

// testUnwritten opens sessions without writing to them.
func testUnwritten(t *testing.T, open Open) {
	c := begin(t, open, nil)
	c.must(c.open("k").Close())
	s := c.open("l")
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) > 0 {
		t.Fatalf("nothing was written, and there are %q", keys)
	}
	_, err = c.store.Read(t.Context(), "k")
	c.want(err, session.ErrNotFound)
	c.must(s.Close())
}
