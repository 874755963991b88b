package dir

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// storedFile is the file of a session's newest log, as its directory lists it.
type storedFile struct {
	dir  string // path from the root of the store
	file string
	disk int64

	marks lockMarks

	name string   // name of its directory
	in   files.FS // that directory, during the call of f
}

// eachStored calls f for every session in the directory, from several goroutines.
func (d *Directory) eachStored(ctx context.Context, f func(storedFile) error) error {
	return d.eachDirectory(ctx, func(_ context.Context, parent files.FS, s storedFile) error {
		return d.visitOne(parent, s, f)
	})
}

// visitor gets a session's directory: its name and path are set in s, and it is in parent.
type visitor func(ctx context.Context, parent files.FS, s storedFile) error

// eachDirectory calls f for the directory of every session, with or without a log, from several goroutines.
func (d *Directory) eachDirectory(ctx context.Context, f visitor) error {
	parents, err := d.fs.List("s")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a power loss may take s; the next session makes it
		return err
	}
	next := make(chan string)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for range d.Readers {
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

func (d *Directory) visitIn(ctx context.Context, parent string, f visitor) error {
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

// visitAt calls f for the session in the directory with this path, if there is one.
func (d *Directory) visitAt(dir string, f func(storedFile) error) error {
	parent := directoryOf(dir)
	in, err := d.fs.Sub(parent)
	if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return d.visitOne(in, storedFile{dir: dir, name: dir[len(parent)+1:]}, f)
}

// visitOne calls f for the session in a directory, if there is one.
func (d *Directory) visitOne(parent files.FS, s storedFile, f func(storedFile) error) error {
	in, err := parent.Sub(s.name)
	if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	s.in = in
	if s.file, s.disk, err = newestFile(in, "."); s.file == "" || err != nil {
		return err
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

// Keys implements [backend.Backend].
func (d *Directory) Keys(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var keys []string
	err := d.eachStored(ctx, func(s storedFile) error {
		key, err := d.keyIn(&s)
		if key != "" {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, key)
		}
		return err
	})
	return keys, err
}

// keyIn returns the key of a session: that in the name of its directory, or, if the name does not hold the whole key,
// that in the header of its newest log. It is "" if neither can be read.
func (d *Directory) keyIn(s *storedFile) (string, error) {
	if key, ok := unescapeKey(strings.TrimPrefix(s.name, "k-")); ok {
		if parent, name := keyDirectory(key); parent+"/"+name == s.dir {
			return key, nil
		}
	}
	return d.keyOf(s.dir, s.name)
}

// keyOf reads the key of a session from the header of its newest log.
func (d *Directory) keyOf(dir, name string) (key string, err error) {
	logs, err := d.logs(dir)
	for i := len(logs) - 1; i >= 0 && err == nil; i-- {
		f, err := d.openToRead(dir+"/"+logs[i], LongestHeader)
		if err != nil {
			continue
		}
		head := make([]byte, LongestHeader)
		n, _ := f.ReadAt(head, 0)
		f.Close()
		text, _, _ := strings.Cut(string(head[:n]), "\n")
		if l, reason := jsonl.ParseLine([]byte(text)); reason == "" {
			if e, err := l.Decode(); err == nil && e.Type == entry.TypeSession {
				return e.Key, nil
			}
		}
	}
	if len(logs) > 0 && !strings.Contains(name, "~") {
		key, _ = unescapeKey(name[len("k-"):])
	}
	return key, err
}

// unescapeKey undoes escapeKey.
func unescapeKey(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	return b.String(), true
}

// Surveyed is a session, and what is stored of it.
type Surveyed struct {
	Key   string
	Parts []backend.Part
	Lost  error // why some of it could not be read

	// Open opens a log or an archive. It may read only the first limit bytes. It is valid during the call of f.
	Open func(part backend.Part, limit int64) (backend.Log, error)
}

// Each calls f for 0 to n-1, from several goroutines, until one fails.
func Each(ctx context.Context, goroutines, n int, f func(i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, goroutines) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Survey calls f for every session, from several goroutines, until one returns an error. It visits each directory once.
func (d *Directory) Survey(ctx context.Context, f func(*Surveyed) error) error {
	return d.eachStored(ctx, func(stored storedFile) error {
		key, err := d.keyIn(&stored)
		if key == "" || err != nil {
			return err
		}
		s := &Surveyed{Key: key}
		s.Parts, s.Lost = partsIn(stored.in, ".", stored.marks)
		s.Open = func(part backend.Part, limit int64) (backend.Log, error) {
			name := strings.TrimSuffix(part.Name, archiveSuffix)
			f, err := openToRead(stored.in, name, limit)
			if errors.Is(err, fs.ErrNotExist) {
				err = errs.ErrNotFound
			}
			if err != nil {
				return nil, err
			}
			return &directoryLog{directory: d, dir: stored.dir, name: name, file: f, marks: stored.marks}, nil
		}
		return f(s)
	})
}
