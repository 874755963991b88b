package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
)

// A session is deleted once its log.lock says so on the disk. From then on nobody sees it, even if some of its files
// are left. Whoever finds the remains of an interrupted deletion removes them.

func isDeleted(lock files.File) (bool, error) {
	marks, err := readMarks(lock)
	return marks.isDeleted(), err
}

// Delete implements [backend.Backend]. The mark of the deletion is on the disk before the first file is removed.
func (d *Directory) Delete(ctx context.Context, key string) error {
	dir, err := d.sessionDir(key, false)
	if err != nil || dir == "" {
		return err
	}
	lock, gone, err := d.lockLog(ctx, dir)
	if err != nil || gone {
		return err
	}
	defer lock.Close()
	return d.removeSession(dir, lock)
}

// removeSession removes the directory of a session. Its log.lock is held.
func (d *Directory) removeSession(dir string, lock files.File) error {
	defer d.index.wrote(dir)
	if _, err := lock.Write([]byte{deletedByte}); err != nil {
		return err
	}
	if err := lock.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errs.ErrSync, err)
	}
	return d.removeAll(dir)
}

// removeAll removes the directory of a session, whose log.lock says that it is deleted.
func (d *Directory) removeAll(dir string) error {
	names, err := d.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
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
	return d.fs.SyncDir(directoryOf(dir))
}

// marks reads the log.lock in dir. If possible, it removes what an interrupted deletion left; otherwise a later call
// does.
func (d *Directory) marks(dir string) (lockMarks, error) {
	marks, err := marksAt(d.fs, dir+"/"+lockName)
	if marks.isDeleted() {
		_ = d.finishDeletion(dir) // the deletion counts without it
	}
	return marks, err
}

// finishDeletion removes what is left in dir, unless somebody else is doing so.
func (d *Directory) finishDeletion(dir string) error {
	f, err := d.fs.Open(dir+"/"+lockName, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if free, err := f.TryLock(); !free || err != nil || !d.fs.IsLinked(f, dir+"/"+lockName) {
		return err
	}
	if deleted, err := isDeleted(f); !deleted || err != nil {
		return err
	}
	return d.removeMarked(dir, f)
}

// removeMarked is removeAll for a session that somebody else has deleted, who may have been killed before the mark was
// on the disk.
func (d *Directory) removeMarked(dir string, lock files.File) error {
	if err := lock.Sync(); err != nil {
		return err
	}
	return d.removeAll(dir)
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
	err := d.forgetCatalog()
	for _, key := range keys {
		err = errors.Join(err, d.syncSession(key))
	}
	if err != nil {
		return err
	}
	return d.eachDirectory(ctx, func(ctx context.Context, parent files.FS, s storedFile) error {
		in, err := parent.Sub(s.name)
		if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		names, err := in.List(".")
		if err = errors.Join(err, in.Close()); err != nil || len(remainsIn(names)) == 0 {
			return err
		}
		lock, gone, err := d.lockLog(ctx, s.dir)
		if gone || err != nil {
			return err
		}
		l := &directoryLog{directory: d, dir: s.dir, lock: lock}
		return errors.Join(l.sweep(), l.Close())
	})
}

// forgetCatalog removes the list that earlier versions kept beside the logs: it repeats titles.
func (d *Directory) forgetCatalog() error {
	names, err := d.fs.List(".")
	if err != nil {
		return err
	}
	for i := range names { // the lock is the last name: while it is there, a removal may not be durable yet
		if !strings.HasPrefix(names[i], oldCatalog) {
			continue
		}
		if names[i] == oldCatalog+".lock" {
			err = errors.Join(err, d.fs.SyncDir("."))
		}
		if err = errors.Join(err, d.remove(names[i])); err != nil {
			return err
		}
	}
	return nil
}
