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

// readAhead is how much of a log is read at least.
const readAhead = 256 << 10

// log is an open log.
type log struct {
	backend    *Backend
	turn       *turn // nil: entries beside the branch
	key        string
	session    int64
	number     int32
	known      int64 // size that the next Size may tell; -1: it has to ask
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
	b := l.backend
	err = b.retry(context.Background(), func(ctx context.Context) error {
		n, err = b.readChunks(ctx, b.pool, l.session, l.number, piece.data, piece.from)
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

// reader is a pool or a transaction.
type reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readChunks reads what p reaches over of a log, and returns how much of it there is.
func (b *Backend) readChunks(ctx context.Context, q reader, id int64, number int32, p []byte, off int64) (n int, err error) {
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
