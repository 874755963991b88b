package dir

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
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
// above sessions are never removed. A log that replaces its own archive is made durable by whoever finds both.
type durableNames struct {
	mu          sync.Mutex
	directories map[string]bool     // s, and parents of sessions in it: 257 at most
	logs        map[uint64]struct{} // hashes of their directories and IDs, at most mostDurableLogs
	seed        maphash.Seed
}

// mostDurableLogs is how many logs a store remembers, in 2 MB at most. Each log that it has forgotten costs two
// needless syncs of directories when it is next opened and appended to.
const mostDurableLogs = 1 << 16

func newDurableNames() *durableNames {
	return &durableNames{directories: map[string]bool{}, logs: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

func (n *durableNames) hasDirectory(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.directories[name]
}

func (n *durableNames) addDirectory(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.directories[name] = true
}

func (n *durableNames) hasLog(dir, id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.logs[n.hash(dir, id)]
	return ok
}

// addLog remembers a log. When there are too many, it forgets any other one.
func (n *durableNames) addLog(dir, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.logs) >= mostDurableLogs {
		for other := range n.logs {
			delete(n.logs, other)
			break
		}
	}
	n.logs[n.hash(dir, id)] = struct{}{}
}

func (n *durableNames) hash(dir, id string) uint64 { return maphash.String(n.seed, dir+"/"+id) }

// syncParents makes the entry of a session's directory durable, and those above it.
func (d *Directory) syncParents(dir string) error {
	for _, above := range []string{"s", directoryOf(dir)} {
		if d.durable.hasDirectory(above) {
			continue
		}
		if err := d.fs.SyncDir(directoryOf(above)); err != nil {
			return err
		}
		d.durable.addDirectory(above)
	}
	return d.fs.SyncDir(directoryOf(dir))
}

// place writes a new log durably. The directories above it come first, so that a log that is visible can be durable.
func (l *directoryLog) place(name string, lines io.Reader) error {
	d := l.directory
	if err := d.syncParents(l.dir); err != nil {
		return err
	}
	if err := d.writeFrom(l.dir+"/"+name, lines, true); err != nil {
		return err
	}
	d.durable.addLog(l.dir, l.marks.idOf(name))
	l.settled = true
	return nil
}

// syncEntries makes the entries of the log and of the directories above it durable.
func (l *directoryLog) syncEntries() error {
	d := l.directory
	if d.durable.hasLog(l.dir, l.ID()) {
		return nil
	}
	if err := d.syncParents(l.dir); err != nil {
		return err
	}
	if err := d.fs.SyncDir(l.dir); err != nil {
		return err
	}
	d.durable.addLog(l.dir, l.ID())
	return nil
}

// syncSession makes the entries of a session's directory durable.
func (d *Directory) syncSession(key string) error {
	dir, err := d.sessionDir(key, false)
	if err != nil || dir == "" {
		return err
	}
	return d.fs.SyncDir(dir)
}

// Flush implements [backend.Turn]. Archives are durable already, and stay archives.
func (t *directoryTurn) Flush(ctx context.Context) error {
	parts, err := t.directory.Parts(ctx, t.key)
	if err != nil {
		return err
	}
	newestIsLog := false
	for _, part := range parts {
		switch {
		case part.Kind != backend.PartLog:
		case part.Open:
			newestIsLog = true
		default:
			if err := t.flushOlder(ctx, part); err != nil {
				return err
			}
		}
	}
	if !newestIsLog {
		return t.directory.syncSession(t.key)
	}
	log, err := t.directory.Log(ctx, t.key, true) // copies a log whose sync failed
	if err != nil {
		return err
	}
	l := log.(*directoryLog)
	if err = waitLock(ctx, l.lock, lastTryOfAppend); err == nil {
		if l.file != nil {
			err = l.sync()
		}
		err = errors.Join(err, l.lock.Unlock())
	}
	return errors.Join(err, l.Close())
}

// flushOlder makes a log durable that is not the newest. If a sync of it failed before, its file is replaced by a copy,
// under the same name: nobody appends to it any more.
func (t *directoryTurn) flushOlder(ctx context.Context, part backend.Part) error {
	return t.directory.change(ctx, t, []backend.Part{part}, func(l *directoryLog) error {
		d, name := l.directory, l.dir+"/"+part.Name
		f, err := d.fs.Open(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		l.name = part.Name
		mark, err := d.fs.Open(name+failedMark, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if err := f.Sync(); err != nil {
				return l.kill(err)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := mark.Close(); err != nil {
			return err
		}
		if err := d.writeFrom(name, io.NewSectionReader(f, 0, part.Bytes), true); err != nil {
			return err
		}
		_ = d.fs.Remove(name + failedMark) // its file is gone
		return nil
	})
}

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
