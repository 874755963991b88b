package session

import (
	"hash/maphash"
	"io"
	"sync/atomic"
)

// A log survives a power loss only if three directory entries are on the disk: that of the log, that of the session's
// directory in its parent, and that of the parent in s. Whoever made them may have been killed before the directories
// were synced, or may have asked for no durability. So the first durable append to a log syncs all three directories,
// unless this store knows that they are durable.

// durableNames remembers names whose entries are known to be on the disk: IDs of logs, and parents of sessions. It is
// a hash table of fixed size. A name that is displaced by another costs one needless sync. No name gets another entry:
// the ID of a log is random and changes when the log is rewritten, and the parents are never removed. A log that
// replaces its own archive is made durable by whoever finds both.
type durableNames struct {
	seed  maphash.Seed
	slots [1 << 10]atomic.Uint64
}

func newDurableNames() *durableNames { return &durableNames{seed: maphash.MakeSeed()} }

func (n *durableNames) slot(name string) (*atomic.Uint64, uint64) {
	sum := maphash.String(n.seed, name)
	return &n.slots[sum%uint64(len(n.slots))], sum
}

func (n *durableNames) has(name string) bool {
	slot, sum := n.slot(name)
	return slot.Load() == sum
}

func (n *durableNames) add(name string) {
	slot, sum := n.slot(name)
	slot.Store(sum)
}

// syncParents makes the entry of a session's directory durable, and that of its parent.
func (d *directory) syncParents(dir string) error {
	parent := directoryOf(dir)
	if !d.durable.has(parent) {
		if err := d.fs.SyncDir("s"); err != nil {
			return err
		}
		d.durable.add(parent)
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
	d.durable.add(l.dir + "/" + l.marks.idOf(name))
	l.settled = true
	return nil
}

// syncEntries makes the entries of the log and of the directories above it durable.
func (l *directoryLog) syncEntries() error {
	d, name := l.directory, l.dir+"/"+l.ID()
	if d.durable.has(name) {
		return nil
	}
	if err := d.syncParents(l.dir); err != nil {
		return err
	}
	if err := d.fs.SyncDir(l.dir); err != nil {
		return err
	}
	d.durable.add(name)
	return nil
}
