package postgres

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/winnowgo/winnow/session"
)

// maxChunk is how many bytes a row of a log has at most, so that one who wants a part of a long line reads little more.
const maxChunk = 256 << 10

// readAhead is how much of a log is read at least.
const readAhead = 256 << 10

// log is an open log.
type log struct {
	backend  *Backend
	turn     *turn // nil: entries beside the branch
	session  int64
	number   int32
	known    int64 // size that the next Size may tell; -1: it has to ask
	writable bool
	dead     error
	ahead    extent
}

// extent is a piece of a log that was read.
type extent struct {
	from int64
	data []byte
}

// Log implements [session.Backend].
func (b *Backend) Log(ctx context.Context, key string, write bool) (session.Log, error) {
	if err := session.CheckKey(key); err != nil {
		return nil, err
	}
	l := &log{backend: b, writable: write}
	err := b.retry(ctx, func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, b.sql.newest, b.mode, []byte(key)).Scan(&l.session, &l.number, &l.known)
	})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && l.number == 0 && !write {
		err = session.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// ID implements [session.Log].
func (l *log) ID() string {
	if l.number == 0 {
		return ""
	}
	return strconv.Itoa(int(l.number))
}

// Size implements [session.Log].
func (l *log) Size() (size int64, err error) {
	if l.known >= 0 {
		size, l.known = l.known, -1
		return size, nil
	}
	b := l.backend
	err = b.retry(context.Background(), func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, b.sql.size, b.mode, l.session, l.number).Scan(&size)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = session.ErrDeleted
	}
	return size, err
}

// ReadAt implements [io.ReaderAt].
func (l *log) ReadAt(p []byte, off int64) (n int, err error) {
	if n = l.ahead.copy(p, off); n == len(p) {
		return n, nil
	}
	piece := extent{from: off, data: p}
	if len(p) < readAhead { // what lies before it is wanted next: logs are read from their end
		piece.from = max(0, off+int64(len(p))-readAhead)
		piece.data = make([]byte, off+int64(len(p))-piece.from)
	}
	err = l.backend.retry(context.Background(), func(ctx context.Context) error {
		n, err = l.read(ctx, piece.data, piece.from)
		return err
	})
	if len(p) < readAhead {
		l.ahead = extent{piece.from, piece.data[:n]}
		n = max(0, n-int(off-piece.from))
		copy(p[:n], piece.data[off-piece.from:])
	}
	if err == nil && n < len(p) {
		err = io.EOF
		if n == 0 && off == 0 {
			err = session.ErrDeleted // no log is empty
		}
	}
	return n, err
}

// copy copies what lies at off if all of p is there.
func (x *extent) copy(p []byte, off int64) int {
	if off < x.from || off+int64(len(p)) > x.from+int64(len(x.data)) {
		return 0
	}
	return copy(p, x.data[off-x.from:])
}

// read reads the chunks that p reaches over.
func (l *log) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	b := l.backend
	rows, err := b.pool.Query(ctx, b.sql.read, b.mode, l.session, l.number, off, off+int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var data pgtype.DriverBytes // of the connection's buffer: they are copied once
	for next := off; rows.Next(); {
		var at int64
		if err := rows.Scan(&at, &data); err != nil {
			return 0, err
		}
		if skip := next - at; skip >= 0 && skip < int64(len(data)) {
			n += copy(p[n:], data[skip:])
			next = off + int64(n)
		}
	}
	return n, rows.Err()
}

// Close implements [session.Log].
func (l *log) Close() error {
	if l.dead == nil {
		l.dead = session.ErrClosed
	}
	l.ahead = extent{}
	return nil
}
