package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// A log survives a power loss only if its entry is on the disk, and so are those of the session's directory, of the
// parent of that, and of s. Whoever made them may have been killed before the directories were synced, or may have
// asked for no durability. So the first durable append to a log syncs all four directories, unless this store knows
// that they are durable. Opening an existing store syncs nothing.

// durableNames remembers names whose entries are known to be on the disk: IDs of logs, and directories above sessions.
// No name gets another entry: the ID of a log is random and changes when the log is rewritten, and the directories
// above sessions are never removed. A log that replaces its own archive, or is copied because a sync failed, is made
// durable by whoever does so.
type durableNames struct {
	mu    sync.Mutex
	known map[string]bool
}

// mostDurable is how many names a store remembers, in some 4 MB. Each one that it has forgotten costs needless syncs of
// directories when it is next used.
const mostDurable = 1 << 15

func (n *durableNames) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[name]
}

// add remembers a name. When there are too many, it forgets all others.
func (n *durableNames) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil || len(n.known) >= mostDurable {
		n.known = map[string]bool{}
	}
	n.known[name] = true
}

// syncParents makes the entry of a session's directory durable, and those above it.
func (d *Directory) syncParents(dir string) error {
	for _, above := range []string{"s", path.Dir(dir)} {
		if d.durable.has(above) {
			continue
		}
		if err := d.fs.SyncDir(path.Dir(above)); err != nil {
			return err
		}
		d.durable.add(above)
	}
	return d.fs.SyncDir(path.Dir(dir))
}

// place writes a log durably. The directories above it come first, so that a log that is visible can be durable.
func (l *directoryLog) place(name string, lines io.Reader) error {
	if err := l.directory.syncParents(l.dir); err != nil {
		return err
	}
	if err := l.directory.writeFrom(l.dir+"/"+name, lines, true); err != nil {
		return err
	}
	l.directory.durable.add(l.dir + "/" + l.marks.idOf(name))
	l.settled = true
	return nil
}

// syncEntries makes the entries of the log and of the directories above it durable.
func (l *directoryLog) syncEntries() error {
	id := l.dir + "/" + l.ID()
	if l.directory.durable.has(id) {
		return nil
	}
	if err := l.directory.syncParents(l.dir); err != nil {
		return err
	}
	if err := l.directory.fs.SyncDir(l.dir); err != nil {
		return err
	}
	l.directory.durable.add(id)
	return nil
}

// Flush implements [backend.Turn]. An archive is durable already, and stays one.
func (t *directoryTurn) Flush(ctx context.Context) error {
	parts, err := t.directory.Parts(ctx, t.key)
	isNewestLog := func(p backend.Part) bool { return p.Open && p.Kind == backend.PartLog }
	if err != nil || !slices.ContainsFunc(parts, isNewestLog) {
		return err
	}
	l, err := t.directory.openLog(ctx, t.key, true)
	if err != nil {
		return err
	}
	return l.Close()
}

// settle prepares a log for appending: it copies a log whose sync failed, and cuts off a torn end. The lock is held.
func (l *directoryLog) settle() error {
	_, err := l.directory.fs.SizeOf(l.dir + "/" + l.name + failedMark)
	if err == nil {
		err = l.copy()
	} else {
		err = unless(err, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	return l.cutTail()
}

// copy puts a copy in the place of a log whose sync failed: the kernel may wrongly believe that pages are on the disk.
// Offsets must not change, so damage is copied too.
func (l *directoryLog) copy() error {
	if err := l.mark(nextByte); err != nil { // others may have the file open
		return err
	}
	if err := l.place(l.name, textOf(l.file)); err != nil {
		return err
	}
	_ = l.directory.fs.Remove(l.dir + "/" + l.name + failedMark) // its log is gone
	if err := l.file.Close(); err != nil {
		return err
	}
	return l.openNewest()
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
	if newline {
		_, err := l.file.Write([]byte{'\n'})
		return err
	}
	if cut == size {
		return nil
	}
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
		if _, err := l.directory.fs.SizeOf(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s/%s.torn-%d-%d", l.dir, l.name, seq, n)
	}
}

// findTail returns where the last whole line or batch ends, and the seq that would come next. newline says that only
// the newline of the last line is missing.
func findTail(log files.File, size int64) (cut, seq int64, newline bool, err error) {
	t := jsonl.NewTail(log, size, nil)
	t.W.Step = jsonl.SmallStep
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
