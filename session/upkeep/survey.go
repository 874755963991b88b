package upkeep

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/dir"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Plans and erasures look at every session of a store. In a large store this takes most of their time, so several
// goroutines share the work.

// survey visits the sessions of a backend.
func survey(ctx context.Context, m backend.Backend, f func(*dir.Surveyed) error) error {
	if d, ok := m.(*dir.Directory); ok {
		return d.Survey(ctx, f)
	}
	keys, err := m.Keys(ctx)
	if err != nil {
		return err
	}
	goroutines := 2 * runtime.GOMAXPROCS(0) // some of them wait for the storage
	return dir.Each(ctx, goroutines, len(keys), func(i int) error {
		s := surveyOne(ctx, m, keys[i])
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

// relatives holds which sessions were forked from which.
type relatives struct {
	forks map[string][]string // by the session that they were forked from
	from  map[string][]string // by fork
	lost  []string            // sessions with an unreadable header
}

// readRelatives reads the headers of all logs.
func readRelatives(ctx context.Context, m backend.Backend) (*relatives, error) {
	r := &relatives{forks: map[string][]string{}, from: map[string][]string{}}
	var mu sync.Mutex
	err := survey(ctx, m, func(s *dir.Surveyed) error {
		origins, lost := originsOf(ctx, m, s)
		mu.Lock()
		defer mu.Unlock()
		for _, from := range origins {
			if from != "" && from != s.Key {
				r.forks[from], r.from[s.Key] = append(r.forks[from], s.Key), append(r.from[s.Key], from)
			}
		}
		if lost == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.lost = append(r.lost, s.Key) // a damaged session concerns no other
		return nil
	})
	slices.Sort(r.lost)
	return r, err
}

// originsOf returns the sessions that the logs of a session were forked from. Somebody else may erase in the session
// at the same time, which changes the IDs of its logs: then they are listed again.
func originsOf(ctx context.Context, m backend.Backend, s *dir.Surveyed) (origins []string, lost error) {
	for {
		lost, origins = s.Lost, nil
		for _, part := range s.Parts {
			if part.Kind != backend.PartSide {
				from, err := originOf(s, part)
				lost, origins = errors.Join(lost, err), append(origins, from)
			}
		}
		if !errors.Is(lost, session.ErrNotFound) || ctx.Err() != nil {
			return origins, errors.Join(lost, ctx.Err())
		}
		now := surveyOne(ctx, m, s.Key)
		isSame := func(a, b backend.Part) bool { return a.Log == b.Log && a.Name == b.Name }
		if slices.EqualFunc(now.Parts, s.Parts, isSame) {
			return origins, lost // it is listed, and cannot be opened
		}
		s = now
	}
}

// originOf returns the session that a log was forked from, "" if it was not.
func originOf(s *dir.Surveyed, part backend.Part) (string, error) {
	log, err := s.Open(part, dir.LongestHeader)
	if err != nil {
		return "", err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return "", err
	}
	if size == 0 {
		return "", nil
	}
	t := jsonl.NewTail(log, size, nil)
	t.W.Step = jsonl.HeadStep
	text, next, ended, err := t.W.LineAt(0)
	switch {
	case errors.Is(err, session.ErrDeleted): // or rewritten, since it was opened
		return "", fmt.Errorf("%w: log %q of %q: %w", session.ErrNotFound, part.Log, s.Key, err)
	case err != nil: // it may be a fork
		return "", err
	case !ended:
		return "", nil // damaged
	}
	header, err := jsonl.ParseAt(text, 0, next)
	if err != nil {
		return "", nil // damaged
	}
	e, err := header.Decode()
	if err != nil || e.From == nil {
		return "", nil
	}
	return e.From.Session, nil
}

// of returns the other sessions that share entries with a session.
func (r *relatives) of(key string) []string {
	all := []string{key}
	seen := map[string]bool{key: true}
	for i := 0; i < len(all); i++ {
		for _, other := range slices.Concat(r.forks[all[i]], r.from[all[i]]) {
			if !seen[other] {
				seen[other] = true
				all = append(all, other)
			}
		}
	}
	return all[1:]
}

// Report is what [Verify] found.
type Report struct {
	Log     string // the log that was read, by the backend's name
	Bytes   int64
	Entries int
	Damage  []entry.Damage // in the order of the log
}

// Verify reads the whole log of a session and lists all damage: lines that do not count, incomplete batches, entries
// whose parent is missing. It changes nothing and waits for nobody.
func Verify(ctx context.Context, s *session.Store, key string) (*Report, error) {
	log, err := s.Backend().Log(ctx, key, false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	t, err := jsonl.NewTree(ctx, log, size, s.Options().Seal, nil)
	if err != nil {
		return nil, fmt.Errorf("session: %q: %w", key, err)
	}
	r := &Report{Log: log.ID(), Bytes: size, Entries: len(t.Lines), Damage: append(t.Scan.Damage, t.Lost...)}
	if t.Header < 0 && size > 0 {
		r.Damage = append(r.Damage, entry.Damage{Reason: "there is no header"})
	}
	for i := range t.Lines {
		n := &t.Lines[i]
		if !n.IsPath() {
			continue
		}
		if _, whole := t.ParentOf(i); !whole {
			lost := entry.Damage{Offset: n.Offset, ID: n.ID, Reason: "its parent " + n.Parent + " is missing"}
			r.Damage = append(r.Damage, lost)
		}
	}
	return r, nil
}
