package dir

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/backend"
)

// What this store writes is told at once. What others write is found by looking at all sessions: as often as
// leastPause, but less often in a large store, so that looking takes no more than a part of the time. A look takes
// about 20 ms for 1 000 sessions, so their changes are found within 0.3 s; those of 100 000 within half a minute.
const (
	leastPause = 100 * time.Millisecond
	lookShare  = 15
)

// Changes implements [backend.Backend].
func (d *Directory) Changes(ctx context.Context, cursor string, wait bool) (*backend.Changes, error) {
	x := d.index
	for {
		asked, changed := x.asked.Load(), x.listen()
		c, pause, err := x.changes(ctx, asked, cursor, wait)
		if !wait || err != nil || c.Resync || len(c.Changes) > 0 {
			return c, err
		}
		select {
		case <-changed:
		case <-time.After(pause):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// changes returns what changed since the cursor, and how long until all sessions are to be looked at again. If it is
// asked by somebody who waits, it looks at them only then, and otherwise at what this process wrote.
func (x *index) changes(
	ctx context.Context, asked int64, cursor string, waits bool,
) (c *backend.Changes, pause time.Duration, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	pause = max(leastPause, lookShare*x.took) - time.Since(x.at)
	if waits && x.follows && (pause > 0 || x.directory.IsAlone) {
		err = x.lookAtWritten(ctx, asked)
	} else {
		x.follows = true
		err = x.look(ctx, asked, true)
		pause = max(leastPause, lookShare*x.took) - time.Since(x.at)
	}
	if x.directory.IsAlone {
		pause = math.MaxInt64
	}
	if err != nil {
		return nil, 0, err
	}
	c = x.feed.since(cursor)
	if c.Resync {
		for _, r := range x.rows {
			c.Changes = append(c.Changes, backend.Change{Key: r.key, Log: r.log, To: r.Bytes})
		}
		slices.SortFunc(c.Changes, func(a, b backend.Change) int { return strings.Compare(a.Key, b.Key) })
	}
	return c, pause, nil
}

// lookAtWritten looks at the sessions that this store has changed. The lock is held.
func (x *index) lookAtWritten(ctx context.Context, asked int64) error {
	written := x.takeWritten()
	if written == nil {
		return x.look(ctx, asked, true)
	}
	for dir := range written {
		if err := x.lookAt(ctx, dir); err != nil {
			x.missed()
			return err
		}
	}
	return nil
}

func (x *index) lookAt(ctx context.Context, dir string) error {
	isThere := false
	err := x.directory.visit(x.directory.fs, dir, dir, x.directory.withLog(func(s *stored) error {
		isThere = true
		f, err := x.compare(ctx, s, true)
		x.put(f)
		return err
	}))
	if err = unlessGone(err); err == nil && !isThere {
		x.drop(dir)
	}
	return err
}

// mostWritten is how many changed sessions are remembered; when there are more, all sessions are looked at.
const mostWritten = 1 << 10

// wrote notes that this store changed a session, and wakes those who wait.
func (x *index) wrote(dir string) {
	x.telling.Lock()
	defer x.telling.Unlock()
	if x.written != nil {
		if x.written[dir] = true; len(x.written) > mostWritten {
			x.written = nil
		}
	}
	if x.changed != nil {
		close(x.changed)
		x.changed = nil
	}
}

// takeWritten returns what was written since the last call, nil if that is not known.
func (x *index) takeWritten() map[string]bool {
	x.telling.Lock()
	defer x.telling.Unlock()
	written := x.written
	if x.written = nil; x.follows {
		x.written = map[string]bool{}
	}
	return written
}

// missed notes that a look failed: the next one looks at everything.
func (x *index) missed() {
	x.telling.Lock()
	defer x.telling.Unlock()
	x.written = nil
}

// listen returns a channel that is closed when this process changes a session.
func (x *index) listen() <-chan struct{} {
	x.telling.Lock()
	defer x.telling.Unlock()
	if x.changed == nil {
		x.changed = make(chan struct{})
	}
	return x.changed
}

// keptChanges is how many changes are kept at least; followers that are further behind begin anew.
const keptChanges = 1 << 16

// feed is what changed while somebody followed. A cursor is an index in it. The lock of the index protects it.
type feed struct {
	id      string           // names this feed: cursors of another store do not fit
	dropped int              // number of older changes that were dropped
	changes []backend.Change // the newest last
}

func (f *feed) tell(c backend.Change) {
	if len(f.changes) >= 2*keptChanges {
		f.dropped += keptChanges
		f.changes = slices.Clone(f.changes[keptChanges:])
	}
	f.changes = append(f.changes, c)
}

// since returns what changed since a cursor. With Resync it has no changes yet.
func (f *feed) since(cursor string) *backend.Changes {
	c := &backend.Changes{Cursor: fmt.Sprintf("%s:%d", f.id, f.dropped+len(f.changes))}
	position, isOurs := strings.CutPrefix(cursor, f.id+":")
	n, err := strconv.Atoi(position)
	if n -= f.dropped; !isOurs || err != nil || n < 0 || n > len(f.changes) {
		c.Resync = true
		return c
	}
	c.Changes = slices.Clone(f.changes[n:])
	return c
}
