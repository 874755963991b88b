package sessiontest

import (
	"bytes"
	"testing"
	"time"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/resets"
	"github.com/winnowgo/winnow/session/upkeep"
)

// testMaintenance plans and applies. Pinned and open sessions must be left alone.
func testMaintenance(t *testing.T, open Open) {
	c := beginParts(t, open)
	policy := upkeep.Maintenance{ArchiveAfter: time.Nanosecond, ResetLogs: true}
	for _, key := range []string{"lies", "open", "pinned"} {
		c.say(key, "one")
		s := c.open(key)
		c.must(s.Reset(t.Context(), "test", nil))
		c.must(s.Append(t.Context(), session.User("two")))
		c.must(s.Close())
	}
	yes := true
	c.must(c.store.SetInfo(t.Context(), "pinned", session.Info{Pinned: &yes}))
	s := c.open("open")
	time.Sleep(2 * time.Millisecond)
	plan, err := upkeep.MakePlan(t.Context(), c.store, upkeep.Maintenance{})
	c.must(err)
	if len(plan.Actions) > 0 {
		t.Fatalf("the zero policy names %+v", plan.Actions)
	}
	plan, err = upkeep.MakePlan(t.Context(), c.store, policy)
	c.must(err)
	for _, a := range plan.Actions {
		if a.Key != "lies" || a.Op != upkeep.OpArchive {
			t.Fatalf("the plan names %+v", a)
		}
	}
	if len(plan.Actions) != 2 || len(plan.Kept) != 2 || plan.Sessions != 3 {
		t.Fatalf("the plan is %+v", plan)
	}
	applied, err := upkeep.Apply(t.Context(), c.store, plan)
	c.must(err)
	if len(applied.Done) != 2 || len(applied.Kept) != 0 {
		t.Fatalf("of the plan was done %+v", applied)
	}
	c.must(s.Append(t.Context(), session.User("three")))
	c.must(s.Close())
	c.holds("lies", "two")
	c.holds("open", "two", "three")
	c.holds("pinned", "two")
	applied, err = upkeep.Apply(t.Context(), c.store, plan)
	c.must(err)
	if len(applied.Done) != 0 || len(applied.Kept) != 2 {
		t.Fatalf("the second time was done %+v", applied)
	}
}

// testErase erases an entry, and then the session.
func testErase(t *testing.T, open Open) {
	c := beginParts(t, open)
	c.say("k", "one", "a secret that nobody may know", "three")
	c.must(c.store.Fork(t.Context(), "k", "", "fork"))
	v, err := c.store.Read(t.Context(), "k")
	c.must(err)
	receipt, err := upkeep.EraseEntries(t.Context(), c.store, "k", "", v.IDs[1])
	c.must(err)
	if len(receipt.Entries) != 1 || len(receipt.Copies) != 1 || receipt.Bytes <= 0 {
		t.Fatalf("the receipt is %+v", receipt)
	}
	for _, key := range []string{"k", "fork"} {
		for _, part := range c.list(key, 1) {
			if bytes.Contains(c.text(key, part), []byte("secret")) {
				t.Fatalf("%q still has the text", key)
			}
		}
		c.holds(key, "one", "[erased]", "three")
		c.say(key, "four")
		c.holds(key, "one", "[erased]", "three", "four")
	}
	_, err = upkeep.EraseEntries(t.Context(), c.store, "k", "", "nobody")
	c.want(err, session.ErrNotFound)
	receipt, err = upkeep.Erase(t.Context(), c.store, "k")
	c.must(err)
	if len(receipt.Parts) != 1 || len(receipt.Forks) != 1 {
		t.Fatalf("the receipt of the session is %+v", receipt)
	}
	c.list("k", 0)
	_, err = c.store.Read(t.Context(), "k")
	c.want(err, session.ErrNotFound)
}

// testResetRule: a conversation begins anew by a rule, and not without one.
func testResetRule(t *testing.T, open Open) {
	now := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
	rule := resets.Rule{Mode: resets.Daily, Hour: 4, Location: time.UTC}
	c := begin(t, open, &session.Options{
		Now: func() time.Time { return now }, ResetRule: func(string) resets.Rule { return rule },
	})
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	c.must(s.Close())
	now = now.Add(4 * time.Hour)
	s, err := c.store.Resume(t.Context(), "k")
	c.must(err)
	c.must(s.Close())
	c.holds("k", "one")
	s = c.open("k")
	if d := s.FreshStart(); !d.Due || d.Reason != "daily" {
		t.Fatalf("after the hour the session was opened with %+v", d)
	}
	c.must(s.Append(t.Context(), session.User("two")))
	c.must(s.Close())
	c.holds("k", "two")
	rule, now = resets.Rule{}, now.AddDate(1, 0, 0)
	s = c.open("k")
	c.must(s.Close())
	c.holds("k", "two")
}
