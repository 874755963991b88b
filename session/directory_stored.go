package session

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// storedFile is what a directory says of a session: the file of its newest log.
type storedFile struct {
	dir  string // from the root of the store
	file string
	disk int64

	in   files.FS // the directory that it is in, and its name there, while it is asked for
	name string
}

// eachStored calls f for every session in the directory, from several goroutines.
func (d *directory) eachStored(ctx context.Context, f func(storedFile) error) error {
	parents, err := d.fs.List("s")
	if err != nil {
		return err
	}
	next := make(chan string)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) { // some of them wait for the disk
		wg.Go(func() {
			for parent := range next {
				if err := d.eachIn(ctx, "s/"+parent, f); err != nil {
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

func (d *directory) eachIn(ctx context.Context, parent string, f func(storedFile) error) error {
	within, err := d.fs.Sub(parent)
	if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer within.Close()
	names, err := within.List(".")
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
		s := storedFile{dir: parent + "/" + name, in: within, name: name}
		if s.file, s.disk, err = newestFile(within, name); err != nil {
			if ok, err2 := within.IsDir(name); !ok && (err2 == nil || errors.Is(err2, files.ErrLink)) {
				continue
			}
			return err
		}
		if s.file == "" {
			continue
		}
		if gone, err := isMarked(within, name); err != nil {
			return err
		} else if gone {
			_ = d.finishDeletion(s.dir)
			continue
		}
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
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
		size, err = fsys.SizeOf(dir + "/" + name)
		if !errors.Is(err, fs.ErrNotExist) { // else it was replaced in between
			return name, size, err
		}
	}
}

// newestOf returns which of the names is the newest log's, or its archive's where that is all.
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
