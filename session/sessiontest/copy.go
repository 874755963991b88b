package sessiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// RunCopy copies sessions from one empty store to another, and back under other keys. The copies must have the bytes of
// the originals.
func RunCopy(t *testing.T, from, to *session.Store) {
	c := check{t, from}
	s := c.open("k")
	c.must(s.Append(t.Context(), session.User("one"), assistant("two")))
	_, err := s.Do(t.Context(), func(context.Context, []winnow.Message) (winnow.Message, error) {
		return assistant("three"), nil
	})
	c.must(err)
	c.must(s.Close())
	c.isCopied(to, "k")
	s = c.open("k")
	c.must(s.Append(t.Context(), session.User("\x00\xff four")))
	title := "a title"
	c.must(from.SetInfo(t.Context(), "k", session.Info{Title: &title}))
	c.must(s.Reset(t.Context(), "asked", json.RawMessage(`{"level":1}`)))
	c.must(s.Append(t.Context(), session.User("anew")))
	c.must(s.Close())
	c.isCopied(to, "k")
	c.isCopied(to, "k") // again
	m := from.Backend()
	parts, err := m.Parts(t.Context(), "k")
	c.must(err)
	turn, err := m.Turn(t.Context(), "k")
	c.must(err)
	_, err = m.Archive(t.Context(), turn, parts[0], time.Unix(1_700_000_000, 0))
	c.must(err)
	c.must(turn.Release())
	c.isCopied(to, "k")
	back := check{t, to}
	s = back.open("back")
	c.must(s.Append(t.Context(), session.User("there")))
	c.must(s.Close())
	back.isCopied(from, "back")
	c.want(upkeep.Copy(t.Context(), from, to, "nobody"), session.ErrNotFound)
	v, err := to.Read(t.Context(), "k")
	c.must(err)
	if got := textsOf(v.History); fmt.Sprint(got) != "[anew]" {
		t.Fatalf("the copy holds %q", got)
	}
	if st := back.status("k"); st.Counts.Turns != 1 || st.Damage != 0 {
		t.Fatalf("the status of the copy is %+v", st)
	}
}

// isCopied copies a session and compares all its logs.
func (c check) isCopied(to *session.Store, key string) {
	c.Helper()
	c.must(upkeep.Copy(c.Context(), c.store, to, key))
	want, got := c.logsOf(c.store, key), c.logsOf(to, key)
	if len(want) != len(got) {
		c.Fatalf("the copy has %d logs, the original %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(want[i], got[i]) {
			c.Fatalf("log %d of the copy is %q, of the original %q", i, got[i], want[i])
		}
	}
}

// logsOf returns the bytes of all logs of a session.
func (c check) logsOf(store *session.Store, key string) (texts [][]byte) {
	c.Helper()
	m := store.Backend()
	parts, err := m.Parts(c.Context(), key)
	c.must(err)
	for _, part := range parts {
		log, err := m.OpenPart(c.Context(), key, part)
		c.must(err)
		texts = append(texts, c.bytesOf(log))
	}
	return texts
}

func (c check) bytesOf(log backend.Log) []byte {
	c.Helper()
	size, err := log.Size()
	c.must(err)
	text := make([]byte, size)
	if n, err := log.ReadAt(text, 0); n < len(text) {
		c.Fatal(err)
	}
	c.must(log.Close())
	return text
}
