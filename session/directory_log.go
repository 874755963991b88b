package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/winnowgo/winnow/session/internal/files"
)

// directoryLog is a log in a file.
type directoryLog struct {
	directory *directory
	dir       string
	name      string     // "": not made yet
	file      files.File // nil: likewise
	lock      files.File // nil: for reading
	lockSize  int64      // of the lock's file: another size says that the log was replaced or deleted
	settled   bool       // the entry of the file in its directory is durable
	dead      error
}

// Log implements [Backend].
func (d *directory) Log(_ context.Context, key string, write bool) (Log, error) {
	for {
		l, again, err := d.openLog(key, write)
		if !again {
			if err != nil {
				return nil, err
			}
			return l, nil
		}
	}
}

// openLog is one try of Log. again says that somebody changed the directory meanwhile.
func (d *directory) openLog(key string, write bool) (l *directoryLog, again bool, err error) {
	dir, err := d.sessionDir(key, write)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, write, ErrNotFound
	case err != nil:
		return nil, false, err
	case dir == "":
		return nil, false, ErrNotFound
	}
	l = &directoryLog{directory: d, dir: dir}
	if !write {
		return l, false, l.openNewest(os.O_RDONLY)
	}
	lock, gone, err := d.lockLog(dir)
	if gone || err != nil {
		return nil, gone, err
	}
	l.lock = lock
	if l.lockSize, err = lock.Size(); err == nil {
		err = errors.Join(l.sweep(), l.openNewest(os.O_RDWR))
	}
	if errors.Is(err, ErrNotFound) {
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

func (l *directoryLog) openNewest(flag int) error {
	names, err := l.directory.logs(l.dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return ErrNotFound
	}
	name := names[len(names)-1]
	f, err := l.directory.fs.Open(l.dir+"/"+name, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	l.name, l.file = name, f
	return nil
}

// sweep removes files that were never finished. The lock is held, so that nobody is at one.
func (l *directoryLog) sweep() error {
	names, err := l.directory.fs.List(l.dir)
	for _, name := range names {
		if strings.HasSuffix(name, ".tmp") {
			_ = l.directory.fs.Remove(l.dir + "/" + name) // it harms nobody
		}
	}
	return err
}

// settle makes a log ready to be appended to: one that a sync failed of is copied, and a torn end is cut off. The
// lock is held.
func (l *directoryLog) settle(key string) error {
	mark := l.dir + "/" + l.name + failedMark
	if f, err := l.directory.fs.Open(mark, os.O_RDONLY, 0); err == nil {
		f.Close()
		if err := l.copy(); err != nil {
			return err
		}
		_ = l.directory.fs.Remove(mark) // of a log that is no more
	}
	return l.cutTail()
}

// copy puts a copy in the place of a log whose sync failed: the kernel may believe that pages are on the disk that
// are not. Offsets stay, so damage is copied too.
func (l *directoryLog) copy() error {
	size, err := l.file.Size()
	if err != nil {
		return err
	}
	text := make([]byte, size)
	if n, err := l.file.ReadAt(text, 0); n < len(text) {
		return err
	}
	name, err := l.directory.newLogName(l.dir)
	if err != nil {
		return err
	}
	if err := l.directory.writeFile(l.dir+"/"+name, text, true); err != nil {
		return err
	}
	if err := l.directory.fs.Rename(l.dir+"/"+l.name, l.dir+"/"+l.name+oldSuffix); err != nil {
		return err
	}
	l.file.Close()
	l.file = nil
	return l.openNewest(os.O_RDWR)
}

// cutTail removes an unfinished line or batch from the end. It is kept in a file beside the log.
func (l *directoryLog) cutTail() error {
	size, err := l.file.Size()
	if err != nil || size == 0 {
		return err
	}
	cut, seq, newline, err := findTail(l.file, size)
	if err != nil {
		return err
	}
	if newline {
		_, err := l.file.Write([]byte{'\n'})
		return err
	}
	if cut == size {
		return nil
	}
	torn := make([]byte, size-cut)
	if n, err := l.file.ReadAt(torn, cut); n < len(torn) {
		return err
	}
	if err := l.directory.writeFile(l.tornName(seq), torn, true); err != nil {
		return err
	}
	if err := l.file.Truncate(cut); err != nil {
		return err
	}
	return l.file.Sync()
}

// tornName returns a name for a tail that nothing has yet.
func (l *directoryLog) tornName(seq int64) string {
	name := fmt.Sprintf("%s/%s.torn-%d", l.dir, l.name, seq)
	for n := 2; ; n++ {
		f, err := l.directory.fs.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return name
		}
		f.Close()
		name = fmt.Sprintf("%s/%s.torn-%d-%d", l.dir, l.name, seq, n)
	}
}

// findTail returns where the last whole line or batch ends, and the seq that would come next. newline says that only
// the newline of the last line is missing.
func findTail(log files.File, size int64) (cut, seq int64, newline bool, err error) {
	t := &tail{w: window{log: log, size: size}, ahead: window{log: log, size: size}}
	cut = size
	last := []byte{0}
	if _, err := log.ReadAt(last, size-1); err != nil {
		return 0, 0, false, err
	}
	if last[0] != '\n' {
		text, start, err := t.w.lineBefore(size + 1)
		if err != nil {
			return 0, 0, false, err
		}
		trimmed, _, hasNUL := trimLine(text)
		if l, reason := parseLine(trimmed); reason == "" && !hasNUL && l.batch[0] == l.batch[1] {
			return size, 0, true, nil
		}
		cut = start
	}
	for at := cut; at > 0; {
		l, err := t.before(at)
		if errors.Is(err, errSlow) { // damage that ends in a newline stays where it is
			break
		}
		if err != nil {
			return 0, 0, false, err
		}
		if seq = max(seq, l.seq+1); l.batch[0] == l.batch[1] {
			break
		}
		at, cut = l.offset, l.offset
	}
	return cut, seq, false, nil
}

func (l *directoryLog) ID() string { return strings.TrimSuffix(l.name, logSuffix) }

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

// Append implements [Log].
func (l *directoryLog) Append(_ context.Context, end int64, lines []byte, durable bool) error {
	if l.dead != nil {
		return l.dead
	}
	if l.lock == nil {
		return errors.New("session: the log was opened for reading")
	}
	if err := l.lock.Lock(); err != nil {
		return err
	}
	err := l.append(end, lines, durable)
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
		return &MovedError{Size: size}
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
	if size, err = l.file.Size(); err == nil && size != end+int64(len(lines)) {
		return &MovedError{Size: size, Written: true}
	}
	return err
}

// checkCurrent finds out whether the log was deleted or replaced.
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
		l.dead = ErrDeleted
		return l.dead
	}
	l.dead = ErrClosed
	return &MovedError{Next: true}
}

// create makes the log with its first lines. No reader sees a part of it.
func (l *directoryLog) create(lines []byte, durable bool) error {
	d := l.directory
	if names, err := d.logs(l.dir); err != nil {
		return err
	} else if len(names) > 0 {
		l.dead = ErrClosed
		return &MovedError{Next: true}
	}
	if durable { // the directories first: a log that can be seen has a durable way to it
		parent := directoryOf(l.dir)
		for _, dir := range []string{"s", parent} {
			if err := d.fs.SyncDir(dir); err != nil {
				return err
			}
		}
	}
	name, err := d.newLogName(l.dir)
	if err != nil {
		return err
	}
	if err := d.writeFile(l.dir+"/"+name, lines, durable); err != nil {
		if l.openNewest(os.O_RDWR) == nil { // it is in place, but perhaps not for good
			return l.kill(err)
		}
		return err
	}
	l.settled = durable
	return l.openNewest(os.O_RDWR)
}

// undo cuts what was written of lines that were not written whole.
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
	l.dead = fmt.Errorf("%w: %w", ErrClosed, cause)
	return l.dead
}

// sync makes durable what was appended. A sync that failed is never repeated: the second one would succeed, and say
// nothing.
func (l *directoryLog) sync() error {
	err := l.file.Sync()
	if err == nil && !l.settled {
		if err = l.directory.fs.SyncDir(l.dir); err == nil {
			l.settled = true
		}
	}
	if err != nil {
		return l.kill(err)
	}
	return nil
}

// kill ends the use of the log, here and by a mark for those who open it later.
func (l *directoryLog) kill(cause error) error {
	l.dead = fmt.Errorf("%w: %w", ErrSync, cause)
	if f, err := l.directory.fs.Open(l.dir+"/"+l.name+failedMark, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		f.Close()
	}
	return l.dead
}

// Next implements [Backend].
func (d *directory) Next(_ context.Context, key string, lines []byte) (Log, error) {
	dir, err := d.sessionDir(key, true)
	if err != nil {
		return nil, err
	}
	lock, gone, err := d.lockLog(dir)
	if gone {
		return nil, ErrDeleted
	}
	if err != nil {
		return nil, err
	}
	l := &directoryLog{directory: d, dir: dir, lock: lock, settled: true}
	if err := l.begin(lines); err != nil {
		l.Close()
		return nil, err
	}
	return l, lock.Unlock()
}

// begin makes a new log while there is an older one, and tells those who have that open.
func (l *directoryLog) begin(lines []byte) error {
	d := l.directory
	name, err := d.newLogName(l.dir)
	if err != nil {
		return err
	}
	if _, err := l.lock.Write([]byte{nextByte}); err != nil {
		return err
	}
	if l.lockSize, err = l.lock.Size(); err != nil {
		return err
	}
	if err := d.writeFile(l.dir+"/"+name, lines, true); err != nil {
		return err
	}
	return l.openNewest(os.O_RDWR)
}

// Close implements [Log].
func (l *directoryLog) Close() error {
	var errs []error
	for _, f := range []files.File{l.file, l.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	l.file, l.lock = nil, nil
	if l.dead == nil {
		l.dead = ErrClosed
	}
	return errors.Join(errs...)
}
