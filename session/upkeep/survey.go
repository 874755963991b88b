package upkeep

import (
	"context"
	"errors"
	"runtime"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/dir"
)

// Plans and erasures look at every session of a store. In a large store this takes most of their time, so several
// goroutines share the work.

// surveyor is a backend that visits all its sessions in one pass.
type surveyor interface {
	// survey calls f for every session, from several goroutines, until one returns an error.
	survey(ctx context.Context, f func(*dir.Surveyed) error) error
}

// survey visits the sessions of a backend.
func survey(ctx context.Context, m backend.Backend, f func(*dir.Surveyed) error) error {
	if s, ok := m.(surveyor); ok {
		return s.survey(ctx, f)
	}
	keys, err := m.Keys(ctx)
	if err != nil {
		return err
	}
	return eachKey(ctx, keys, func(key string) error {
		s := surveyOne(ctx, m, key)
		if s.Lost != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(s.Lost, errors.ErrUnsupported) {
			return s.Lost
		}
		return f(s)
	})
}

// surveyOne lists what is stored of a session now. It has no parts if it was deleted.
func surveyOne(ctx context.Context, m backend.Backend, key string) *dir.Surveyed {
	s := atKey(ctx, m, key)
	s.Parts, s.Lost = m.Parts(ctx, key)
	return s
}

// atKey returns a session whose parts are not listed yet.
func atKey(ctx context.Context, m backend.Backend, key string) *dir.Surveyed {
	open := func(part backend.Part, _ int64) (backend.Log, error) { return m.OpenPart(ctx, key, part) }
	return &dir.Surveyed{Key: key, Open: open}
}

// eachKey calls f for each key, from several goroutines, until one fails.
func eachKey(ctx context.Context, keys []string, f func(key string) error) error {
	goroutines := 2 * runtime.GOMAXPROCS(0) // some of them wait for the storage
	return dir.Each(ctx, goroutines, len(keys), func(i int) error { return f(keys[i]) })
}
