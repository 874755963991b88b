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
)

// maxChunk is how many bytes a row of a log has at most, so that one who wants a part of a long line reads little more.
const maxChunk = 256 << 10

// Logs are read from their end, a piece at a time, and the part in use twice. The pieces get longer as one goes on, and
// stay until something is appended.
const (
	readAhead = 256 << 10 // of the first piece
	maxAhead  = 4 << 20   // of all of them
)

// log is an open log.
type log struct {
	backend    *Backend
	turn       *turn // nil: entries beside the branch
	key        string
	session    int64
	number     int32
	known      int64 // size that the next Size may tell; -1: it has to ask
	size       int64 // that Size told
	isWritable bool
	dead       error
	ahead      extent

	status    *session.Status // what the log adds up to
	statusEnd int64           // up to here; -1: it has to be asked for
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

// readHead reads a session with a statement that has one argument. The error is ErrDeleted if there is none.
func (b *Backend) readHead(ctx context.Context, h *head, sql string, arg any) error {
	err := b.retry(ctx, func(ctx context.Context) error {
		return h.scan(b.pool.QueryRow(ctx, sql, b.mode, arg))
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return session.ErrDeleted
	}
	return err
}

// openHead opens the newest log of a session for writing. If it is an archive, it becomes a log again.
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

// ID implements [session.Log].
func (l *log) ID() string { return logID(l.number) }

// Size implements [session.Log].
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
		// as much again, at least
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

// readInto reads what lies between two offsets, and keeps it in front of what was read behind it.
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

// ended returns what an [io.ReaderAt] returns that read n of so many bytes.
func (l *log) ended(n, of int, off int64, err error) (int, error) {
	switch {
	case err != nil || n == of:
		return n, err
	case off+int64(n) < min(l.size, off+int64(of)):
		return 0, session.ErrDeleted // there was more
	}
	return n, io.EOF
}

// copy copies what lies at off if all of p is there.
func (x *extent) copy(p []byte, off int64) int {
	if off < x.from || off+int64(len(p)) > x.from+int64(len(x.data)) {
		return 0
	}
	return copy(p, x.data[off-x.from:])
}

// copyFrom copies what there is of p.
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

// readChunks reads what p reaches over of a log, and returns how much of it there is.
func (b *Backend) readChunks(ctx context.Context, q reader, id int64, number int32, p []byte, off int64) (
	n int, err error,
) {
	rows, err := q.Query(ctx, b.sql.read, b.mode, id, number, off, off+int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var data pgtype.DriverBytes // of the connection's buffer: they are copied once
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

// unpack undoes pack, for a text of so many bytes.
func unpack(data []byte, size int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(z, text)
	return text, err
}

// Close implements [session.Log].
func (l *log) Close() error {
	if l.dead == nil {
		l.dead = session.ErrClosed
	}
	l.ahead = extent{}
	return nil
}
