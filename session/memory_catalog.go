package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// memory is a [Lister] and a [Feeder].
var (
	_ Lister = (*memory)(nil)
	_ Feeder = (*memory)(nil)
)

// List implements [Lister].
func (m *memory) List(ctx context.Context, q Query) (*Page, error) {
	all, err := m.statuses(ctx)
	if err != nil {
		return nil, err
	}
	page, err := q.page(all)
	if err != nil {
		return nil, err
	}
	for i := range page.Sessions {
		st := &page.Sessions[i]
		st.Counts, st.Open = st.Counts.clone(), m.queues.IsTaken(st.Key)
	}
	return page, nil
}

// Status implements [Lister].
func (m *memory) Status(ctx context.Context, key string) (*Status, error) {
	l := m.of(key, false)
	if l == nil {
		return nil, ErrNotFound
	}
	st, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	st.Counts, st.Open = st.Counts.clone(), m.queues.IsTaken(key)
	return &st, nil
}

func (m *memory) statuses(ctx context.Context) ([]*Status, error) {
	names, err := m.Keys(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]*Status, 0, len(names))
	for _, key := range names {
		l := m.of(key, false)
		if l == nil {
			continue
		}
		st, err := l.read(ctx)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, &st)
	}
	return all, nil
}

// memoryStatus caches the status of a log.
type memoryStatus struct {
	of *memoryText
	Status
}

// read returns the status of the newest log. The caller must not change its counts.
func (l *memoryLogs) read(ctx context.Context) (Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.newest()
	if text == nil || l.deleted {
		return Status{}, ErrNotFound
	}
	s := &l.status
	if s.of == text && s.Bytes <= int64(len(text.text)) && text.archive == nil {
		if more := text.text[s.Bytes:]; len(more) > 0 {
			s.Counts = s.Counts.clone() // somebody may be reading the one that was returned
			s.Add(more)
		}
		return s.Status, nil
	}
	plain, err := text.unpacked()
	if err != nil {
		return Status{}, err
	}
	st, err := readStatusOf(ctx, l.key, plain, int64(len(plain.text)))
	if err != nil {
		return Status{}, err
	}
	s.of, s.Status = text, *st
	return *st, nil
}

// The holder of the lock can read the text of a log as a [Log].

func (t *memoryText) ID() string                                        { return t.id }
func (t *memoryText) Size() (int64, error)                              { return int64(len(t.text)), nil }
func (t *memoryText) Append(context.Context, int64, []byte, bool) error { return ErrClosed }
func (t *memoryText) Close() error                                      { return nil }
func (t *memoryText) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(t.text).ReadAt(p, off)
}

// keptMemory is how many changes are kept at least; followers that are further behind begin anew.
const keptMemory = 1 << 16

// memoryFeed is what changed in memory.
type memoryFeed struct {
	id      string // names this memory: cursors of another one do not fit
	mu      sync.Mutex
	dropped int      // number of older changes that were dropped
	changes []Change // the newest last
	changed chan struct{}
}

func (f *memoryFeed) tell(c Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.changes) >= 2*keptMemory {
		f.dropped += keptMemory
		f.changes = slices.Clone(f.changes[keptMemory:])
	}
	f.changes = append(f.changes, c)
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// since returns what changed since a cursor. changed is closed when there is more.
func (f *memoryFeed) since(cursor string) (c *Changes, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	c = &Changes{Cursor: fmt.Sprintf("%s:%d", f.id, f.dropped+len(f.changes))}
	position, isOurs := strings.CutPrefix(cursor, f.id+":")
	n, err := strconv.Atoi(position)
	if n -= f.dropped; !isOurs || err != nil || n < 0 || n > len(f.changes) {
		c.Resync = true
		return c, f.changed
	}
	c.Changes = slices.Clone(f.changes[n:])
	return c, f.changed
}

// Changes implements [Feeder].
func (m *memory) Changes(ctx context.Context, cursor string, wait bool) (*Changes, error) {
	c, changed := m.feed.since(cursor)
	if !c.Resync {
		if !wait || len(c.Changes) > 0 {
			return c, nil
		}
		select {
		case <-changed:
			return m.Changes(ctx, cursor, wait)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	all, err := m.statuses(ctx) // what changes in the meantime is delivered again
	for _, st := range all {
		c.Changes = append(c.Changes, Change{Key: st.Key, Log: st.Log, To: st.Bytes})
	}
	return c, err
}
