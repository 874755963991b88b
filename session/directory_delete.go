package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/internal/files"
)

// A session is deleted once its log.lock says so on the disk. From then on nobody sees it, even if some of its files
// are left. Whoever finds the remains of an interrupted deletion removes them.

func isDeleted(lock files.File) (bool, error) {
	marks, err := readMarks(lock)
	return marks.isDeleted(), err
}

// Delete implements [Backend]. The mark of the deletion is on the disk before the first file is removed.
func (d *directory) Delete(ctx context.Context, key string) error {
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
func (d *directory) removeSession(dir string, lock files.File) error {
	defer d.index.wrote(dir)
	if _, err := lock.Write([]byte{deletedByte}); err != nil {
		return err
	}
	if err := lock.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrSync, err)
	}
	return d.removeAll(dir)
}

// removeAll removes the directory of a session, whose log.lock says that it is deleted.
func (d *directory) removeAll(dir string) error {
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
func (d *directory) marks(dir string) (lockMarks, error) {
	marks, err := marksAt(d.fs, dir+"/"+lockName)
	if marks.isDeleted() {
		_ = d.finishDeletion(dir) // the deletion counts without it
	}
	return marks, err
}

// finishDeletion removes what is left in dir, unless somebody else is doing so.
func (d *directory) finishDeletion(dir string) error {
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
func (d *directory) removeMarked(dir string, lock files.File) error {
	if err := lock.Sync(); err != nil {
		return err
	}
	return d.removeAll(dir)
}
