package session_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// interrupting is a backend where something happens just before a part of a session is opened.
type interrupting struct {
	backend.Backend
	key    string
	at     int32 // the opening of a part of key that before precedes, counted from 1
	opened atomic.Int32
	before func()
}

func (i *interrupting) OpenPart(ctx context.Context, key string, part backend.Part) (backend.Log, error) {
	if key == i.key && i.opened.Add(1) == i.at {
		i.before()
	}
	return i.Backend.OpenPart(ctx, key, part)
}

// TestEraseBesideAnotherEraser: another eraser gives a log another ID just before this one opens it.
func TestEraseBesideAnotherEraser(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		reason, key string
		at          int32
	}{
		{"the header of a fork names its origin", "fork", 1},
		{"the entries to erase are looked up", "k", 2}, // the first opening reads the header
	} {
		t.Run(c.reason, func(t *testing.T) {
			store := session.NewMemory(nil)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("first secret"), session.User("second secret"), answer("yes")))
			ids := s.View().IDs
			require.NoError(t, s.Close())
			require.NoError(t, store.Fork(ctx, "k", ids[2], "fork"))

			between := &interrupting{Backend: store.Backend(), key: c.key, at: c.at}
			between.before = func() {
				_, err := upkeep.EraseEntries(ctx, store, "k", "", ids[0])
				require.NoError(t, err)
			}
			_, err := upkeep.EraseEntries(ctx, session.New(between, nil), "k", "", ids[1])
			require.NoError(t, err)
			require.GreaterOrEqual(t, between.opened.Load(), c.at)
			for _, key := range []string{"k", "fork"} {
				v, err := store.Read(ctx, key)
				require.NoError(t, err)
				for _, text := range texts(v) {
					assert.NotContains(t, text, "secret", key)
				}
			}
		})
	}
}

// unopened is a backend that lists the logs of a session although some openings of them fail.
type unopened struct {
	backend.Backend
	key         string
	first, last int32 // the openings that fail, counted from 1; the first one of all reads the header
	opened      atomic.Int32
}

func (u *unopened) OpenPart(ctx context.Context, key string, part backend.Part) (backend.Log, error) {
	if key == u.key {
		if n := u.opened.Add(1); n >= u.first && n <= u.last {
			return nil, session.ErrNotFound
		}
	}
	return u.Backend.OpenPart(ctx, key, part)
}

// TestEraseBesideALogThatCannotBeOpened: the receipt says that it may have copies. It is not looked for until ctx ends.
func TestEraseBesideALogThatCannotBeOpened(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("secret"), answer("yes")))
	id := s.View().IDs[0]
	require.NoError(t, s.Close())
	require.NoError(t, store.Fork(ctx, "k", id, "fork"))

	behind := &unopened{Backend: store.Backend(), key: "fork", first: 2, last: math.MaxInt32}
	r, err := upkeep.EraseEntries(ctx, session.New(behind, nil), "k", "", id)
	require.NoError(t, err)
	assert.Equal(t, []string{"fork"}, r.Unread)
	assert.Equal(t, []string{id}, r.Entries)
}

// TestEraseInALogThatCannotBeOpened: a host takes ErrNotFound for entries that are gone. These are not.
func TestEraseInALogThatCannotBeOpened(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for _, c := range []struct {
		reason string
		first  int32
	}{
		{"the entries are looked up", 2},
		{"the entries are erased", 3},
	} {
		t.Run(c.reason, func(t *testing.T) {
			store := session.NewMemory(nil)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("secret")))
			id := s.View().IDs[0]
			require.NoError(t, s.Close())

			behind := &unopened{Backend: store.Backend(), key: "k", first: c.first, last: math.MaxInt32}
			r, err := upkeep.EraseEntries(ctx, session.New(behind, nil), "k", "", id)
			assert.Nil(t, r)
			require.ErrorContains(t, err, "cannot be opened")
			require.NotErrorIs(t, err, session.ErrNotFound)
			assert.Contains(t, everything(t, store, "k"), "secret")
			_, err = upkeep.EraseEntries(ctx, store, "k", "", id)
			require.NoError(t, err, "once it can be opened")
			assert.NotContains(t, everything(t, store, "k"), "secret")
		})
	}
}

// TestEraseBesideALogThatIsOpenedLater: a log that is not there once, when it is opened, is opened again.
func TestEraseBesideALogThatIsOpenedLater(t *testing.T) {
	ctx := t.Context()
	for _, first := range []int32{2, 3} { // to look the entries up, to erase them
		store := session.NewMemory(nil)
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User("secret")))
		id := s.View().IDs[0]
		require.NoError(t, s.Close())

		behind := &unopened{Backend: store.Backend(), key: "k", first: first, last: first}
		_, err := upkeep.EraseEntries(ctx, session.New(behind, nil), "k", "", id)
		require.NoError(t, err)
		assert.NotContains(t, everything(t, store, "k"), "secret")
	}
}

// TestEraseBesideANewSession: meanwhile the session is deleted and begun anew. Its log has another entry with the same
// id, which stays.
func TestEraseBesideANewSession(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory(nil)
	begin := func(text string) (id string) {
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User(text)))
		id = s.View().IDs[0]
		require.NoError(t, s.Close())
		return id
	}
	id := begin("secret")
	between := &turning{Backend: store.Backend(), key: "k"}
	between.before = func() {
		require.NoError(t, store.Delete(ctx, "k"))
		require.Equal(t, id, begin("new"))
	}
	r, err := upkeep.EraseEntries(ctx, session.New(between, nil), "k", "", id)
	require.NoError(t, err)
	assert.Zero(t, r.Bytes)
	assert.Equal(t, []string{"new"}, heard(t, store, "k"))
}

// turning is a backend where something happens once, just before the turn of a session is taken.
type turning struct {
	backend.Backend
	key    string
	before func()
}

func (w *turning) Turn(ctx context.Context, key string) (backend.Turn, error) {
	if before := w.before; before != nil && key == w.key {
		w.before = nil
		before()
	}
	return w.Backend.Turn(ctx, key)
}

// TestEraseBesideAReset: meanwhile another eraser gives the log another ID, and the next log has other entries with the
// same ids. What was asked for is erased, and nothing else.
func TestEraseBesideAReset(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		reason, log string
		erased      bool // by the other eraser
	}{
		{"the newest log was meant", "", false},
		{"the other eraser has erased the entry too", "", true},
		{"the log was named", "named", false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			store := session.NewMemory(nil)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("first"), session.User("secret"), answer("yes")))
			ids := s.View().IDs
			require.NoError(t, s.Close())
			parts, err := store.Parts(ctx, "k")
			require.NoError(t, err)
			log := c.log
			if log != "" {
				log = parts[0].Log
			}

			between := &turning{Backend: store.Backend(), key: "k"}
			between.before = func() {
				entry := ids[0]
				if c.erased {
					entry = ids[1]
				}
				_, err := upkeep.EraseEntries(ctx, store, "k", "", entry)
				require.NoError(t, err)
				s := open(t, store, "k")
				require.NoError(t, s.Reset(ctx, "anew", nil))
				require.NoError(t, s.Append(ctx, session.User("third"), session.User("fourth")))
				require.Equal(t, ids[1], s.View().IDs[1])
				require.NoError(t, s.Close())
			}
			r, err := upkeep.EraseEntries(ctx, session.New(between, nil), "k", log, ids[1])
			require.NoError(t, err)
			assert.Equal(t, []string{ids[1]}, r.Entries)
			v, err := store.Read(ctx, "k")
			require.NoError(t, err)
			assert.Equal(t, []string{"third", "fourth"}, texts(v), "the newest log")
			assert.NotContains(t, everything(t, store, "k"), "secret")
		})
	}
}

// TestEraseBesideManyErasers: the log has another ID whenever the turn is taken. In a log that ended in a reset, the
// entry with the same id is erased already: it is not taken for the one that was meant.
func TestEraseBesideManyErasers(t *testing.T) {
	for _, isReset := range []bool{false, true} {
		t.Run(fmt.Sprint("reset: ", isReset), func(t *testing.T) { eraseBesideManyErasers(t, isReset) })
	}
}

func eraseBesideManyErasers(t *testing.T, isReset bool) {
	ctx := t.Context()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	if isReset {
		require.NoError(t, s.Append(ctx, session.User("old"), answer("yes")))
		erased := s.View().IDs[0]
		require.NoError(t, s.Reset(ctx, "anew", nil))
		require.NoError(t, s.Close())
		parts, err := store.Parts(ctx, "k")
		require.NoError(t, err)
		_, err = upkeep.EraseEntries(ctx, store, "k", parts[0].Log, erased)
		require.NoError(t, err)
		s = open(t, store, "k")
	}
	require.NoError(t, s.Append(ctx, session.User("secret")))
	for range 8 {
		require.NoError(t, s.Append(ctx, session.User("another")))
	}
	ids := s.View().IDs
	require.NoError(t, s.Close())

	others := ids[1:]
	between := &turning{Backend: store.Backend(), key: "k"}
	var another func()
	another = func() {
		_, err := upkeep.EraseEntries(ctx, store, "k", "", others[0])
		require.NoError(t, err)
		others, between.before = others[1:], another
	}
	between.before = another
	r, err := upkeep.EraseEntries(ctx, session.New(between, nil), "k", "", ids[0])
	require.NoError(t, err)
	assert.Less(t, len(others), 8)
	assert.NotContains(t, everything(t, store, "k"), "secret")
	parts, err := store.Parts(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, parts[len(parts)-1].Log, r.Log, "the ID that it has since")
}

// locked is a backend that cannot read one log.
type locked struct {
	backend.Backend
	log string
}

func (l *locked) OpenPart(ctx context.Context, key string, part backend.Part) (backend.Log, error) {
	if part.Log == l.log {
		return nil, errors.New("no key for it")
	}
	return l.Backend.OpenPart(ctx, key, part)
}

// TestEraseBesideALockedLog: if the log has another ID meanwhile, a log that cannot be read is an error, because it may
// be the one that was meant. Called again, the erasure finds the other one.
func TestEraseBesideALockedLog(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory(nil)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, session.User("old"), answer("yes")))
	require.NoError(t, s.Reset(ctx, "anew", nil))
	require.NoError(t, s.Append(ctx, session.User("secret"), session.User("another")))
	ids := s.View().IDs
	require.NoError(t, s.Close())
	parts, err := store.Parts(ctx, "k")
	require.NoError(t, err)

	between := &turning{Backend: &locked{store.Backend(), parts[0].Log}, key: "k"}
	between.before = func() {
		_, err := upkeep.EraseEntries(ctx, store, "k", "", ids[1])
		require.NoError(t, err)
	}
	_, err = upkeep.EraseEntries(ctx, session.New(between, nil), "k", "", ids[0])
	require.ErrorContains(t, err, "no key for it")
	r, err := upkeep.EraseEntries(ctx, session.New(between, nil), "k", "", ids[0])
	require.NoError(t, err)
	assert.Equal(t, []string{"k"}, r.Unread)
	assert.NotContains(t, everything(t, store, "k"), "secret")
}

// TestEraseBesideADeletion: a session is deleted after its log was opened to erase in. Nothing of it is left to erase
// then.
func TestEraseBesideADeletion(t *testing.T) {
	ctx := t.Context()
	for _, key := range []string{"k", "fork"} {
		store := session.NewMemory(nil)
		s := open(t, store, "k")
		require.NoError(t, s.Append(ctx, session.User("secret"), answer("yes")))
		id := s.View().IDs[0]
		require.NoError(t, s.Close())
		require.NoError(t, store.Fork(ctx, "k", id, "fork"))

		between := &rewriting{store.Backend(), store, key}
		_, err := upkeep.EraseEntries(ctx, session.New(between, nil), "k", "", id)
		require.NoError(t, err)
		for _, left := range []string{"k", "fork"} {
			assert.NotContains(t, everything(t, store, left), "secret")
		}
	}
}

// rewriting is a backend where a session is deleted just before its log is rewritten.
type rewriting struct {
	backend.Backend
	store *session.Store
	key   string
}

func (w *rewriting) Rewrite(
	ctx context.Context, turn backend.Turn, part backend.Part, patches []backend.Patch, lines []byte,
) error {
	parts, err := w.Parts(ctx, w.key)
	if err == nil && slices.Contains(parts, part) {
		err = w.store.Delete(ctx, w.key)
	}
	if err != nil {
		return err
	}
	return w.Backend.Rewrite(ctx, turn, part, patches, lines)
}

// everything returns the text of all logs of a session.
func everything(t *testing.T, store *session.Store, key string) string {
	m := store.Backend()
	parts, err := m.Parts(t.Context(), key)
	require.NoError(t, err)
	var all []byte
	for _, part := range parts {
		log, err := m.OpenPart(t.Context(), key, part)
		require.NoError(t, err)
		size, err := log.Size()
		require.NoError(t, err)
		text := make([]byte, size)
		_, err = log.ReadAt(text, 0)
		require.NoError(t, err)
		all = append(all, text...)
		require.NoError(t, log.Close())
	}
	return string(all)
}

// rewritten is a backend in which somebody rewrites a log of a session after it was opened for the nth time. As in
// PostgreSQL, what was opened can then no longer be read.
type rewritten struct {
	backend.Backend
	key     string
	at      int32
	rewrite func()
	opened  atomic.Int32
}

func (w *rewritten) OpenPart(ctx context.Context, key string, part backend.Part) (backend.Log, error) {
	log, err := w.Backend.OpenPart(ctx, key, part)
	if key == w.key && err == nil && w.opened.Add(1) == w.at {
		w.rewrite()
		return &unreadable{log}, nil
	}
	return log, err
}

// unreadable is a log that was rewritten since it was opened.
type unreadable struct{ backend.Log }

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, session.ErrDeleted }

// TestEraseBesideARewriteBehindTheOpening: whatever an eraser reads when another one rewrites it, it misses no copy.
func TestEraseBesideARewriteBehindTheOpening(t *testing.T) {
	for _, c := range []struct {
		reason string
		key    string
		at     int32
	}{
		{"the header of the fork is read, which says that it is a fork", "fork", 1},
		{"the header of the session is read", "k", 1},
		{"the entries are looked up", "k", 2},
	} {
		t.Run(c.reason, func(t *testing.T) {
			ctx := t.Context()
			store := session.NewMemory(nil)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("secret"), session.User("other")))
			ids := s.View().IDs
			require.NoError(t, s.Close())
			require.NoError(t, store.Fork(ctx, "k", "", "fork"))

			beside := &rewritten{Backend: store.Backend(), key: c.key, at: c.at}
			beside.rewrite = func() {
				_, err := upkeep.EraseEntries(ctx, store, c.key, "", ids[1])
				require.NoError(t, err)
			}
			r, err := upkeep.EraseEntries(ctx, session.New(beside, nil), "k", "", ids[0])
			require.NoError(t, err)
			assert.Empty(t, r.Unread)
			require.GreaterOrEqual(t, beside.opened.Load(), c.at)
			for _, key := range []string{"k", "fork"} {
				assert.NotContains(t, everything(t, store, key), "secret", key)
			}
		})
	}
}
