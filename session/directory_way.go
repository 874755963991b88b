package session

import (
	"hash/maphash"
	"io"
	"sync/atomic"
)

// A log survives a power loss only if each directory on the way to it has its entry on the disk: the log in the
// directory of its session, that one in its parent, and the parent in s. Whoever made them may have been killed before
// the directories were synced, or may not have wanted them synced. So the first durable append to a log that was opened
// syncs its way, unless this store has already done so.

// durableWays remembers names whose way is on the disk. It is a table of hashes with a fixed size: a name that another
// one pushed out costs a needless sync. The names of logs are random, and the parents are never removed, so what a name
// says stays true.
type durableWays struct {
	seed  maphash.Seed
	slots [1 << 10]atomic.Uint64
}

func newDurableWays() *durableWays { return &durableWays{seed: maphash.MakeSeed()} }

func (w *durableWays) slot(name string) (*atomic.Uint64, uint64) {
	sum := maphash.String(w.seed, name)
	return &w.slots[sum%uint64(len(w.slots))], sum
}

func (w *durableWays) has(name string) bool {
	slot, sum := w.slot(name)
	return slot.Load() == sum
}

func (w *durableWays) add(name string) {
	slot, sum := w.slot(name)
	slot.Store(sum)
}

// syncWayTo makes the directory of a session durable: its entry in its parent, and that of the parent.
func (d *directory) syncWayTo(dir string) error {
	parent := directoryOf(dir)
	if !d.ways.has(parent) {
		if err := d.fs.SyncDir("s"); err != nil {
			return err
		}
		d.ways.add(parent)
	}
	return d.fs.SyncDir(parent)
}

// place puts a new log in the directory, for good. The way comes first: a log that can be seen has a durable way to it.
func (l *directoryLog) place(name string, lines io.Reader) error {
	d := l.directory
	if err := d.syncWayTo(l.dir); err != nil {
		return err
	}
	if err := d.writeFrom(l.dir+"/"+name, lines, true); err != nil {
		return err
	}
	d.ways.add(l.dir + "/" + name)
	l.settled = true
	return nil
}

// syncWay makes the entry of the log durable, and the way to it.
func (l *directoryLog) syncWay() error {
	d, name := l.directory, l.dir+"/"+l.name
	if d.ways.has(name) {
		return nil
	}
	if err := d.syncWayTo(l.dir); err != nil {
		return err
	}
	if err := d.fs.SyncDir(l.dir); err != nil {
		return err
	}
	d.ways.add(name)
	return nil
}
