package session

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Plans and erasures look at every session of a store. In a large store this takes most of their time, so several
// goroutines share the work.

// surveyed is a session, and what is stored of it.
type surveyed struct {
	key   string
	parts []Part
	lost  error // why some of it could not be read

	// open opens a log or an archive. It may read only the first limit bytes. It is valid during the call of f.
	open func(part Part, limit int64) (Log, error)
}

// surveyor is a backend that visits all its sessions in one pass.
type surveyor interface {
	// survey calls f for every session, from several goroutines, until one returns an error.
	survey(ctx context.Context, f func(*surveyed) error) error
}

// survey visits the sessions of a backend.
func survey(ctx context.Context, m Backend, f func(*surveyed) error) error {
	if s, ok := m.(surveyor); ok {
		return s.survey(ctx, f)
	}
	keys, err := m.Keys(ctx)
	if err != nil {
		return err
	}
	return eachKey(ctx, keys, func(key string) error {
		s := surveyOne(ctx, m, key)
		if s.lost != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(s.lost, errors.ErrUnsupported) {
			return s.lost
		}
		return f(s)
	})
}

// surveyOne lists what is stored of a session now. It has no parts if it was deleted.
func surveyOne(ctx context.Context, m Backend, key string) *surveyed {
	s := &surveyed{key: key, open: func(part Part, _ int64) (Log, error) { return m.OpenPart(ctx, key, part) }}
	s.parts, s.lost = m.Parts(ctx, key)
	return s
}

// eachKey calls f for each key, from several goroutines, until one fails.
func eachKey(ctx context.Context, keys []string, f func(key string) error) error {
	goroutines := 2 * runtime.GOMAXPROCS(0) // some of them wait for the storage
	return each(ctx, goroutines, len(keys), func(i int) error { return f(keys[i]) })
}

// each calls f for 0 to n-1, from several goroutines, until one fails.
func each(ctx context.Context, goroutines, n int, f func(i int) error) error {
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
