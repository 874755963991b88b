// Package sessiontest tests what keeps sessions: [Run] is what every backend of package session has to pass, and
// [CrashFS] is a file system that loses power.
//
//	func TestStore(t *testing.T) {
//		sessiontest.Run(t, func(t *testing.T) sessiontest.Open {
//			dir := t.TempDir()
//			return func(opts *session.Options) (*session.Store, error) {
//				return session.OpenDirectory(dir, opts)
//			}
//		})
//	}
package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// Open opens a store. Every call of one Open gives the same sessions.
type Open func(opts *session.Options) (*session.Store, error)

// Run checks a store in subtests. storage makes an empty one for each of them.
func Run(t *testing.T, storage func(t *testing.T) Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"what is appended comes back", testAppend},
		{"messages come back byte for byte", testBytes},
		{"keys are told apart", testKeys},
		{"keys that are none are refused", testBadKeys},
		{"one has the turn at a time", testTurns},
		{"turns are taken in order", testOrder},
		{"entries beside the branch need no turn", testBeside},
		{"readers see a prefix", testReaders},
		{"who is deleted is told", testDelete},
		{"a deletion leaves nothing", testDeleted},
		{"a reset begins anew", testReset},
		{"a branch is left and found again", testBranches},
		{"compactions and the state survive", testCompaction},
		{"what was interrupted is named", testInterrupted},
		{"a closed session is of no use", testClosed},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, storage(t)) })
	}
}

// check is one run of a subtest.
type check struct {
	*testing.T
	store *session.Store
}

func begin(t *testing.T, open Open, opts *session.Options) check {
	t.Helper()
	store, err := open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return check{t, store}
}

func (c check) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c check) want(err, target error) {
	c.Helper()
	if !errors.Is(err, target) {
		c.Fatalf("the error is %v, want %v", err, target)
	}
}

func (c check) open(key string) *session.Session {
	c.Helper()
	s, err := c.store.Open(c.Context(), key)
	c.must(err)
	return s
}

// holds wants a session to hold messages with these texts.
func (c check) holds(key string, texts ...string) {
	c.Helper()
	v, err := c.store.Read(c.Context(), key)
	c.must(err)
	if got := textsOf(v.History); !slices.Equal(got, texts) {
		c.Fatalf("%q holds %q, want %q", key, got, texts)
	}
	report, err := c.store.Verify(c.Context(), key)
	c.must(err)
	if len(report.Damage) > 0 {
		c.Fatalf("%q has damage: %v", key, report.Damage)
	}
}

func textsOf(history []winnow.Message) []string {
	texts := []string{}
	for _, m := range history {
		var b strings.Builder
		for _, p := range m.Parts {
			b.WriteString(p.Text)
		}
		texts = append(texts, b.String())
	}
	return texts
}

func assistant(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}
}

func testAppend(t *testing.T, open Open) {
	var want []string
	for n := range 5 {
		c := begin(t, open, nil)
		s := c.open("k")
		if got := textsOf(s.View().History); !slices.Equal(got, append([]string{}, want...)) {
			t.Fatalf("opened with %q, want %q", got, want)
		}
		c.must(s.Append(t.Context(), session.User(fmt.Sprint("question ", n)), assistant(fmt.Sprint("answer ", n))))
		want = append(want, fmt.Sprint("question ", n), fmt.Sprint("answer ", n))
		c.holds("k", want...)
		c.must(s.Close())
	}
}

func testBytes(t *testing.T, open Open) {
	c := begin(t, open, nil)
	m := winnow.Message{
		ID: "id", Role: winnow.RoleAssistant, StopReason: "tool_use", Pinned: true,
		Usage:   &winnow.Usage{Input: 1, Output: 2},
		Details: json.RawMessage(`{"exitCode":1}`),
		Parts: []winnow.Part{
			{Text: "<&> \u2028 \x00 \xff " + strings.Repeat("é", 100_000)},
			{Kind: winnow.KindThinking, Text: "hm", Signature: "c2ln"},
			{Kind: winnow.KindToolCall, ID: "1", Name: "t", Arguments: json.RawMessage("{ \"a\" :\n\"<\" }")},
			{Kind: winnow.KindToolCall, ID: "2", Name: "t", Arguments: json.RawMessage(`{"cut`)},
			{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 10},
		},
	}
	s := c.open("k")
	c.must(s.Append(t.Context(), m))
	c.must(s.Close())
	v, err := c.store.Read(t.Context(), "k")
	c.must(err)
	if got, want := fmt.Sprintf("%+v", v.History[0].Parts), fmt.Sprintf("%+v", m.Parts); got != want {
		t.Fatalf("the message came back as %.300s", got)
	}
	h := v.History[0]
	sameHead := h.ID == m.ID && h.StopReason == m.StopReason && h.Pinned
	if !sameHead || *h.Usage != *m.Usage || string(h.Details) != string(m.Details) {
		t.Fatalf("the message came back as %.300s", fmt.Sprintf("%+v", h))
	}
}

// Keys returns keys that file systems and databases confuse.
func Keys() []string {
	return []string{
		"a", "A", "../../etc/passwd", "..", ".", "CON", "nul.txt", "a/b", `a\b`, "a:b", "a b", "a%2fb", "a\x00b",
		"\u00e9", "e\u0301", "*", "~", "k-a", "-", "' OR 1=1; --", "\n", "a.", "a ",
		strings.Repeat("x", 1024), strings.Repeat("x", 1023) + "y", strings.Repeat("X", 1024), strings.Repeat("\u00e9", 512),
	}
}

func testKeys(t *testing.T, open Open) {
	c := begin(t, open, nil)
	for i, key := range Keys() {
		s := c.open(key)
		c.must(s.Append(t.Context(), session.User(fmt.Sprint("key ", i))))
		c.must(s.Close())
	}
	for i, key := range Keys() {
		c.holds(key, fmt.Sprint("key ", i))
	}
	got, err := c.store.Keys(t.Context())
	c.must(err)
	want := Keys()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("Keys returns %q, want %q", got, want)
	}
}

func testBadKeys(t *testing.T, open Open) {
	c := begin(t, open, nil)
	for _, key := range []string{"", "\xff", strings.Repeat("x", 1025)} {
		_, err := c.store.Open(t.Context(), key)
		c.want(err, session.ErrKey)
		_, err = c.store.Read(t.Context(), key)
		c.want(err, session.ErrKey)
		c.want(c.store.Delete(t.Context(), key), session.ErrKey)
	}
	_, err := c.store.Read(t.Context(), "nobody")
	c.want(err, session.ErrNotFound)
	c.want(c.store.SetInfo(t.Context(), "nobody", session.Info{}), session.ErrNotFound)
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) > 0 {
		t.Fatalf("looking for sessions made %q", keys)
	}
}

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
	c.must(c.store.Delete(t.Context(), "k")) // there is none
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
	c.want(c.store.Fork(t.Context(), "k", two, "fork"), session.ErrConflict)
	s = c.open("k")
	c.must(s.Rewind(t.Context(), two))
	m := session.User("1")
	c.must(s.Edit(t.Context(), one, &m, "shorter"))
	c.must(s.Close())
	c.holds("k", "1", "two")
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
