package sessiontest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// These tests are for a [backend.Backend] that can list what it keeps. Others skip them.

// parts is a check of one.
type parts struct {
	check
	backend backend.Backend
}

func beginParts(t *testing.T, open Open) parts {
	t.Helper()
	c := begin(t, open, nil)
	m := c.store.Backend()
	if _, err := m.Parts(t.Context(), "k"); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the backend cannot list what it keeps")
	}
	return parts{c, m}
}

// say appends a message.
func (c parts) say(key string, texts ...string) {
	c.Helper()
	s := c.open(key)
	for _, text := range texts {
		c.must(s.Append(c.Context(), session.User(text)))
	}
	c.must(s.Close())
}

// list returns the parts of a session, and requires that there are n.
func (c parts) list(key string, n int) []backend.Part {
	c.Helper()
	p, err := c.backend.Parts(c.Context(), key)
	c.must(err)
	if len(p) != n {
		c.Fatalf("%q has the parts %+v, want %d", key, p, n)
	}
	for i, part := range p {
		if part.Open != (i == n-1) {
			c.Fatalf("part %d of %d has Open %v: %+v", i, n, part.Open, part)
		}
	}
	return p
}

// withTurn runs f with the turn of a session.
func (c parts) withTurn(key string, f func(backend.Turn) error) error {
	c.Helper()
	turn, err := c.backend.Turn(c.Context(), key)
	c.must(err)
	return errors.Join(f(turn), turn.Release())
}

func (c parts) archive(key string, log backend.Part) backend.Part {
	c.Helper()
	var archive backend.Part
	c.must(c.withTurn(key, func(turn backend.Turn) (err error) {
		archive, err = c.backend.Archive(c.Context(), turn, log, archivedAt)
		return err
	}))
	return archive
}

func (c parts) text(key string, part backend.Part) []byte {
	c.Helper()
	log, err := c.backend.OpenPart(c.Context(), key, part)
	c.must(err)
	size, err := log.Size()
	c.must(err)
	text, err := io.ReadAll(io.NewSectionReader(log, 0, size))
	c.must(err)
	c.must(log.Close())
	return text
}

// sideLine returns an entry beside the branch.
func sideLine(seq int) string {
	return fmt.Sprintf("{\"seq\":%d,\"id\":\"e%[1]d\",\"type\":\"custom\"}\n", seq)
}

var archivedAt = time.Unix(1_700_000_000, 0)

func testArchive(t *testing.T, open Open) {
	c := beginParts(t, open)
	c.list("nobody", 0)
	c.say("k", "one", "two")
	log := c.list("k", 1)[0]
	if log.Kind != backend.PartLog || log.Bytes <= 0 || log.Name == "" || log.Log == "" {
		t.Fatalf("the log is listed as %+v", log)
	}
	text := c.text("k", log)
	if int64(len(text)) != log.Bytes {
		t.Fatalf("the log has %d bytes, and is listed with %d", len(text), log.Bytes)
	}
	archive := c.archive("k", log)
	if listed := c.list("k", 1)[0]; listed != archive {
		t.Fatalf("the archive is listed as %+v, and Archive returned %+v", listed, archive)
	}
	if archive.Kind != backend.PartArchive || archive.Log != log.Log || !archive.Time.Equal(archivedAt) {
		t.Fatalf("the archive of %+v is %+v", log, archive)
	}
	if !bytes.Equal(c.text("k", archive), text) {
		t.Fatal("the archive does not hold what the log did")
	}
	c.holds("k", "one", "two") // reading changes nothing
	c.list("k", 1)
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) != 1 || keys[0] != "k" {
		t.Fatalf("with an archive the keys are %q", keys)
	}

	c.say("k", "three")
	c.holds("k", "one", "two", "three")
	if again := c.list("k", 1)[0]; again.Kind != backend.PartLog || again.Log != log.Log {
		t.Fatalf("the log that was put back is %+v", again)
	}
	c.archive("k", c.list("k", 1)[0])
	title := "a title"
	c.must(c.store.SetInfo(t.Context(), "k", session.Info{Title: &title}))
	c.holds("k", "one", "two", "three")
	v, err := c.store.Read(t.Context(), "k")
	c.must(err)
	if v.Info.Title == nil || *v.Info.Title != title {
		t.Fatal("the title of an archived session is lost")
	}
}

func testOldLogs(t *testing.T, open Open) {
	c := beginParts(t, open)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	c.must(s.Reset(t.Context(), "test", nil))
	c.must(s.Append(t.Context(), session.User("two")))
	c.must(s.Close())
	old := c.list("k", 2)[0]
	lines := c.text("k", old)
	archive := c.archive("k", old)
	if archive.Open {
		t.Fatalf("the archive of the old log is %+v", archive)
	}
	c.say("k", "three")
	c.holds("k", "two", "three")
	if now := c.list("k", 2)[0]; now != archive {
		t.Fatalf("the archive of the old log is %+v, it was %+v", now, archive)
	}
	newest := c.archive("k", c.list("k", 2)[1])
	s = c.open("k") // the newest log is restored, and the old archive stays
	c.must(s.Reset(t.Context(), "test", nil))
	c.must(s.Close())
	c.holds("k")
	list := c.list("k", 3)
	if list[0] != archive || list[1].Log != newest.Log || list[1].Kind != backend.PartLog {
		t.Fatalf("after another reset there are %+v", list)
	}
	if !bytes.Equal(c.text("k", list[0]), lines) {
		t.Fatal("the old log is lost")
	}
}

func testRemove(t *testing.T, open Open) {
	c := beginParts(t, open)
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one")))
	c.must(s.Reset(t.Context(), "test", nil))
	c.must(s.Append(t.Context(), session.User("two")))
	c.must(s.Close())
	for _, log := range c.list("k", 2) {
		err := c.withTurn("k", func(turn backend.Turn) error { return c.backend.Remove(t.Context(), turn, log) })
		if err == nil {
			t.Fatalf("the log %+v was removed", log)
		}
	}
	old := c.archive("k", c.list("k", 2)[0])
	c.must(c.withTurn("k", func(turn backend.Turn) error { return c.backend.Remove(t.Context(), turn, old) }))
	c.want(c.withTurn("k", func(turn backend.Turn) error { return c.backend.Remove(t.Context(), turn, old) }),
		session.ErrChanged)
	c.holds("k", "two")
	_, err := c.backend.OpenPart(t.Context(), "k", old)
	c.want(err, session.ErrNotFound)
	last := c.archive("k", c.list("k", 1)[0])
	c.must(c.withTurn("k", func(turn backend.Turn) error { return c.backend.Remove(t.Context(), turn, last) }))
	c.list("k", 0)
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) > 0 {
		t.Fatalf("after the last part is gone there are %q", keys)
	}
	_, err = c.store.Read(t.Context(), "k")
	c.want(err, session.ErrNotFound)
	c.say("k", "new")
	c.holds("k", "new")
}

func testChanged(t *testing.T, open Open) {
	c := beginParts(t, open)
	c.say("k", "one")
	log := c.list("k", 1)[0]
	c.say("k", "two")
	c.want(c.withTurn("k", func(turn backend.Turn) error {
		_, err := c.backend.Archive(t.Context(), turn, log, archivedAt)
		return err
	}), session.ErrChanged)
	c.want(c.withTurn("k", func(turn backend.Turn) error {
		return c.backend.Rewrite(t.Context(), turn, log, nil, nil)
	}), session.ErrChanged)
	c.holds("k", "one", "two")
	now := c.list("k", 1)[0]
	c.want(c.withTurn("k", func(turn backend.Turn) error {
		_, err := c.backend.Archive(t.Context(), turn, now, archivedAt, log)
		return err
	}), session.ErrChanged)

	archive := c.archive("k", now)
	c.say("k", "three") // the archive is gone
	c.want(c.withTurn("k", func(turn backend.Turn) error {
		return c.backend.Remove(t.Context(), turn, archive)
	}), session.ErrChanged)
	c.holds("k", "one", "two", "three")

	s := c.open("k")
	c.must(s.Reset(t.Context(), "test", nil))
	c.must(s.Close())
	old := c.archive("k", c.list("k", 2)[0])
	newest := c.list("k", 2)[1]
	yes := true
	c.must(c.store.SetInfo(t.Context(), "k", session.Info{Pinned: &yes}))
	c.want(c.withTurn("k", func(turn backend.Turn) error {
		return c.backend.Remove(t.Context(), turn, old, newest)
	}), session.ErrChanged)
	c.list("k", 2)
}

func testHeld(t *testing.T, open Open) {
	c := beginParts(t, open)
	held := func(want bool, when string) {
		t.Helper()
		is, err := c.backend.IsHeld(t.Context(), "k")
		c.must(err)
		if is != want {
			t.Fatalf("%s the turn is held: %v", when, is)
		}
	}
	held(false, "before there is a session")
	keys, err := c.store.Keys(t.Context())
	c.must(err)
	if len(keys) > 0 {
		t.Fatalf("to ask for a turn made %q", keys)
	}
	s := c.open("k")
	held(true, "while it is open")
	c.must(s.Append(t.Context(), session.User("one")))
	held(true, "after an append")
	c.must(s.Close())
	held(false, "after it was closed")
	c.say("k", "two")
}

func testRewrite(t *testing.T, open Open) {
	c := beginParts(t, open)
	c.say("k", "one", "two", "three")
	_, err := c.store.Changes(t.Context(), "")
	f := &follower{check: c.check}
	hasFeed := !errors.Is(err, errors.ErrUnsupported)
	c.must(c.store.AddUsage(t.Context(), "k", "a secret", winnow.Usage{Input: 1})) // never sealed
	patch := func(part backend.Part, from, to, line string) {
		t.Helper()
		at := bytes.Index(c.text("k", part), []byte(from))
		c.must(c.withTurn("k", func(turn backend.Turn) error {
			p := []backend.Patch{{Offset: int64(at), Text: []byte(to)}}
			return c.backend.Rewrite(t.Context(), turn, part, p, []byte(line))
		}))
		now := c.list("k", 1)[0]
		text := c.text("k", now)
		if now.Log == part.Log || now.Log == "" {
			t.Fatalf("the rewritten log %q has the ID %q", part.Log, now.Log)
		}
		if st := c.status("k"); st.Log != now.Log {
			t.Fatalf("the status is of the log %q, which is %q", st.Log, now.Log)
		}
		if hasFeed { // followers forget the old log
			changes := f.take().Changes
			if i := len(changes) - 1; i < 0 || changes[i].Log != now.Log || changes[i].From != 0 {
				t.Fatalf("the log %q was rewritten, and the feed has %+v", now.Log, changes)
			}
			f.isComplete()
		}
		if bytes.Contains(text, []byte(from)) || !bytes.Contains(text, []byte(to)) ||
			!bytes.HasSuffix(text, []byte(line)) {
			t.Fatalf("the rewritten log is %s", text)
		}
	}
	patch(c.list("k", 1)[0], "a secret", "an enigm", sideLine(1000))
	archive := c.archive("k", c.list("k", 1)[0])
	patch(archive, "an enigm", "a puzzle", sideLine(1001))
	if now := c.list("k", 1)[0]; now.Kind != backend.PartArchive || !now.Time.Equal(archive.Time) {
		t.Fatalf("the rewritten archive is %+v, it was %+v", now, archive)
	}
	before := c.list("k", 1)[0]
	c.say("k", "four")
	log := c.list("k", 1)[0]
	if log.Log != before.Log {
		t.Fatalf("the archive of %q is put back as %q", before.Log, log.Log)
	}
	again, err := c.backend.Log(t.Context(), "k", false)
	c.must(err)
	if id := again.ID(); id != log.Log {
		t.Fatalf("the log is %q, and its part says %q", id, log.Log)
	}
	c.must(again.Close())

	for _, bad := range [][]backend.Patch{
		{{Offset: -1, Text: []byte("x")}}, {{Offset: log.Bytes, Text: []byte("x")}},
		{{Offset: 5, Text: []byte("xx")}, {Offset: 6, Text: []byte("x")}},
	} {
		err := c.withTurn("k", func(turn backend.Turn) error {
			return c.backend.Rewrite(t.Context(), turn, log, bad, nil)
		})
		if err == nil {
			t.Fatalf("the patches %+v were taken", bad)
		}
	}
	if now := c.list("k", 1)[0]; now != log {
		t.Fatalf("a patch that was refused left %+v", now)
	}
}

// testRewriteOfAnOpenLog: whoever has a rewritten log open has to open it again.
func testRewriteOfAnOpenLog(t *testing.T, open Open) {
	c := beginParts(t, open)
	c.say("k", "one")
	part := c.list("k", 1)[0]
	log, err := c.backend.Log(t.Context(), "k", true)
	c.must(err)
	c.must(c.withTurn("k", func(turn backend.Turn) error {
		return c.backend.Rewrite(t.Context(), turn, part, nil, nil)
	}))
	var moved *backend.MovedError
	if err := log.Append(t.Context(), part.Bytes, []byte(sideLine(1000)), true); !errors.As(err, &moved) ||
		!moved.Next {
		t.Fatalf("an append to a log that was rewritten returns %v", err)
	}
	c.must(log.Close())
	log, err = c.backend.Log(t.Context(), "k", true)
	c.must(err)
	c.archive("k", c.list("k", 1)[0])
	if err := log.Append(t.Context(), part.Bytes, []byte(sideLine(1000)), true); !errors.As(err, &moved) ||
		!moved.Next {
		t.Fatalf("an append to a log that was archived returns %v", err)
	}
	c.must(log.Close())
	c.holds("k", "one")
}
