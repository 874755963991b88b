package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/winnowgo/winnow/session/internal/errs"
)

// A session is deleted once its log.lock says so on the disk. From then on nobody sees it, even if some of its files
// are left. Whoever finds the remains of an interrupted deletion removes them.

// Delete implements [backend.Backend]. The mark of the deletion is on the disk before the first file is removed.
func (d *Directory) Delete(ctx context.Context, key string) error {
	dir, err := d.sessionDir(key, false)
	if err != nil || dir == "" {
		return err
	}
	l, err := d.lockLog(ctx, dir, os.O_CREATE)
	if err != nil {
		return unless(err, errs.ErrDeleted)
	}
	defer l.Close()
	return l.remove()
}

// remove removes the directory of a session. The lock is held.
func (l *directoryLog) remove() error {
	defer l.directory.index.wrote(l.dir)
	if err := l.markDurably(deletedByte); err != nil {
		return err
	}
	return l.directory.removeAll(l.dir)
}

// removeAll removes the directory of a session, whose log.lock says that it is deleted.
func (d *Directory) removeAll(dir string) error {
	names, err := d.fs.List(dir)
	if err != nil {
		return unless(err, fs.ErrNotExist)
	}
	for _, name := range names {
		if name == lockName {
			continue
		}
		if err := d.remove(dir + "/" + name); err != nil {
			return err
		}
	}
	// The mark of the deletion is removed only after everything else is gone for good: file systems may write the
	// removals of one directory to the disk in any order.
	if err := d.fs.SyncDir(dir); err != nil {
		return err
	}
	if err := d.remove(dir + "/" + lockName); err != nil {
		return err
	}
	_ = d.fs.Remove(dir) // somebody may have begun a new session in it
	return d.fs.SyncDir(path.Dir(dir))
}

// finishDeletion removes what is left in dir, unless somebody else is doing so.
func (d *Directory) finishDeletion(dir string) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // it does not wait
	l, err := d.lockLog(ctx, dir, 0)
	if err != nil {
		return err
	}
	return l.Close()
}

// errNotSwept: files that sweep should have removed are still there.
var errNotSwept = errors.New("session: the remains of an interrupted call cannot be removed")

// sweep removes unfinished files, and archives whose log still exists. The lock is held, so nobody is working on them.
func (l *directoryLog) sweep() error {
	d := l.directory
	names, err := d.fs.List(l.dir)
	if err != nil {
		return err
	}
	left := remainsIn(names)
	if len(left) == 0 {
		return nil
	}
	// Whoever restored a log from its archive may have been killed before the log's entry was durable, and only the
	// archive tells. So the archive goes after the entry is durable.
	if err := d.fs.SyncDir(l.dir); err != nil {
		return err
	}
	for _, name := range left {
		if failed := d.remove(l.dir + "/" + name); failed != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", errNotSwept, failed))
		}
	}
	return errors.Join(err, d.fs.SyncDir(l.dir))
}

// remainsIn returns those of the names in a session's directory that interrupted calls left.
func remainsIn(names []string) (left []string) {
	for _, name := range names {
		if strings.HasSuffix(name, tempSuffix) || isLeftArchive(name, names) {
			left = append(left, name)
		}
	}
	return left
}

// Sweep implements [backend.Backend]. An interrupted call may have left the text of an erased entry
// where nobody looks for copies: the unfinished file of a fork whose process was killed is in a directory without a
// log.
func (d *Directory) Sweep(ctx context.Context, keys ...string) error {
	var err error
	for _, key := range keys {
		dir, failed := d.sessionDir(key, false)
		if failed == nil && dir != "" {
			failed = d.fs.SyncDir(dir)
		}
		err = errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	return d.eachDirectory(ctx, func(s *stored) error {
		names, err := s.names()
		if err != nil || len(remainsIn(names)) == 0 && !s.marks.isDeleted() {
			return err
		}
		l, err := d.lockLog(ctx, s.dir, os.O_CREATE)
		if err != nil {
			return unless(err, errs.ErrDeleted)
		}
		return errors.Join(l.sweep(), l.Close())
	})
}
