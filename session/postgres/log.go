package postgres

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// maxChunk is the largest row of a log, in bytes, so that reading a part of a long line reads little more.
const maxChunk = 256 << 10

// Logs are read from their end, piece by piece, and the part in use is read twice. The pieces grow as the reader goes
// on, and are kept until the next append.
const (
	readAhead = 256 << 10 // bytes of the first piece
	maxAhead  = 4 << 20   // bytes of all pieces
)

// log is an open log.
type log struct {
	backend    *Backend
	turn       *turn // nil: for entries beside the branch
	key        string
	session    int64
	number     int32
	known      int64 // size that the next Size may return; -1: it has to ask
	size       int64 // that Size returned last
	isWritable bool
	dead       error
	ahead      extent

	status    *session.Status // status of the log
	statusEnd int64           // offset that status covers; -1: it has to be read
}

// extent is a piece of a log that was read.
type extent struct {
	from int64
	data []byte
}

// Log implements [backend.Backend].
func (b *Backend) Log(ctx context.Context, key string, write bool) (backend.Log, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	var h head
	err := b.readHead(ctx, &h, b.sql.newest, []byte(key))
	if errors.Is(err, session.ErrDeleted) || err == nil && h.log == 0 && !write {
		err = session.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if !write {
		return &log{backend: b, key: key, session: h.id, number: h.log, known: h.size}, nil
	}
	l, err := b.openHead(ctx, key, h)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// readHead reads the head of a session with a statement of one argument. The error is ErrDeleted if there is no row.
func (b *Backend) readHead(ctx context.Context, h *head, sql string, arg any) error {
	err := b.retry(ctx, func(ctx context.Context) error {
		return h.scan(b.pool.QueryRow(ctx, sql, b.mode, arg))
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return session.ErrDeleted
	}
	return err
}

// openHead opens the newest log of a session for writing. It turns an archive into a log again.
func (b *Backend) openHead(ctx context.Context, key string, h head) (*log, error) {
	if h.compressed {
		err := b.retry(ctx, func(ctx context.Context) error {
			_, err := b.pool.Exec(ctx, b.sql.putBack, b.mode, h.id)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return &log{
		backend: b, key: key, session: h.id, number: h.log, known: h.size, isWritable: true,
		status: h.statusOf(key), statusEnd: h.size,
	}, nil
}

// ID implements [backend.Log].
func (l *log) ID() string { return logID(l.number) }

// Size implements [backend.Log].
func (l *log) Size() (size int64, err error) {
	if l.known >= 0 {
		size, l.known = l.known, -1
		l.size = size
		return size, nil
	}
	b := l.backend
	err = b.retry(context.Background(), func(ctx context.Context) error {
		return b.pool.QueryRow(ctx, b.sql.size, b.mode, l.session, l.number).Scan(&size)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = session.ErrDeleted
	}
	l.size = size
	return size, err
}

// ReadAt implements [io.ReaderAt].
func (l *log) ReadAt(p []byte, off int64) (n int, err error) {
	if n = l.ahead.copy(p, off); n == len(p) {
		return n, nil
	}
	end := off + int64(len(p))
	switch from := l.ahead.from; {
	case off < from && end >= from && from-off <= maxAhead-int64(len(l.ahead.data)):
		// at least double
		more := max(from-off, min(int64(len(l.ahead.data)), maxAhead-int64(len(l.ahead.data))))
		err = l.readInto(max(0, from-more), from, l.ahead.data)
	case len(p) < readAhead:
		err = l.readInto(max(0, end-readAhead), end, nil)
	default:
		n, err = l.readPiece(p, off)
		return l.ended(n, len(p), off, err)
	}
	if err != nil {
		return 0, err
	}
	return l.ended(l.ahead.copyFrom(p, off), len(p), off, nil)
}

// readInto reads the bytes between two offsets, and keeps them in front of those that were read before.
func (l *log) readInto(from, to int64, behind []byte) error {
	data := make([]byte, to-from, to-from+int64(len(behind)))
	n, err := l.readPiece(data, from)
	if err == nil && n < len(data) && len(behind) > 0 {
		err = session.ErrDeleted
	}
	if err == nil {
		l.ahead = extent{from, append(data[:n], behind...)}
	}
	return err
}

func (l *log) readPiece(p []byte, off int64) (n int, err error) {
	b := l.backend
	err = b.retry(context.Background(), func(ctx context.Context) error {
		n, err = b.readChunks(ctx, b.pool, l.session, l.number, p, off)
		return err
	})
	return n, err
}

// ended returns the result of an [io.ReaderAt] that has read n bytes instead of of.
func (l *log) ended(n, of int, off int64, err error) (int, error) {
	switch {
	case err != nil || n == of:
		return n, err
	case off+int64(n) < min(l.size, off+int64(of)):
		return 0, session.ErrDeleted // the log was longer before
	}
	return n, io.EOF
}

// copy copies the bytes at off if the extent has all of p.
func (x *extent) copy(p []byte, off int64) int {
	if off < x.from || off+int64(len(p)) > x.from+int64(len(x.data)) {
		return 0
	}
	return copy(p, x.data[off-x.from:])
}

// copyFrom copies the part of p that the extent has.
func (x *extent) copyFrom(p []byte, off int64) int {
	if off < x.from || off >= x.from+int64(len(x.data)) {
		return 0
	}
	return copy(p, x.data[off-x.from:])
}

// reader is a pool or a transaction.
type reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readChunks reads a part of a log into p, and returns how much of it exists.
func (b *Backend) readChunks(ctx context.Context, q reader, id int64, number int32, p []byte, off int64) (
	n int, err error,
) {
	rows, err := q.Query(ctx, b.sql.read, b.mode, id, number, off, off+int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var data pgtype.DriverBytes // in the connection's buffer, so that they are copied once
	for rows.Next() {
		var at int64
		var raw *int32
		if err := rows.Scan(&at, &raw, &data); err != nil {
			return 0, err
		}
		text := []byte(data)
		if raw != nil {
			if text, err = unpack(data, int(*raw)); err != nil {
				return 0, err
			}
		}
		if skip := off + int64(n) - at; skip >= 0 && skip < int64(len(text)) {
			n += copy(p[n:], text[skip:])
		}
	}
	return n, rows.Err()
}

// pack compresses text.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// unpack undoes pack for a text of size bytes.
func unpack(data []byte, size int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(z, text)
	return text, err
}

// Close implements [backend.Log].
func (l *log) Close() error {
	if l.dead == nil {
		l.dead = session.ErrClosed
	}
	l.ahead = extent{}
	return nil
}
