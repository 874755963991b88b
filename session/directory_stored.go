package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// storedFile is the file of a session's newest log, as its directory lists it.
type storedFile struct {
	dir  string // path from the root of the store
	file string
	disk int64

	marks lockMarks

	busy bool     // somebody may be changing it; file is "" if it does not exist yet
	name string   // name of its directory
	in   files.FS // that directory, during the call of f
}

// eachStored calls f for every session in the directory, from several goroutines.
func (d *directory) eachStored(ctx context.Context, f func(storedFile) error) error {
	return d.visit(ctx, false, f)
}

// visit is eachStored. With tryLocks it also sets busy, before it lists the files.
func (d *directory) visit(ctx context.Context, tryLocks bool, f func(storedFile) error) error {
	return d.eachDirectory(ctx, func(ctx context.Context, parent files.FS, s storedFile) error {
		return d.visitOne(ctx, parent, s, tryLocks, f)
	})
}

// visitor gets a session's directory: its name and path are set in s, and it is in parent.
type visitor func(ctx context.Context, parent files.FS, s storedFile) error

// eachDirectory calls f for the directory of every session, with or without a log, from several goroutines.
func (d *directory) eachDirectory(ctx context.Context, f visitor) error {
	parents, err := d.fs.List("s")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a power loss may take s; the next session makes it
		return err
	}
	next := make(chan string)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for range cmp.Or(d.readers, 2*runtime.GOMAXPROCS(0)) { // some of them wait for the disk
		wg.Go(func() {
			for parent := range next {
				if err := d.visitIn(ctx, "s/"+parent, f); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, parent := range parents {
		select {
		case next <- parent:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

func (d *directory) visitIn(ctx context.Context, parent string, f visitor) error {
	in, err := d.fs.Sub(parent)
	if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	names, err := in.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "k-") {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f(ctx, in, storedFile{dir: parent + "/" + name, name: name}); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) visitOne(
	ctx context.Context, parent files.FS, s storedFile, tryLocks bool, f func(storedFile) error,
) error {
	in, err := parent.Sub(s.name)
	if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	s.in = in
	if tryLocks {
		if s.busy, err = isBusy(ctx, in, s.name); err != nil {
			return err
		}
	}
	if s.file, s.disk, err = newestFile(in, "."); err != nil {
		return err
	}
	if s.file == "" && !s.busy {
		return nil
	}
	if s.marks, err = marksAt(in, lockName); err != nil {
		return err
	}
	if s.marks.isDeleted() {
		_ = d.finishDeletion(s.dir)
		return nil
	}
	return f(s)
}

// isBusy reports whether somebody may be changing the session in a directory. If the name does not hold the whole key,
// isBusy waits for the lock instead.
func isBusy(ctx context.Context, in files.FS, name string) (bool, error) {
	lock, err := in.Open(lockName, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, files.ErrLink) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if strings.Contains(name, "~") {
		return false, waitLock(ctx, lock, lastTryOfAppend)
	}
	free, err := lock.TryLock()
	return !free, err
}

// within returns the path of a name in a directory.
func within(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// newestFile returns the file of the newest log in a directory of fsys, "" if there is none.
func newestFile(fsys files.FS, dir string) (name string, size int64, err error) {
	for {
		names, err := fsys.List(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return "", 0, nil
		}
		if err != nil {
			return "", 0, err
		}
		if name = newestOf(names); name == "" {
			return "", 0, nil
		}
		size, err = fsys.SizeOf(within(dir, name))
		if !errors.Is(err, fs.ErrNotExist) { // otherwise it was replaced in between
			return name, size, err
		}
	}
}

// newestOf returns the name of the newest log, or of its archive if the log itself is not among the names.
func newestOf(names []string) string {
	newest := ""
	for _, name := range names {
		log := strings.TrimSuffix(name, archiveSuffix)
		if !strings.HasSuffix(log, logSuffix) || logOf(name) < logOf(newest) {
			continue
		}
		if logOf(name) != logOf(newest) || name == log {
			newest = name
		}
	}
	return newest
}
