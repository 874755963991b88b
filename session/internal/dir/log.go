package dir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
)

// directoryLog is a log in a file.
type directoryLog struct {
	directory *Directory
	key       string
	dir       string
	name      string     // "": not created yet
	file      files.File // nil: likewise
	lock      files.File // nil: for reading
	lockSize  int64      // of the lock's file: a change says that the log was replaced or deleted
	marks     lockMarks
	settled   bool // the entries of the file and of the directories above it are durable
	dead      error
}

// Log implements [backend.Backend].
func (d *Directory) Log(ctx context.Context, key string, write bool) (backend.Log, error) {
	for {
		l, again, err := d.openLog(ctx, key, write)
		if !again {
			if err != nil {
				return nil, err
			}
			return l, nil
		}
	}
}

// openLog is one try of Log. again says that somebody changed the directory in the meantime.
func (d *Directory) openLog(ctx context.Context, key string, write bool) (l *directoryLog, again bool, err error) {
	dir, err := d.sessionDir(key, write)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, write, errs.ErrNotFound
	case err != nil:
		return nil, false, err
	case dir == "":
		return nil, false, errs.ErrNotFound
	}
	l = &directoryLog{directory: d, key: key, dir: dir}
	if !write {
		if l.marks, err = d.marks(dir); err != nil {
			return nil, false, err
		} else if l.marks.isDeleted() {
			return nil, false, errs.ErrNotFound
		}
		return l, false, l.openNewest(os.O_RDONLY)
	}
	lock, gone, err := d.lockLog(ctx, dir)
	if gone || err != nil {
		return nil, gone, err
	}
	l.lock = lock
	if l.marks, err = readMarks(lock); err == nil {
		l.lockSize = int64(len(l.marks))
		if err = l.sweep(); errors.Is(err, errNotSwept) {
			err = nil // what is left does not count, and the next opening removes it
		}
		err = errors.Join(err, l.openNewest(os.O_RDWR))
	}
	if errors.Is(err, errs.ErrNotFound) {
		err = nil
	} else if err == nil {
		err = l.settle(key)
	}
	if err = errors.Join(err, lock.Unlock()); err != nil {
		l.Close()
		return nil, false, err
	}
	return l, false, nil
}

// openNewest opens the newest log. For writing, it restores an archived log.
func (l *directoryLog) openNewest(flag int) error {
	const tries = 10 // others may replace, archive or delete it in the meantime, but only rarely
	for range tries {
		names, err := l.directory.logs(l.dir)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return errs.ErrNotFound
		}
		name := names[len(names)-1]
		f, err := l.openFile(l.dir+"/"+name, flag)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.name, l.file = name, f
		return nil
	}
	return errs.ErrNotFound
}

func (l *directoryLog) openFile(name string, flag int) (files.File, error) {
	if flag == os.O_RDONLY {
		return l.directory.openToRead(name, MaxArchived)
	}
	f, err := l.directory.fs.Open(name, flag, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := l.directory.unpack(name); err != nil {
		return nil, err
	}
	return l.directory.fs.Open(name, flag, 0)
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
	if l.lock == nil {
		return errors.New("session: the log was opened for reading")
	}
	if err := waitLock(ctx, l.lock, lastTryOfAppend); err != nil {
		return err
	}
	err := l.append(end, lines, durable)
	l.directory.index.wrote(l.dir)
	return errors.Join(err, l.lock.Unlock())
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
	// Lines that somebody without the lock wrote after these do no harm, and the next append finds them.
	at, err := l.file.Written()
	if durable {
		if err := l.sync(); err != nil {
			return err
		}
	}
	if err == nil && at != end+int64(len(lines)) {
		return &backend.MovedError{Size: at, Written: true}
	}
	return err
}

// checkCurrent checks whether the log was deleted or replaced.
func (l *directoryLog) checkCurrent() error {
	size, err := l.lock.Size()
	if err != nil || size == l.lockSize {
		return err
	}
	deleted, err := isDeleted(l.lock)
	if err != nil {
		return err
	}
	if deleted {
		l.dead = errs.ErrDeleted
		return l.dead
	}
	l.dead = errs.ErrClosed
	return &backend.MovedError{Next: true}
}

// create creates the log with its first lines. No reader sees only a part of them.
func (l *directoryLog) create(lines []byte, durable bool) error {
	d := l.directory
	if names, err := d.logs(l.dir); err != nil {
		return err
	} else if len(names) > 0 {
		l.dead = errs.ErrClosed
		return &backend.MovedError{Next: true}
	}
	name, err := d.newLogName(l.dir)
	if err != nil {
		return err
	}
	if durable {
		err = l.place(name, bytes.NewReader(lines))
	} else {
		err = d.writeFile(l.dir+"/"+name, lines, false)
	}
	if err != nil {
		if l.openNewest(os.O_RDWR) == nil { // it is in place, but perhaps not durably
			return l.kill(err)
		}
		return err
	}
	return l.openNewest(os.O_RDWR)
}

// undo cuts off lines that were only partly written.
func (l *directoryLog) undo(end int64, n int, cause error) error {
	if cause == nil {
		cause = errors.New("session: short write")
	}
	if n == 0 {
		return cause
	}
	if size, err := l.file.Size(); err == nil && size == end+int64(n) {
		if err = l.file.Truncate(end); err == nil {
			return cause
		}
	}
	l.dead = fmt.Errorf("%w: %w", errs.ErrClosed, cause)
	return l.dead
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
	lock, gone, err := d.lockLog(ctx, dir)
	if gone {
		return nil, errs.ErrDeleted
	}
	if err != nil {
		return nil, err
	}
	l := &directoryLog{directory: d, key: t.key, dir: dir, lock: lock}
	// A deletion removes turn.lock while it holds log.lock, which is held here: if the turn is still in place, the
	// session stays.
	err = t.Check()
	if err == nil {
		err = l.begin(lines)
		d.index.wrote(dir)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, lock.Unlock()
}

// begin creates a log that replaces an older one, and tells those who have that open.
func (l *directoryLog) begin(lines []byte) error {
	d := l.directory
	name, err := d.newLogName(l.dir)
	if err != nil {
		return err
	}
	if err := l.replaces(); err != nil {
		return err
	}
	if err := l.place(name, bytes.NewReader(lines)); err != nil {
		return err
	}
	return l.openNewest(os.O_RDWR)
}

// replaces tells those who have the newest log open that a newer one will follow. The lock is held.
func (l *directoryLog) replaces() (err error) {
	if _, err = l.lock.Write([]byte{nextByte}); err != nil {
		return err
	}
	l.lockSize, err = l.lock.Size()
	return err
}

// rewrites durably gives a log another ID before it is rewritten, and tells those who have the log open. The lock is
// held.
func (l *directoryLog) rewrites(name string) error {
	if _, err := l.lock.Write(rewriteMark(name)); err != nil {
		return err
	}
	return l.lock.Sync()
}

// Close implements [backend.Log].
func (l *directoryLog) Close() error {
	var failed []error
	for _, f := range []files.File{l.file, l.lock} {
		if f != nil {
			failed = append(failed, f.Close())
		}
	}
	l.file, l.lock = nil, nil
	if l.dead == nil {
		l.dead = errs.ErrClosed
	}
	return errors.Join(failed...)
}
