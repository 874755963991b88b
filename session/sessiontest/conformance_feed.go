package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

// follower is a reader of the feed in a test.
type follower struct {
	check
	FeedReader
}

// take reads what changed, without waiting.
func (f *follower) take() *session.Changes {
	f.Helper()
	c, err := f.store.Changes(f.Context(), f.Cursor)
	f.must(err)
	f.must(f.Take(c))
	return c
}

func (f *follower) isComplete() {
	f.Helper()
	f.must(f.Check(f.Context(), f.store))
}

func follow(c check) *follower {
	c.Helper()
	f := &follower{check: c}
	_, err := c.store.Changes(c.Context(), "")
	if errors.Is(err, errors.ErrUnsupported) {
		c.Skip("the backend has no feed")
	}
	c.must(err)
	return f
}

func testFeed(t *testing.T, open Open) {
	c := begin(t, open, nil)
	f := follow(c)
	if first := f.take(); !first.Resync || len(first.Changes) > 0 || first.Cursor == "" {
		t.Fatalf("the feed of an empty store begins with %+v", first)
	}
	if again := f.take(); again.Resync || len(again.Changes) > 0 {
		t.Fatalf("nothing happened, and the feed has %+v", again)
	}
	c.say("a", session.User("one"))
	c.say("b", session.User("one"))
	cursor := f.Cursor
	if got := f.take(); got.Resync || len(got.Changes) != 2 {
		t.Fatalf("two sessions began, and the feed has %+v", got)
	}
	f.isComplete()
	s := c.open("a")
	for n := range 5 {
		c.must(s.Append(t.Context(), session.User("more")))
		from := f.Known["a"].To
		got := f.take()
		if len(got.Changes) != 1 || got.Changes[0].From > from || got.Changes[0].Key != "a" {
			t.Fatalf("append %d from %d is told as %+v", n, from, got)
		}
		f.isComplete()
	}
	texts := []string{}
	for e, err := range c.store.ReadChange(t.Context(), f.Known["a"]) {
		c.must(err)
		if e.Message != nil {
			texts = append(texts, e.Message.Parts[0].Text)
		}
	}
	if len(texts) == 0 || texts[len(texts)-1] != "more" {
		t.Fatalf("the newest change has %q", texts)
	}
	title := "a title"
	c.must(c.store.SetInfo(t.Context(), "a", session.Info{Title: &title}))
	f.take()
	f.isComplete()
	old := f.Known["a"]
	c.must(s.Reset(t.Context(), "asked", nil))
	c.must(s.Append(t.Context(), session.User("anew")))
	c.must(s.Close())
	f.take()
	f.isComplete()
	if _, err := c.store.Parts(t.Context(), "a"); !errors.Is(err, errors.ErrUnsupported) {
		old.From, texts = 0, nil
		for e, err := range c.store.ReadChange(t.Context(), old) {
			c.must(err)
			texts = append(texts, string(e.Type))
		}
		if len(texts) == 0 || texts[0] != string(entry.TypeSession) {
			t.Fatalf("the log before the reset has %q", texts)
		}
	}
	c.must(c.store.Delete(t.Context(), "b"))
	if got := f.take(); !slices.ContainsFunc(got.Changes,
		func(c session.Change) bool { return c.Key == "b" && c.Deleted }) {
		t.Fatalf("a deletion is told as %+v", got)
	}
	f.isComplete()
	c.say("b", session.User("again"))
	f.take()
	f.isComplete()

	// A follower that was killed long ago.
	f.Cursor, f.Known = cursor, map[string]session.Change{}
	f.take()
	f.isComplete()
	// A follower without a cursor, and one with an invalid cursor.
	for _, cursor := range []string{"", "nonsense", "a:b:c", "x" + cursor, "0000000000000000:12:00000000"} {
		f.Cursor = cursor
		if got := f.take(); !got.Resync {
			t.Fatalf("the cursor %q is taken", cursor)
		}
		f.isComplete()
	}
}

// testFeedAtWork follows writers, and restarts from its last cursor again and again.
func testFeedAtWork(t *testing.T, open Open) {
	c := begin(t, open, nil)
	f := follow(c)
	f.take()
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 12 {
				key := fmt.Sprint("k", (n+i)%6)
				s, err := c.store.Open(t.Context(), key)
				if err == nil {
					err = s.Append(t.Context(), session.User("hello"), assistant("hello"))
				}
				if err == nil && i%5 == 4 {
					err = s.Reset(t.Context(), "asked", nil)
				}
				if s != nil {
					err = errors.Join(err, s.Close())
				}
				if err == nil && i%7 == 6 {
					err = c.store.Delete(t.Context(), key)
				}
				if err != nil && !errors.Is(err, session.ErrDeleted) {
					t.Error(err)
				}
			}
		})
	}
	for range untilDone(&wg) {
		f.take()
	}
	f.isComplete()
}

// testFeedWaits: a waiting follower gets a change at once.
func testFeedWaits(t *testing.T, open Open) {
	c := begin(t, open, nil)
	f := follow(c)
	f.take()
	s := c.open("k")
	for range 3 {
		got := make(chan *session.Changes)
		go func() {
			c, err := f.store.NextChanges(t.Context(), f.Cursor)
			if err != nil {
				t.Error(err)
			}
			got <- c
		}()
		time.Sleep(10 * time.Millisecond)
		c.must(s.Append(t.Context(), session.User("hello")))
		f.must(f.Take(<-got))
		f.isComplete()
	}
	c.must(s.Close())
	for range 3 { // changes from closing the session
		f.take()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got, err := f.store.NextChanges(ctx, f.Cursor); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("nothing happened, and the feed has %+v, %v", got, err)
	}
}
