package session

import (
	"hash/maphash"
	"io"
	"sync"
)

// A log survives a power loss only if three directory entries are on the disk: that of the log, that of the session's
// directory in its parent, and that of the parent in s. Whoever made them may have been killed before the directories
// were synced, or may have asked for no durability. So the first durable append to a log syncs all three directories,
// unless this store knows that they are durable.

// durableNames remembers names whose entries are known to be on the disk: IDs of logs, and parents of sessions. No name
// gets another entry: the ID of a log is random and changes when the log is rewritten, and the parents are never
// removed. A log that replaces its own archive is made durable by whoever finds both.
type durableNames struct {
	mu      sync.Mutex
	parents map[string]bool     // at most 256
	logs    map[uint64]struct{} // hashes of their directories and IDs, at most mostDurableLogs
	seed    maphash.Seed
}

// mostDurableLogs is how many logs a store remembers, in 2 MB at most. Each log that it has forgotten costs two
// needless syncs of directories when it is next opened and appended to.
const mostDurableLogs = 1 << 16

func newDurableNames() *durableNames {
	return &durableNames{parents: map[string]bool{}, logs: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

func (n *durableNames) hasParent(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.parents[name]
}

func (n *durableNames) addParent(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.parents[name] = true
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

// syncParents makes the entry of a session's directory durable, and that of its parent.
func (d *directory) syncParents(dir string) error {
	parent := directoryOf(dir)
	if !d.durable.hasParent(parent) {
		if err := d.fs.SyncDir("s"); err != nil {
			return err
		}
		d.durable.addParent(parent)
	}
	return d.fs.SyncDir(parent)
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
func (d *directory) syncSession(key string) error {
	dir, err := d.sessionDir(key, false)
	if err != nil || dir == "" {
		return err
	}
	return d.fs.SyncDir(dir)
}
