package sessiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/upkeep"
)

func testReset(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("old")))
	c.must(s.Reset(t.Context(), "asked", json.RawMessage(`{"level":"high"}`)))
	c.must(s.Append(t.Context(), session.User("new")))
	c.must(s.Close())
	c.holds("k", "new")
	s = c.open("k")
	c.must(s.Append(t.Context(), assistant("goes on")))
	c.must(s.Close())
	c.holds("k", "new", "goes on")
}

func testBranches(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	one := s.Leaf()
	c.must(s.Append(t.Context(), assistant("two")))
	two := s.Leaf()
	c.must(s.Rewind(t.Context(), one))
	c.must(s.Append(t.Context(), assistant("other")))
	c.must(s.Close())
	c.holds("k", "one", "other")
	c.must(c.store.Fork(t.Context(), "k", two, "fork"))
	c.holds("fork", "one", "two")
	c.want(c.store.Fork(t.Context(), "k", two, "fork"), session.ErrExists)
	s = c.open("k")
	c.must(s.Rewind(t.Context(), two))
	m := session.User("1")
	c.must(s.Edit(t.Context(), one, &m, "shorter"))
	c.must(s.Close())
	c.holds("k", "1", "two")

	var entries []*entry.Entry
	for e, err := range c.store.Entries(t.Context(), "k") {
		c.must(err)
		own := *e
		entries = append(entries, &own)
	}
	c.must(upkeep.Import(t.Context(), c.store, "copy", entries))
	c.holds("copy", "1", "two")
	c.want(upkeep.Import(t.Context(), c.store, "copy", entries), session.ErrExists)
	s = c.open("copy")
	c.must(s.Append(t.Context(), session.User("three")))
	c.must(s.Close())
	c.holds("copy", "1", "two", "three")
}

func testCompaction(t *testing.T, open Open) {
	now := time.Unix(1_700_000_000, 0)
	opts := &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{Now: func() time.Time { return now }}
	}}
	run := func(key string, reopen bool) (requests []string) {
		c := begin(t, open, opts)
		now = time.Unix(1_700_000_000, 0)
		s := c.open(key)
		for n := range 40 {
			now = now.Add(time.Minute)
			c.must(s.Append(t.Context(), session.User(fmt.Sprint("question ", n, strings.Repeat(" some words", 60)))))
			if reopen {
				c.must(s.Close())
				s = c.open(key)
			}
			_, err := s.Do(t.Context(), func(_ context.Context, request []winnow.Message) (winnow.Message, error) {
				text, err := json.Marshal(request)
				requests = append(requests, string(text))
				return assistant(fmt.Sprint("answer ", n)), err
			})
			c.must(err)
		}
		if s.View().Counts.Compactions == 0 {
			t.Fatal("nothing was compacted: the test shows nothing")
		}
		c.must(s.Close())
		return requests
	}
	whole, reopened := run("whole", false), run("reopened", true)
	for i := range whole {
		if whole[i] != reopened[i] {
			t.Fatalf("request %d differs after a reopening", i)
		}
	}
}

func testInterrupted(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	if s.Interrupted() != nil {
		t.Fatal("an empty session is interrupted")
	}
	c.must(s.Append(t.Context(), session.User("one")))
	if i := s.Interrupted(); i == nil || !i.Unanswered {
		t.Fatalf("after a question: %+v", i)
	}
	calls := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Kind: winnow.KindToolCall, ID: "1", Name: "a"}, {Kind: winnow.KindToolCall, ID: "2", Name: "b"},
	}}
	c.must(s.Append(t.Context(), calls, session.Result("2", "b", "done")))
	c.must(s.Close())
	s = c.open("k")
	if i := s.Interrupted(); i == nil || len(i.Calls) != 1 || i.Calls[0].ID != "1" {
		t.Fatalf("with a call that has no result: %+v", i)
	}
	c.must(s.Abandon(t.Context()))
	if i := s.Interrupted(); i == nil || !i.Unanswered || len(i.Calls) > 0 {
		t.Fatalf("after Abandon: %+v", i)
	}
	c.must(s.Append(t.Context(), assistant("I see.")))
	if i := s.Interrupted(); i != nil {
		t.Fatalf("after an answer: %+v", i)
	}
	c.must(s.Close())
}

func testClosed(t *testing.T, open Open) {
	c := begin(t, open, nil)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	c.must(s.Close())
	c.want(s.Append(t.Context(), session.User("two")), session.ErrClosed)
	_, err := s.Prepare(t.Context())
	c.want(err, session.ErrClosed)
	c.must(s.Close())
	c.holds("k", "one")
}
