package session

import (
	"context"
	"errors"
	"slices"
)

// relatives says which sessions began as a fork of which.
type relatives struct {
	logs  map[string][]string // of a session, archived ones too
	forks map[string][]string // by the session that they were forked from
	from  map[string][]string // by fork
}

// logPlace is a log of a session.
type logPlace struct{ key, log string }

// relatives reads the headers of all logs.
func (s *Store) relatives(ctx context.Context, m Maintainer) (*relatives, error) {
	r := &relatives{logs: map[string][]string{}, forks: map[string][]string{}, from: map[string][]string{}}
	keys, err := m.Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		parts, err := m.Parts(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if part.Kind == PartSide {
				continue
			}
			r.logs[key] = append(r.logs[key], part.Log)
			from, err := originOf(ctx, m, key, part)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			if from != "" && from != key {
				r.forks[from] = append(r.forks[from], key)
				r.from[key] = append(r.from[key], from)
			}
		}
	}
	return r, nil
}

// originOf returns the session that a log began as a fork of, "" if it did not.
func originOf(ctx context.Context, m Maintainer, key string, part Part) (string, error) {
	log, err := m.OpenPart(ctx, key, part)
	if err != nil {
		return "", err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil {
		return "", err
	}
	t := newTail(log, size)
	t.ahead.step = headStep
	header, err := t.lineAt(0)
	if err != nil {
		return "", nil // damaged, or empty
	}
	e, err := header.decode()
	if err != nil || e.From == nil {
		return "", nil
	}
	return e.From.Session, nil
}

// of returns the logs of a session, and of all that it shares entries with.
func (r *relatives) of(key string) (places []logPlace) {
	seen := map[string]bool{key: true}
	for next := []string{key}; len(next) > 0; next = next[1:] {
		for _, other := range slices.Concat(r.forks[next[0]], r.from[next[0]]) {
			if !seen[other] {
				seen[other] = true
				next = append(next, other)
			}
		}
		for _, log := range r.logs[next[0]] {
			places = append(places, logPlace{next[0], log})
		}
	}
	if len(seen) == 1 {
		return nil // its other logs have other entries
	}
	return places
}

// forksOf returns the sessions that began as forks of key.
func (r *relatives) forksOf(key string) []string {
	return slices.Compact(slices.Sorted(slices.Values(r.forks[key])))
}
