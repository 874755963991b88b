package dir

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Surveyed is a session, and what is stored of it.
type Surveyed struct {
	Key   string
	Parts []backend.Part
	Lost  error // why some of it could not be read

	// open opens a log or an archive. It may read only the first limit bytes. It is valid during the call of f.
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

// survey implements [surveyor].
func (d *Directory) survey(ctx context.Context, f func(*Surveyed) error) error {
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
