package dir

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/winnowgo/winnow/session/backend"
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

// Flush implements [Turn]. Archives are durable already, and stay archives.
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
