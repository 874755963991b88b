package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// An eraser looks for a log while others may rewrite it, which gives it another ID, or delete it.

// find returns the log to erase in and, by id, the fingerprints by which copies of the entries are recognized. Another
// eraser may rewrite the log while it is read: then it is looked for again.
func (e *eraser) find(ctx context.Context, key, log string, ids []string) (string, map[string]string, error) {
	var tried backend.Part
	for {
		part, found, err := e.read(ctx, key, log, ids)
		if !errors.Is(err, session.ErrDeleted) || part.Log == tried.Log && part.Name == tried.Name {
			return part.Log, found, err
		}
		tried = part
	}
}

// read is find for the log as it is listed now.
func (e *eraser) read(ctx context.Context, key, log string, ids []string) (backend.Part, map[string]string, error) {
	part, text, err := e.open(ctx, key, log)
	if err != nil {
		return part, nil, err
	}
	defer text.Close()
	v, err := newErasure(ctx, jsonl.WithSealer(text, e.seal))
	if err == nil {
		err = v.byID(ids)
	}
	if err != nil {
		return part, nil, fmt.Errorf("session: %q: %w", key, err)
	}
	return part, v.fingerprints(), nil
}

// holder returns the log of a session that has the entries now whose fingerprints are in found. An entry that somebody
// else has erased counts too, because its content is gone. Another log can have other entries with the same ids: the
// newest one does after a reset. If another eraser gives a log another ID while they are read, all are listed again.
func (e *eraser) holder(ctx context.Context, key string, ids []string, found map[string]string) (string, error) {
	parts, err := e.Parts(ctx, key)
	for err == nil {
		log, hasThem, lost := e.holderAmong(ctx, key, parts, ids, found)
		if hasThem {
			return log, nil
		}
		before := parts
		if parts, err = e.Parts(ctx, key); err == nil && sameLogs(before, parts) {
			return log, lost
		}
	}
	return "", err
}

// holderAmong is holder for the logs among parts. hasThem is false if all of the entries were erased, or if the error
// says why there is no log. A log that cannot be read stands in the way only if no other one has the entries.
func (e *eraser) holderAmong(
	ctx context.Context, key string, parts []backend.Part, ids []string, found map[string]string,
) (log string, hasThem bool, lost error) {
	for _, part := range parts {
		if part.Kind == backend.PartSide {
			continue
		}
		at, now, err := e.find(ctx, key, part.Log, ids)
		switch {
		case errors.Is(err, session.ErrNotFound):
		case err != nil:
			lost = errors.Join(lost, err)
		case len(now) == 0:
			log = at
		case isWithin(now, found):
			return at, true, nil
		}
	}
	if lost == nil && log == "" {
		lost = fmt.Errorf("%w: the entries of %q are gone", session.ErrNotFound, key)
	}
	return log, false, lost
}

// isWithin reports whether of has all that part has.
func isWithin(part, of map[string]string) bool {
	for id, sum := range part {
		if of[id] != sum {
			return false
		}
	}
	return true
}

// open opens a log of a session to read, the newest one if log is "". Another eraser may give that one another ID at
// the same time: then it is looked for again. The error is ErrNotFound if the log is not listed.
func (e *eraser) open(ctx context.Context, key, log string) (backend.Part, backend.Log, error) {
	var tried backend.Part
	for {
		_, part, err := e.part(ctx, key, log)
		if err != nil {
			return backend.Part{}, nil, err
		}
		text, err := e.OpenPart(ctx, key, part)
		if !errors.Is(err, session.ErrNotFound) {
			return part, text, err
		}
		if part.Log == tried.Log && part.Name == tried.Name {
			return backend.Part{}, nil, unopened(key, part.Log)
		}
		tried = part
	}
}

// part returns the parts of a session and, among them, the given log, or the newest log if log is "".
func (e *eraser) part(ctx context.Context, key, log string) ([]backend.Part, backend.Part, error) {
	parts, err := e.Parts(ctx, key)
	if err != nil {
		return nil, backend.Part{}, err
	}
	at := slices.IndexFunc(parts, func(p backend.Part) bool {
		return p.Kind != backend.PartSide && (p.Log == log || log == "" && p.Open)
	})
	if at < 0 {
		return nil, backend.Part{}, fmt.Errorf("%w: log %q of %q", session.ErrNotFound, log, key)
	}
	return parts, parts[at], nil
}

// unopened returns the error for a log that is listed but cannot be opened. It is not ErrNotFound: a host would take
// that for a log that is gone, with all its content.
func unopened(key, log string) error {
	return fmt.Errorf("session: log %q of %q is listed but cannot be opened", log, key)
}
