package dir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
)

// directoryLog is a log in a file that may be appended to.
type directoryLog struct {
	directory *Directory
	dir       string
	name      string     // "": not created yet
	file      files.File // nil: likewise
	lock      files.File
	marks     lockMarks // in the lock, when it was last read: a longer text says that the log was replaced or deleted
	settled   bool      // the entries of the file and of the directories above it are durable
	dead      error
}

// readLog is a log or an archive that is only read.
type readLog struct {
	source
	id string
}

func (l readLog) ID() string { return l.id }

func (readLog) Append(context.Context, int64, []byte, bool) error {
	return errors.New("session: the log was opened for reading")
}

// Log implements [backend.Backend].
func (d *Directory) Log(ctx context.Context, key string, write bool) (log backend.Log, err error) {
	if !write {
		err = d.read(key, func(s *stored) (err error) {
			log, err = s.openNewest()
			return err
		})
		return log, err
	}
	for {
		log, err = d.openLog(ctx, key, false)
		if !errors.Is(err, errs.ErrDeleted) { // otherwise the next try makes the directory anew
			return log, err
		}
	}
}

// openLog opens the newest log for writing, and syncs it with durable. It restores it if it is archived.
func (d *Directory) openLog(ctx context.Context, key string, durable bool) (backend.Log, error) {
	dir, err := d.sessionDir(key, true)
	if err != nil {
		return nil, err
	}
	return d.openBy(ctx, dir, func(l *directoryLog) error {
		// What sweep cannot remove does not count, and the next opening tries again.
		if err := unless(l.sweep(), errNotSwept); err != nil {
			return err
		}
		if err := l.openNewest(); err != nil || l.file == nil {
			return err
		}
		if err := l.settle(); err != nil || !durable {
			return err
		}
		return l.sync()
	})
}

// openBy returns the log that open opens while the lock is held.
func (d *Directory) openBy(ctx context.Context, dir string, open func(l *directoryLog) error) (backend.Log, error) {
	l, err := d.lockLog(ctx, dir, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(open(l), l.lock.Unlock()); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// openNewest opens the newest log, if there is one. The lock is held.
func (l *directoryLog) openNewest() error {
	names, err := l.directory.logs(l.dir)
	if len(names) == 0 || err != nil {
		return err
	}
	l.name = names[len(names)-1]
	name := l.dir + "/" + l.name
	l.file, err = l.directory.fs.Open(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err = l.unpack(l.name); err == nil {
			l.file, err = l.directory.fs.Open(name, os.O_RDWR, 0)
		}
	}
	return err
}

func (l *directoryLog) ID() string { return l.marks.idOf(l.name) }

func (l *directoryLog) Size() (int64, error) {
	if l.file == nil {
		return 0, nil
	}
	return l.file.Size()
}

func (l *directoryLog) ReadAt(p []byte, off int64) (int, error) {
	if l.file == nil {
		return 0, fs.ErrNotExist
	}
	return l.file.ReadAt(p, off)
}

// Append implements [backend.Log].
func (l *directoryLog) Append(ctx context.Context, end int64, lines []byte, durable bool) error {
	if l.dead != nil {
		return l.dead
	}
	if err := waitLock(ctx, l.lock, lastTryOfAppend); err != nil {
		return err
	}
	err := l.append(end, lines, durable)
	l.directory.index.wrote(l.dir)
	if failed := l.lock.Unlock(); failed != nil {
		l.end(failed)
	}
	return err
}

func (l *directoryLog) append(end int64, lines []byte, durable bool) error {
	if err := l.checkCurrent(); err != nil {
		return err
	}
	if l.file == nil {
		return l.create(lines, durable)
	}
	size, err := l.file.Size()
	if err != nil {
		return err
	}
	if size != end {
		return &backend.MovedError{Size: size}
	}
	n, err := l.file.Write(lines)
	if err != nil || n < len(lines) {
		return l.undo(end, n, err)
	}
	if durable {
		if err := l.sync(); err != nil {
			return err
		}
	}
	return l.checkPlace(end, lines)
}

// checkPlace checks whether lines that were just written lie where the log ended before: somebody may have written
// between without the lock. What was written after them does no harm, and the next append finds it.
func (l *directoryLog) checkPlace(end int64, lines []byte) error {
	size, err := l.file.Size()
	if err == nil && size == end+int64(len(lines)) {
		return nil
	}
	text := make([]byte, len(lines))
	if err == nil {
		_, err = l.file.ReadAt(text, end)
	}
	if err != nil {
		l.end(err)
	} else if !bytes.Equal(text, lines) {
		return &backend.MovedError{Size: size, Written: true}
	}
	return nil
}

// checkCurrent checks whether the log was deleted or replaced.
func (l *directoryLog) checkCurrent() error {
	size, err := l.lock.Size()
	if err != nil || size == int64(len(l.marks)) {
		return err
	}
	marks, err := readMarks(l.lock)
	if err != nil {
		return err
	}
	if marks.isDeleted() {
		l.dead = errs.ErrDeleted
		return l.dead
	}
	l.dead = errs.ErrClosed
	return &backend.MovedError{Next: true}
}

// create creates the first log of a session with its first lines.
func (l *directoryLog) create(lines []byte, durable bool) error {
	logs, err := l.directory.logs(l.dir)
	if err != nil {
		return err
	}
	if len(logs) > 0 {
		l.dead = errs.ErrClosed
		return &backend.MovedError{Next: true}
	}
	return l.begin(logs, lines, durable)
}

// begin begins a log behind others, and tells those who have the newest of them open. No reader sees only a part of its
// lines.
func (l *directoryLog) begin(others []string, lines []byte, durable bool) error {
	name, err := l.directory.newLogName(others)
	if err == nil && len(others) > 0 {
		err = l.mark(nextByte)
	}
	if err != nil {
		return err
	}
	if durable {
		err = l.place(name, bytes.NewReader(lines))
	} else {
		err = l.directory.writeFrom(l.dir+"/"+name, bytes.NewReader(lines), false)
	}
	failed := l.openNewest()
	if err != nil && failed == nil && l.name == name { // it is in place, but perhaps not durably
		return l.kill(err)
	}
	if err == nil && failed != nil {
		l.end(failed)
	}
	return err
}

// undo cuts off lines that were only partly written.
func (l *directoryLog) undo(end int64, n int, cause error) error {
	if cause == nil {
		cause = io.ErrShortWrite
	}
	if n == 0 {
		return cause
	}
	if size, err := l.file.Size(); err == nil && size == end+int64(n) {
		if err = l.file.Truncate(end); err == nil {
			return cause
		}
	}
	l.end(cause)
	return l.dead
}

// end ends the use of the log here. What is written counts all the same: if an append learns only then that it cannot
// go on, the next one says so.
func (l *directoryLog) end(cause error) {
	l.dead = cmp.Or(l.dead, fmt.Errorf("%w: %w", errs.ErrClosed, cause))
}

// sync makes appended lines durable. A failed sync is never repeated: the second one would succeed without meaning
// anything.
func (l *directoryLog) sync() error {
	err := l.file.Sync()
	if err == nil && !l.settled {
		err = l.syncEntries()
		l.settled = err == nil
	}
	if err != nil {
		return l.kill(err)
	}
	return nil
}

// kill ends the use of the log, here and, through a mark, for those who open it later.
func (l *directoryLog) kill(cause error) error {
	l.dead = fmt.Errorf("%w: %w", errs.ErrSync, cause)
	if f, err := l.directory.fs.Open(l.dir+"/"+l.name+failedMark, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		f.Close()
	}
	return l.dead
}

// Next implements [backend.Turn].
func (t *directoryTurn) Next(ctx context.Context, lines []byte) (backend.Log, error) {
	d := t.directory
	dir, err := d.sessionDir(t.key, false)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, errs.ErrDeleted
	}
	return d.openBy(ctx, dir, func(l *directoryLog) error {
		// A deletion removes turn.lock while it holds log.lock, which is held here: if the turn is still in place, the
		// session stays.
		if err := t.Check(); err != nil {
			return err
		}
		defer d.index.wrote(dir)
		logs, err := d.logs(dir)
		if err != nil {
			return err
		}
		return l.begin(logs, lines, true)
	})
}

// mark tells those who have a log open, through the lock, which is held.
func (l *directoryLog) mark(text ...byte) error {
	_, err := l.lock.Write(text)
	l.marks = append(l.marks, text...)
	return err
}

// markDurably is mark for what must not be forgotten.
func (l *directoryLog) markDurably(text ...byte) error {
	err := l.mark(text...)
	if err == nil {
		if err = l.lock.Sync(); err != nil {
			err = fmt.Errorf("%w: %w", errs.ErrSync, err)
		}
	}
	return err
}

// Close implements [backend.Log].
func (l *directoryLog) Close() error {
	l.dead = cmp.Or(l.dead, errs.ErrClosed)
	err := l.lock.Close()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}
