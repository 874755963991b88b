package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// archiveSuffix follows the number of a log in the name of its archive.
const archiveSuffix = ".gz"

// maxPacked is how many bytes of a log are compressed at once, so that reading a part of an archive unpacks little
// more.
const maxPacked = 1 << 20

// part is a stored log.
type part struct {
	backend.Part
	number int32
	size   int64 // uncompressed size of the log
}

// Parts implements [backend.Backend].
func (b *Backend) Parts(ctx context.Context, key string) (parts []backend.Part, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		listed, err := b.parts(ctx, b.pool, key)
		parts = nil
		for _, p := range listed {
			parts = append(parts, p.Part)
		}
		return err
	})
	return parts, err
}

func (b *Backend) parts(ctx context.Context, q reader, key string) ([]part, error) {
	rows, err := q.Query(ctx, b.sql.parts, b.mode, []byte(key))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p part, err error) {
		var began time.Time
		var packed *time.Time
		if err := row.Scan(&p.number, &began, &packed, &p.Open, &p.size, &p.Bytes); err != nil {
			return p, err
		}
		p.Log = logID(p.number)
		p.Name, p.Kind, p.Time = p.Log, backend.PartLog, began.UTC()
		if packed != nil {
			p.Name, p.Kind, p.Time = p.Log+archiveSuffix, backend.PartArchive, packed.UTC()
		} else {
			p.Bytes = p.size
		}
		return p, nil
	})
}

// OpenPart implements [backend.Backend].
func (b *Backend) OpenPart(ctx context.Context, key string, wanted backend.Part) (backend.Log, error) {
	var h head
	if err := b.readHead(ctx, &h, b.sql.newest, []byte(key)); err != nil {
		if errors.Is(err, session.ErrDeleted) {
			err = session.ErrNotFound
		}
		return nil, err
	}
	var parts []part
	err := b.retry(ctx, func(ctx context.Context) (err error) {
		parts, err = b.parts(ctx, b.pool, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.Log == wanted.Log {
			return &log{backend: b, key: key, session: h.id, number: p.number, known: p.size}, nil
		}
	}
	return nil, session.ErrNotFound
}

// change is a transaction that changes the stored parts of a session.
type change struct {
	pgx.Tx
	backend *Backend
	key     string
	head    head
	parts   []part
	part    part // the one to change
}

// change runs f in a transaction that locks a session, whose turn the caller has, if the part and all of while are
// unchanged since they were listed.
func (b *Backend) change(ctx context.Context, of backend.Turn, wanted backend.Part, while []backend.Part,
	f func(context.Context, *change) error,
) error {
	t, ok := of.(*turn)
	if !ok || t.backend != b {
		return errors.New("postgres: the turn is of another store")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &change{backend: b, key: t.key}
	err := b.durably(ctx, func(tx pgx.Tx) (err error) {
		c.Tx = tx
		if err := c.hold(ctx, t); err != nil {
			return err
		}
		for _, other := range append(while, wanted) { // wanted comes last, so that it stays found
			if err := c.find(other); err != nil {
				return err
			}
		}
		if err := f(ctx, c); err != nil {
			return err
		}
		// While the session was locked, nobody else could renew its lease.
		_, err = tx.Exec(ctx, b.sql.renew, b.mode, []int64{t.head.id}, []int64{t.head.fence},
			b.opts.Lease.Microseconds())
		if err != nil {
			return err
		}
		err = c.head.scan(tx.QueryRow(ctx, b.sql.current, b.mode, t.head.id))
		if errors.Is(err, pgx.ErrNoRows) { // the session is gone with its last part
			return nil
		}
		return err
	})
	t.isFresh = false
	if err == nil {
		t.head.log, t.head.made = c.head.log, c.head.made
	}
	return err
}

// hold locks the session, and reads its parts.
func (c *change) hold(ctx context.Context, t *turn) (err error) {
	err = c.head.scan(c.QueryRow(ctx, c.backend.sql.hold, c.backend.mode, t.head.id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return session.ErrDeleted
	case err != nil:
		return err
	case c.head.fence != t.head.fence:
		return errTurnEnded
	}
	c.parts, err = c.backend.parts(ctx, c, c.key)
	return err
}

// find selects the part to change.
func (c *change) find(wanted backend.Part) error {
	for _, p := range c.parts {
		if p.Name == wanted.Name && p.Bytes == wanted.Bytes && p.Time.Equal(wanted.Time) {
			c.part = p
			return nil
		}
	}
	return fmt.Errorf("%w: %s", session.ErrChanged, wanted.Name)
}

// Archive implements [backend.Backend]. The log stays where it is: its rows are compressed.
func (b *Backend) Archive(ctx context.Context, t backend.Turn, log backend.Part, now time.Time, while ...backend.Part) (
	archive backend.Part, err error,
) {
	if log.Kind != backend.PartLog {
		return archive, fmt.Errorf("postgres: %s is not a log", log.Name)
	}
	err = b.change(ctx, t, log, while, func(ctx context.Context, c *change) error {
		if err := c.pack(ctx, c.part.number); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, b.sql.archived, b.mode, c.head.id, c.part.number, now); err != nil {
			return err
		}
		if c.part.Open {
			if _, err := c.Exec(ctx, b.sql.headArchived, b.mode, c.head.id); err != nil {
				return err
			}
		}
		parts, err := b.parts(ctx, c, c.key)
		for _, p := range parts {
			if p.number == c.part.number {
				archive = p.Part
			}
		}
		return err
	})
	return archive, err
}

// row is the place of a chunk.
type row struct {
	at, end int64
	packed  bool
}

// pack compresses the rows of a log, several into one.
func (c *change) pack(ctx context.Context, number int32) error {
	rows, err := c.Query(ctx, c.backend.sql.rows, c.backend.mode, c.head.id, number)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (x row, err error) {
		return x, r.Scan(&x.at, &x.end, &x.packed)
	})
	if err != nil {
		return err
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].end-all[0].at <= maxPacked {
			n++
		}
		if n > 1 || !all[0].packed {
			if err := c.packRows(ctx, number, all[0].at, all[n-1].end); err != nil {
				return err
			}
		}
		all = all[n:]
	}
	return nil
}

// packRows replaces the rows between two offsets by one, which it reads back and compares.
func (c *change) packRows(ctx context.Context, number int32, from, to int64) error {
	text, err := c.read(ctx, number, from, to)
	if err != nil {
		return err
	}
	tx, err := c.deleteRows(ctx, number, from, to)
	if err != nil {
		return err
	}
	if err := c.insert(ctx, number, from, text, true, tx); err != nil {
		return err
	}
	again, err := c.read(ctx, number, from, to)
	if err == nil && !bytes.Equal(text, again) {
		err = errors.New("postgres: the archive does not hold what the log does")
	}
	return err
}

// read reads the bytes between two offsets of a log.
func (c *change) read(ctx context.Context, number int32, from, to int64) ([]byte, error) {
	text := make([]byte, to-from)
	n, err := c.backend.readChunks(ctx, c, c.head.id, number, text, from)
	if err == nil && n < len(text) {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// deleteRows deletes the rows between two offsets of a log. It returns the newest of their transactions in the feed,
// nil if there is none: followers may not have read it yet.
func (c *change) deleteRows(ctx context.Context, number int32, from, to int64) (tx *string, err error) {
	row := c.QueryRow(ctx, c.backend.sql.deleteRows, c.backend.mode, c.head.id, number, from, to)
	return tx, row.Scan(&tx)
}

// insert adds a row to a log. The feed reports it as a change of the transaction tx; "" is the inserting transaction,
// and with nil the feed does not report it.
func (c *change) insert(ctx context.Context, number int32, at int64, text []byte, packed bool, tx *string) (err error) {
	var raw *int
	if packed {
		n := len(text)
		raw = &n
		if text, err = pack(text); err != nil {
			return err
		}
	}
	_, err = c.Exec(ctx, c.backend.sql.insertRow, c.backend.mode, c.head.id, number, at, raw, text, tx)
	return err
}

// Remove implements [backend.Backend].
func (b *Backend) Remove(ctx context.Context, t backend.Turn, wanted backend.Part, while ...backend.Part) error {
	if wanted.Kind == backend.PartLog {
		return fmt.Errorf("postgres: the log %s is archived before it is deleted", wanted.Name)
	}
	return b.change(ctx, t, wanted, while, func(ctx context.Context, c *change) error {
		if _, err := c.deleteRows(ctx, c.part.number, 0, c.part.size); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, b.sql.deleteLog, b.mode, c.head.id, c.part.number); err != nil {
			return err
		}
		if len(c.parts) == 1 {
			var id int64
			return c.QueryRow(ctx, b.sql.markDeleted, b.mode, []byte(c.key)).Scan(&id)
		}
		if !c.part.Open {
			return nil
		}
		newest := c.parts[len(c.parts)-2]
		return c.setHead(ctx, newest.number, newest.size, newest.Kind == backend.PartArchive)
	})
}

// setHead makes a log the newest one, and computes its status.
func (c *change) setHead(ctx context.Context, number int32, size int64, compressed bool) error {
	st := &session.Status{Key: c.key, Log: logID(number)}
	var rest []byte // the beginning of an unfinished line
	for at := int64(0); at < size; at += maxChunk {
		text, err := c.read(ctx, number, at, min(size, at+maxChunk))
		if err != nil {
			return err
		}
		rest = append(rest, text...)
		whole := bytes.LastIndexByte(rest, '\n') + 1
		st.Add(rest[:whole])
		rest = append(rest[:0], rest[whole:]...)
	}
	st.Add(rest)
	l, err := newListing(st)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, c.backend.sql.setHead, c.backend.mode, c.head.id, number, size, compressed,
		l.status, l.updated, l.isPinned, l.isArchived)
	return err
}

// Rewrite implements [backend.Backend].
func (b *Backend) Rewrite(
	ctx context.Context, t backend.Turn, wanted backend.Part, patches []backend.Patch, lines []byte,
) error {
	return b.change(ctx, t, wanted, nil, func(ctx context.Context, c *change) error {
		if err := backend.CheckPatches(c.part.size, patches); err != nil {
			return err
		}
		old, next, packed := c.part.number, c.head.made+1, c.part.Kind == backend.PartArchive
		var tx *string
		if c.part.Open {
			this := "" // the database fills in the number of this transaction
			tx = &this
		}
		for at := int64(0); at < c.part.size; at += maxChunk {
			text, err := c.read(ctx, old, at, min(c.part.size, at+maxChunk))
			if err != nil {
				return err
			}
			patch(text, at, patches)
			if err := c.insert(ctx, next, at, text, packed, tx); err != nil {
				return err
			}
		}
		if len(lines) > 0 {
			if err := c.insert(ctx, next, c.part.size, lines, packed, tx); err != nil {
				return err
			}
		}
		if _, err := c.deleteRows(ctx, old, 0, c.part.size); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, b.sql.renumber, b.mode, c.head.id, old, next); err != nil {
			return err
		}
		if !c.part.Open {
			return nil
		}
		return c.setHead(ctx, next, c.part.size+int64(len(lines)), packed)
	})
}

// patch applies patches to a piece of a log at an offset.
func patch(text []byte, at int64, patches []backend.Patch) {
	for _, p := range patches {
		if skip := p.Offset - at; skip >= 0 && skip < int64(len(text)) {
			copy(text[skip:], p.Text)
		} else if skip < 0 && -skip < int64(len(p.Text)) {
			copy(text, p.Text[-skip:])
		}
	}
}

// Sweep implements [backend.Backend]. Interrupted calls leave nothing: each one is a transaction.
func (b *Backend) Sweep(context.Context, ...string) error { return nil }
