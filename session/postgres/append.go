package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
)

// anyEnd is the expected end for an append that begins a new log: it does not matter where the old one ends.
const anyEnd = -1

// Append implements [backend.Log]. Once the statement is sent, Append does not return when ctx ends: it first finds out
// the outcome.
func (l *log) Append(ctx context.Context, end int64, lines []byte, durable bool) error {
	if l.dead != nil {
		return l.dead
	}
	if !l.isWritable {
		return errors.New("postgres: the log was opened for reading")
	}
	if err := l.readStatus(ctx, end); err != nil {
		return l.failed(err)
	}
	a, err := newAppend(l, end, lines, durable)
	if err == nil {
		err = a.run(ctx)
	}
	if err != nil {
		return l.failed(err)
	}
	l.statusEnd, l.ahead = end+int64(len(lines)), extent{}
	if l.number == 0 {
		l.number = a.next
		if l.turn != nil {
			l.turn.begun(a.next)
		}
	}
	return nil
}

// failed records that an append was not done, as far as is known.
func (l *log) failed(err error) error {
	l.statusEnd = -1
	for _, final := range []error{session.ErrDeleted, session.ErrConflict, session.ErrSync} {
		if errors.Is(err, final) {
			l.dead = err
		}
	}
	return err
}

// readStatus reads the status of the log, unless it is known for its end.
func (l *log) readStatus(ctx context.Context, end int64) error {
	if l.statusEnd == end {
		return nil
	}
	var now head
	if err := l.backend.readHead(ctx, &now, l.backend.sql.current, l.session); err != nil {
		return err
	}
	if now.log != l.number {
		return &backend.MovedError{Next: true}
	}
	if now.size != end {
		return &backend.MovedError{Size: now.size}
	}
	l.status, l.statusEnd = now.statusOf(l.key), end
	return nil
}

// appending is one append, which may take several tries.
type appending struct {
	backend *Backend
	session int64
	log     int32 // number of the log, which has to be the newest
	end     int64 // of it
	next    int32 // number of the newest log afterwards, which has the lines
	fence   int64 // fence of the turn; 0: no turn
	number  int64 // random number of the append
	at      int64 // offset of the lines in their log
	lines   []byte
	durable bool
	listing
}

// newAppend returns the append of lines at the end of a log. The status of the log includes them from then on.
func newAppend(l *log, end int64, lines []byte, durable bool) (*appending, error) {
	a := &appending{
		backend: l.backend, session: l.session, log: l.number, end: end, next: l.number,
		number: rand.Int64(), at: end, lines: lines, durable: durable,
	}
	if l.turn != nil {
		a.fence = l.turn.head.fence
	}
	if a.next == 0 { // the first log of a session
		a.next = 1
		l.status.Log = logID(a.next)
	}
	l.status.Add(lines)
	var err error
	a.listing, err = newListing(l.status)
	return a, err
}

// longestAnswer is how long to ask for the outcome of an append whose caller has given up.
const longestAnswer = 5 * time.Second

// run appends exactly once. A try whose answer was lost may have appended, or may still do so. The next try sends the
// same statement, which does nothing if the first one has moved the end.
func (a *appending) run(ctx context.Context) error {
	sent, cancel := outlast(ctx, a.backend.opts.Patience, longestAnswer)
	defer cancel()
	unknown := false
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn := ctx
		if unknown {
			conn = sent
		}
		done, err := a.try(conn, sent)
		if done {
			return err
		}
		unknown = unknown || isUnknown(err)
		switch {
		case !unknown && (!isPassing(err) || ctx.Err() != nil):
			return fmt.Errorf("postgres: %w", err)
		case wait(sent, pause) == nil:
			continue
		case unknown:
			return fmt.Errorf("%w: the database did not say what became of them: %w", session.ErrSync, err)
		}
		return fmt.Errorf("postgres: %w: %w", context.Cause(sent), err)
	}
}

// try is one try. It waits for a connection for as long as conn allows. done says that err, or nil, is the answer.
func (a *appending) try(conn, sent context.Context) (done bool, err error) {
	b := a.backend
	c, err := b.pool.Acquire(conn)
	if err != nil {
		return false, notSent{err}
	}
	defer c.Release()
	sent, cancel := context.WithTimeout(sent, longestTry)
	defer cancel()
	sql, offset, text := a.statement()
	tag, err := c.Exec(sent, sql, b.mode, a.session, a.log, a.end, a.fence, a.next, a.at+int64(len(a.lines)),
		a.number, b.opts.Lease.Microseconds(), offset, text, a.status, a.updated, a.isPinned, a.isArchived)
	if err != nil {
		return false, err
	}
	if tag.RowsAffected() > 0 {
		return true, nil
	}
	return a.look(sent, c)
}

// statement returns the SQL of the append, and its chunk or chunks.
func (a *appending) statement() (sql string, offset, text any) {
	of := &a.backend.sql.one
	offset, text = a.at, a.lines
	if len(a.lines) > maxChunk {
		of = &a.backend.sql.many
		offset, text = a.chunks()
	}
	switch {
	case a.log != a.next:
		return of.begin, offset, text
	case a.durable:
		return of.durable, offset, text
	}
	return of.soon, offset, text
}

// chunks returns the lines in pieces of at most maxChunk bytes.
func (a *appending) chunks() (offsets []int64, texts [][]byte) {
	for from := 0; from < len(a.lines); from += maxChunk {
		offsets = append(offsets, a.at+int64(from))
		texts = append(texts, a.lines[from:min(len(a.lines), from+maxChunk)])
	}
	return offsets, texts
}

// look finds out why a try appended nothing: an earlier try did it, or somebody else was faster.
func (a *appending) look(ctx context.Context, q querier) (done bool, err error) {
	b := a.backend
	var now head
	var deleted, stands bool
	err = now.scan(q.QueryRow(ctx, b.sql.stands, b.mode, a.session, a.next, a.at, a.number), &deleted, &stands)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return true, session.ErrDeleted
	case err != nil:
		return false, err
	case stands:
		return true, nil
	case deleted:
		return true, session.ErrDeleted
	case a.fence != 0 && now.fence != a.fence:
		return true, errTurnEnded
	case now.log != a.log || now.compressed && a.end != anyEnd:
		return true, &backend.MovedError{Next: true}
	case now.size != a.end && a.end != anyEnd:
		return true, &backend.MovedError{Size: now.size}
	}
	return false, errAgain // now everything is as expected
}

// errTurnEnded: the session's fence is not that of the turn.
var errTurnEnded = fmt.Errorf("%w: its turn was released, or its lease ran out and another one began",
	session.ErrConflict)

// errAgain: nothing is in the way now; try again.
var errAgain = notSent{errors.New("postgres: the session moved")}

// notSent is the error of a statement that the database never got.
type notSent struct{ error }

func (e notSent) Unwrap() error   { return e.error }
func (notSent) SafeToRetry() bool { return true }
