package sessiontest

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/keys"
)

// keysOf returns the keys that a query selects, over all pages.
func (c check) keysOf(q session.Query) []string {
	c.Helper()
	found := []string{}
	for st, err := range c.store.All(c.Context(), q) {
		c.must(err)
		found = append(found, st.Key)
	}
	return found
}

func (c check) lists(q session.Query, want ...string) {
	c.Helper()
	if got := c.keysOf(q); !slices.Equal(got, append([]string{}, want...)) {
		c.Fatalf("%+v finds %q, want %q", q, got, want)
	}
}

func (c check) say(key string, messages ...winnow.Message) {
	c.Helper()
	s := c.open(key)
	c.must(s.Append(c.Context(), messages...))
	c.must(s.Close())
}

func (c check) status(key string) *session.Status {
	c.Helper()
	st, err := c.store.Status(c.Context(), key)
	c.must(err)
	return st
}

func testList(t *testing.T, open Open) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	c := begin(t, open, &session.Options{Now: func() time.Time { return at }})
	c.lists(session.Query{})
	names := []string{"agent:b:main", "agent:a:irc:group:g", "agent:a:main", "agent:a:irc:group:g:thread:1", "Z",
		"\u00e9"}
	for _, key := range names {
		at = at.Add(time.Minute)
		c.say(key, session.User("hello"))
	}
	all := []string{"Z", "agent:a:irc:group:g", "agent:a:irc:group:g:thread:1", "agent:a:main", "agent:b:main",
		"\u00e9"}
	c.lists(session.Query{}, all...)
	c.lists(session.Query{Limit: 1}, all...)
	c.lists(session.Query{Limit: 4}, all...)
	c.lists(session.Query{Limit: 6}, all...)
	newest := slices.Clone(names)
	slices.Reverse(newest)
	c.lists(session.Query{Order: session.Newest}, newest...)
	c.lists(session.Query{Order: session.Newest, Limit: 2}, newest...)
	c.lists(session.Query{Prefix: "agent:a:"}, all[1:4]...)
	c.lists(session.Query{Prefix: "agent:a:", Limit: 2}, all[1:4]...)
	c.lists(session.Query{Prefix: "agent:a_"})
	c.lists(session.Query{Prefix: "%"})
	c.lists(session.Query{Types: []keys.Type{keys.Group}}, "agent:a:irc:group:g")
	c.lists(session.Query{Types: []keys.Type{keys.Group, keys.Thread}}, all[1:3]...)
	c.lists(session.Query{Since: at.Add(-time.Minute)}, "Z", "\u00e9")
	c.lists(session.Query{Until: at.Add(-time.Minute)}, all[1:5]...)
	c.lists(session.Query{Since: at.Add(-time.Minute), Until: at}, "Z")

	yes, no := true, false
	c.must(c.store.SetInfo(t.Context(), "Z", session.Info{Pinned: &yes}))
	c.must(c.store.SetInfo(t.Context(), "agent:a:main", session.Info{Archived: &yes, Pinned: &no}))
	c.lists(session.Query{Pinned: &yes}, "Z")
	c.lists(session.Query{Pinned: &no}, all[1:]...)
	c.lists(session.Query{Archived: &yes}, "agent:a:main")
	c.lists(session.Query{Archived: &no, Types: []keys.Type{keys.Direct}}, "Z", "agent:b:main", "\u00e9")

	c.must(c.store.Delete(t.Context(), "Z"))
	c.lists(session.Query{}, all[1:]...)
	for _, q := range []session.Query{{Limit: -1}, {Order: "oldest"}, {After: "?"}, {After: "b3Jk"}} {
		_, err := c.store.List(t.Context(), q)
		c.want(err, session.ErrQuery)
	}
}

// testPages reads pages while sessions change: in the order of keys, each session that existed all the time comes
// exactly once.
func testPages(t *testing.T, open Open) {
	c := begin(t, open, nil)
	var want []string
	for n := range 25 {
		key := fmt.Sprintf("k%02d", n)
		c.say(key, session.User("hello"))
		if n%5 != 4 {
			want = append(want, key)
		}
	}
	got, q := []string{}, session.Query{Limit: 4}
	for n := 0; ; n++ {
		page, err := c.store.List(t.Context(), q)
		c.must(err)
		if len(page.Sessions) > 4 {
			t.Fatalf("a page of %d", len(page.Sessions))
		}
		for _, st := range page.Sessions {
			got = append(got, st.Key)
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
		c.say(fmt.Sprintf("k%02d", n), session.User("again"))
		c.say(fmt.Sprintf("a%02d", n), session.User("new, before the page"))
		c.must(c.store.Delete(t.Context(), fmt.Sprintf("k%02d", 24-5*(n%5))))
	}
	for _, key := range want {
		if n := len(got) - len(slices.DeleteFunc(slices.Clone(got), func(k string) bool { return k == key })); n != 1 {
			t.Fatalf("%q comes %d times in %q", key, n, got)
		}
	}
}

func testStatus(t *testing.T, open Open) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	c := begin(t, open, &session.Options{Now: func() time.Time { return at }})
	_, err := c.store.Status(t.Context(), "k")
	c.want(err, session.ErrNotFound)
	_, err = c.store.Status(t.Context(), "")
	c.want(err, session.ErrKey)
	began := at
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User(`hello, "role":"tool","usage":{"input":5}`)))
	asked := at
	at = at.Add(time.Hour)
	s.UseModel("large")
	first := assistant("I call.")
	first.Usage = &winnow.Usage{Input: 10, CacheRead: 5, Output: 3}
	arguments := []byte(`{"usage":{"input":99},"role":"user","x":["\\\"",{"summary":true}]}`)
	first.Parts = append(first.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: "1", Name: "t", Arguments: arguments})
	c.must(s.Append(t.Context(), first, session.Result("1", "t", strings.Repeat("result ", 3_000))))
	s.UseModel("small")
	second := assistant("done")
	second.Usage = &winnow.Usage{Input: 20, CacheWrite: 7, Output: 4}
	injected := session.User("by the host")
	injected.Injected = true
	c.must(s.Append(t.Context(), second, injected))
	m := session.User("hi")
	c.must(s.Edit(t.Context(), s.View().IDs[0], &m, "shorter"))
	at = at.Add(time.Hour)
	c.must(c.store.AddUsage(t.Context(), "k", "small", winnow.Usage{Input: 1}))
	title := "a title"
	c.must(c.store.SetInfo(t.Context(), "k", session.Info{Title: &title}))
	want := session.Counts{
		Messages: map[winnow.Role]int{winnow.RoleUser: 2, winnow.RoleAssistant: 2, winnow.RoleTool: 1},
		Turns:    1, Edits: 1, LastTurn: asked, LastUsage: &winnow.Usage{Input: 1},
		Usage: winnow.Usage{Input: 31, CacheRead: 5, CacheWrite: 7, Output: 7},
		Models: map[string]entry.ModelUsage{
			"large": {Calls: 1, Sum: *first.Usage, Last: *first.Usage},
			"small": {Calls: 2, Sum: winnow.Usage{Input: 21, CacheWrite: 7, Output: 4}, Last: winnow.Usage{Input: 1}},
		},
	}
	for _, closed := range []bool{false, true} {
		if closed {
			c.must(s.Close())
		}
		st := c.status("k")
		view, err := c.store.Read(t.Context(), "k")
		c.must(err)
		want.Entries = view.Counts.Entries
		if !reflect.DeepEqual(st.Counts, want) {
			t.Fatalf("the counts are %+v, want %+v", st.Counts, want)
		}
		if !reflect.DeepEqual(view.Counts, want) {
			t.Fatalf("Read counts %+v, want %+v", view.Counts, want)
		}
		sameTimes := st.Created.Equal(began) && st.LastInteraction.Equal(asked) && st.Updated.Equal(at)
		if !sameTimes || st.Key != "k" || st.Log == "" || st.Bytes == 0 || st.Damage != 0 || *st.Info.Title != title {
			t.Fatalf("the status is %+v", st)
		}
		page, err := c.store.List(t.Context(), session.Query{})
		c.must(err)
		if len(page.Sessions) == 1 {
			page.Sessions[0].Open = st.Open // one may know more than the other
		}
		if len(page.Sessions) != 1 || !reflect.DeepEqual(page.Sessions[0], *st) {
			t.Fatalf("List has %+v, Status %+v", page.Sessions, st)
		}
	}
	s = c.open("k")
	log := c.status("k").Log
	c.must(s.Append(t.Context(), session.User("more")))
	page, err := c.store.List(t.Context(), session.Query{})
	c.must(err)
	if !page.Sessions[0].Open || !c.status("k").Open {
		t.Fatal("a session that is written to is not open")
	}
	c.must(s.Reset(t.Context(), "asked", nil))
	c.must(s.Close())
	if st := c.status("k"); st.Log == log || st.Counts.Turns != 0 || !st.Created.Equal(at) {
		t.Fatalf("after a reset the status is %+v", st)
	}
}

// testListed writes to many sessions at once while it lists: every list has what was acknowledged before.
func testListed(t *testing.T, open Open) {
	c := begin(t, open, nil)
	var mu sync.Mutex
	acknowledged := map[string]int{}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			key := fmt.Sprint("k", n)
			turns := 0
			for range 6 {
				s, err := c.store.Open(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				for range n%3 + 1 {
					if err := s.Append(t.Context(), session.User("hello")); err != nil {
						t.Error(err)
					}
					turns++
					mu.Lock()
					acknowledged[key] = turns
					mu.Unlock()
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range untilDone(&wg) {
		mu.Lock()
		want := map[string]int{}
		for key, turns := range acknowledged {
			want[key] = turns
		}
		mu.Unlock()
		got := map[string]int{}
		for st, err := range c.store.All(t.Context(), session.Query{Limit: 3}) {
			c.must(err)
			got[st.Key] = st.Counts.Turns
		}
		for key, turns := range want {
			if got[key] < turns {
				t.Fatalf("%q has %d turns in the list, %d were acknowledged", key, got[key], turns)
			}
		}
	}
}

// untilDone iterates until wg is done, and once more after that.
func untilDone(wg *sync.WaitGroup) iter.Seq[struct{}] {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	return func(yield func(struct{}) bool) {
		for isDone := false; !isDone; {
			select {
			case <-done:
				isDone = true
			default:
			}
			if !yield(struct{}{}) {
				return
			}
		}
	}
}
