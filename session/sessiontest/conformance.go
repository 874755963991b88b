// Package sessiontest tests backends of package session: every backend has to pass [Run], and [CrashFS] is a file
// system that loses power.
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
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

// Open opens a store. All calls of one Open see the same sessions.
type Open func(opts *session.Options) (*session.Store, error)

// Run checks a backend in subtests. storage makes empty storage for each of them.
func Run(t *testing.T, storage func(t *testing.T) Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"what is appended comes back", testAppend},
		{"messages come back byte for byte", testBytes},
		{"keys are told apart", testKeys},
		{"invalid keys are refused", testBadKeys},
		{"one has the turn at a time", testTurns},
		{"turns are taken in order", testOrder},
		{"entries beside the branch need no turn", testBeside},
		{"readers see a prefix", testReaders},
		{"who reads keeps no writer waiting", testReadersBlockNobody},
		{"who is deleted is told", testDelete},
		{"a deletion leaves nothing", testDeleted},
		{"a log that is begun after a deletion does not come back", testNextAfterDelete},
		{"a log that was left refuses lines", testLeftLog},
		{"who writes nothing leaves nothing", testUnwritten},
		{"a reset begins anew", testReset},
		{"a branch is left and found again", testBranches},
		{"compactions and the state survive", testCompaction},
		{"what was interrupted is named", testInterrupted},
		{"a closed session is of no use", testClosed},
		{"an archive is read, and put back to be written to", testArchive},
		{"old logs are archived for themselves", testOldLogs},
		{"what is removed is an archive", testRemove},
		{"what changed since it was listed is left alone", testChanged},
		{"a turn that is held is seen", testHeld},
		{"a rewritten log has the new bytes", testRewrite},
		{"a log that was rewritten is opened again", testRewriteOfAnOpenLog},
		{"a conversation begins anew by a rule", testResetRule},
		{"maintenance leaves alone what is open or pinned", testMaintenance},
		{"what is erased is gone, and the conversation goes on", testErase},
		{"sessions are listed", testList},
		{"pages are complete while sessions change", testPages},
		{"the status is what the log adds up to", testStatus},
		{"what was acknowledged is listed", testListed},
		{"every change is told", testFeed},
		{"every change of writers at work is told", testFeedAtWork},
		{"who waits for a change gets it", testFeedWaits},
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

// holds requires that a session holds messages with these texts.
func (c check) holds(key string, texts ...string) {
	c.Helper()
	v, err := c.store.Read(c.Context(), key)
	c.must(err)
	if got := textsOf(v.History); !slices.Equal(got, texts) {
		c.Fatalf("%q holds %q, want %q", key, got, texts)
	}
	report, err := upkeep.Verify(c.Context(), c.store, key)
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
		strings.Repeat("x", 1024), strings.Repeat("x", 1023) + "y", strings.Repeat("X", 1024),
		strings.Repeat("\u00e9", 512),
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
