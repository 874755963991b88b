package dir

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// stored is the directory of a session, open for reading.
type stored struct {
	files.Dir
	dir   string // where it is
	marks lockMarks

	file string // of the newest log, or of its archive; with withLog
	disk int64  // its length
}

// read calls f with the directory of a session. The error is ErrNotFound if there is none.
func (d *Directory) read(key string, f func(*stored) error) error {
	dir, err := d.locate(key)
	if err != nil {
		return err
	}
	return d.visit(d.fs, dir, dir, d.unlessDeleted(f))
}

// visit calls f with the directory dir of a session, which is called name within in.
func (d *Directory) visit(in files.Dir, name, dir string, f func(*stored) error) error {
	s := &stored{dir: dir}
	var err error
	if s.Dir, err = in.Sub(name); errors.Is(err, fs.ErrNotExist) {
		return errs.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if s.marks, err = s.readMarks(); err != nil {
		return err
	}
	return f(s)
}

// unlessDeleted returns a function that calls f if the session is not deleted.
func (d *Directory) unlessDeleted(f func(*stored) error) func(*stored) error {
	return func(s *stored) error {
		if s.marks.isDeleted() {
			_ = d.finishDeletion(s.dir) // it counts without that, and the next one who looks tries again
			return errs.ErrNotFound
		}
		return f(s)
	}
}

// withLog returns a function that calls f if the session has a log.
func (d *Directory) withLog(f func(*stored) error) func(*stored) error {
	return d.unlessDeleted(func(s *stored) (err error) {
		if s.file, s.disk, err = s.newest(); s.file == "" || err != nil {
			return err
		}
		return f(s)
	})
}

// unlessGone returns the error of a visit to a session. It is none if there is no session.
func unlessGone(err error) error { return unless(err, errs.ErrNotFound, files.ErrLink) }

// eachStored calls f for every session in the directory that has a log, from several goroutines.
func (d *Directory) eachStored(ctx context.Context, f func(*stored) error) error {
	return d.eachDirectory(ctx, d.withLog(f))
}

// eachDirectory calls f for the directory of every session, also of deleted ones, from several goroutines.
func (d *Directory) eachDirectory(ctx context.Context, f func(*stored) error) error {
	if d.closed.Load() {
		return errs.ErrClosed
	}
	parents, err := d.fs.List("s")
	if err = unless(err, fs.ErrNotExist); err != nil { // a power loss may take s; the next session makes it
		return err
	}
	return Each(ctx, d.Readers, len(parents), func(i int) error {
		parent := "s/" + parents[i]
		in, err := d.fs.Sub(parent)
		if err != nil {
			return unless(err, files.ErrLink, fs.ErrNotExist)
		}
		defer in.Close()
		names, err := in.List(".")
		for _, name := range names {
			if err == nil && ctx.Err() == nil && strings.HasPrefix(name, "k-") {
				err = unlessGone(d.visit(in, name, parent+"/"+name, f))
			}
		}
		return err
	})
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

// names lists the directory. A directory that is gone is empty.
func (s *stored) names() ([]string, error) {
	names, err := s.List(".")
	return names, unless(err, fs.ErrNotExist)
}

// mostTries is how often a log is looked for that others archive or restore, which is rare.
const mostTries = 10

// newest returns the file of the newest log, or of its archive if the log itself is not there, and its length. The name
// is "" if there is none.
func (s *stored) newest() (file string, size int64, err error) {
	for range mostTries {
		names, err := s.names()
		logs := logsAmong(names)
		if len(logs) == 0 || err != nil {
			return "", 0, err
		}
		if file = logs[len(logs)-1]; !slices.Contains(names, file) {
			file += archiveSuffix
		}
		if size, err = s.SizeOf(file); !errors.Is(err, fs.ErrNotExist) {
			return file, size, err
		}
	}
	return file, 0, err
}

// openNewest opens the newest log.
func (s *stored) openNewest() (readLog, error) {
	file, _, err := s.newest()
	if file == "" || err != nil {
		return readLog{}, cmp.Or(err, errs.ErrNotFound)
	}
	return s.open(file, MaxArchived)
}

// open opens a log or its archive, by the name of either. Of an archive it reads at most limit bytes.
func (s *stored) open(file string, limit int64) (readLog, error) {
	name := strings.TrimSuffix(file, archiveSuffix)
	f, err := openToRead(s, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		err = errs.ErrNotFound
	}
	return readLog{f, s.marks.idOf(name)}, err
}

// Keys implements [backend.Backend].
func (d *Directory) Keys(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var keys []string
	err := d.eachStored(ctx, func(s *stored) error {
		key, err := s.key()
		if key != "" {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, key)
		}
		return err
	})
	return keys, err
}

// key returns the key of the session: that in the name of its directory, or, if the name does not hold the whole key,
// that in the header of its newest log. It is "" if neither can be read.
func (s *stored) key() (string, error) {
	name := strings.TrimPrefix(path.Base(s.dir), "k-")
	if key, err := url.PathUnescape(name); err == nil && keyDirectory(key) == s.dir {
		return key, nil
	}
	names, err := s.names()
	for _, log := range slices.Backward(logsAmong(names)) {
		f, err := s.open(log, LongestHeader)
		if err != nil {
			continue
		}
		head := make([]byte, LongestHeader)
		n, _ := f.ReadAt(head, 0)
		f.Close()
		text, _, _ := bytes.Cut(head[:n], []byte("\n"))
		if l, reason := jsonl.ParseLine(text); reason == "" {
			if e, err := l.Decode(); err == nil && e.Type == entry.TypeSession {
				return e.Key, nil
			}
		}
	}
	return "", err
}

// Surveyed is a session, and what is stored of it.
type Surveyed struct {
	Key   string
	Parts []backend.Part
	Lost  error // why some of it could not be read

	// Open opens a log or an archive. It may read only the first limit bytes. It is valid during the call of f.
	Open func(part backend.Part, limit int64) (backend.Log, error)
}

// Survey calls f for every session, from several goroutines, until one returns an error. It visits each directory once.
func (d *Directory) Survey(ctx context.Context, f func(*Surveyed) error) error {
	return d.eachStored(ctx, func(in *stored) error {
		key, err := in.key()
		if key == "" || err != nil {
			return err
		}
		s := &Surveyed{Key: key}
		s.Parts, s.Lost = in.parts()
		s.Open = func(part backend.Part, limit int64) (backend.Log, error) { return in.open(part.Name, limit) }
		return f(s)
	})
}
