package dir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// settle prepares a log for appending: it copies a log whose sync failed, and cuts off a torn end. The lock is held.
func (l *directoryLog) settle(key string) error {
	mark := l.dir + "/" + l.name + failedMark
	if f, err := l.directory.fs.Open(mark, os.O_RDONLY, 0); err == nil {
		f.Close()
		if err := l.copy(); err != nil {
			return err
		}
		_ = l.directory.fs.Remove(mark) // its log is gone
	}
	if err := l.retire(); err != nil {
		return err
	}
	return l.cutTail()
}

// copy replaces a log whose sync failed by a copy: the kernel may wrongly believe that pages are on the disk. Offsets
// must not change, so damage is copied too.
func (l *directoryLog) copy() error {
	size, err := l.file.Size()
	if err != nil {
		return err
	}
	name, err := l.directory.newLogName(l.dir)
	if err != nil {
		return err
	}
	if err := l.replaces(); err != nil {
		return err
	}
	if err := l.place(name, io.NewSectionReader(l.file, 0, size)); err != nil {
		return err
	}
	if err := l.setAside(l.name); err != nil {
		return err
	}
	l.file.Close()
	l.file = nil
	return l.openNewest(os.O_RDWR)
}

// setAside renames a log that was copied, so that it is no longer one of the session's logs. If that were not durable,
// the session would have its content twice after a power loss.
func (l *directoryLog) setAside(name string) error {
	if err := l.directory.fs.Rename(l.dir+"/"+name, l.dir+"/"+name+oldSuffix); err != nil {
		return err
	}
	return l.directory.fs.SyncDir(l.dir)
}

// retire sets the second newest log aside if the newest is a copy of it: whoever made the copy was killed, or lost
// power, before doing so.
func (l *directoryLog) retire() error {
	names, err := l.directory.logs(l.dir)
	if err != nil || len(names) < 2 {
		return err
	}
	before := names[len(names)-2]
	mark, err := l.directory.fs.Open(l.dir+"/"+before+failedMark, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = mark.Close()
	}
	if err != nil {
		return err
	}
	old, err := l.directory.fs.Open(l.dir+"/"+before, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // it is an archive
		return nil
	}
	if err != nil {
		return err
	}
	defer old.Close()
	size, err := old.Size()
	if err != nil {
		return err
	}
	same, err := ReadSame(io.NewSectionReader(old, 0, size), io.NewSectionReader(l.file, 0, size))
	if err != nil || !same {
		return err
	}
	if err := l.setAside(before); err != nil {
		return err
	}
	_ = l.directory.fs.Remove(l.dir + "/" + before + failedMark) // its log is gone
	return nil
}

// cutTail moves an unfinished line or batch at the end to a file beside the log.
func (l *directoryLog) cutTail() error {
	size, err := l.file.Size()
	if err != nil || size == 0 {
		return err
	}
	cut, seq, newline, err := findTail(l.file, size)
	if err != nil {
		return err
	}
	if !newline && cut == size {
		return nil
	}
	if newline {
		_, err := l.file.Write([]byte{'\n'})
		return err
	}
	return l.cutFrom(cut, size, seq)
}

// cutFrom moves everything after cut to a separate file.
func (l *directoryLog) cutFrom(cut, size, seq int64) error {
	torn := io.NewSectionReader(l.file, cut, size-cut)
	if err := l.directory.writeFrom(l.tornName(seq), torn, true); err != nil {
		return err
	}
	if err := l.file.Truncate(cut); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return l.kill(err) // otherwise the next opening would sync the same file again
	}
	return nil
}

// tornName returns an unused name for a tail.
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
	w := jsonl.Window{Log: log, Size: size, Step: jsonl.SmallStep}
	t := &jsonl.Tail{W: w, Ahead: w}
	cut = size
	last := []byte{0}
	if _, err := log.ReadAt(last, size-1); err != nil {
		return 0, 0, false, err
	}
	if last[0] != '\n' {
		text, start, err := t.W.LineBefore(size + 1)
		if errors.Is(err, errs.ErrTooLarge) {
			text = nil
			start, err = t.W.StartBefore(size)
		}
		if err != nil {
			return 0, 0, false, err
		}
		trimmed, _, hasNUL := jsonl.TrimLine(text)
		if l, reason := jsonl.ParseLine(trimmed); reason == "" && !hasNUL && l.Batch[0] == l.Batch[1] {
			return size, 0, true, nil
		}
		cut = start
	}
	for at := cut; at > 0; {
		l, err := t.Before(at)
		if errors.Is(err, jsonl.ErrSlow) || errors.Is(err, errs.ErrTooLarge) {
			break // damage that ends in a newline stays in place
		}
		if err != nil {
			return 0, 0, false, err
		}
		if seq = max(seq, l.Seq+1); l.Batch[0] == l.Batch[1] {
			break
		}
		at, cut = l.Offset, l.Offset
	}
	return cut, seq, false, nil
}
