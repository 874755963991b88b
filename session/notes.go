package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Writing beside the branch needs no turn: a title can be set while a model call runs.

// SetInfo changes the info of a session. Fields that are nil stay as they are.
func (s *Store) SetInfo(ctx context.Context, key string, info Info) error {
	return s.beside(ctx, key, entry.Entry{Type: entry.TypeInfo, Info: &info})
}

// SetLabel gives an entry a name; "" removes it. The error is [ErrNotFound] if no branch has the entry.
func (s *Store) SetLabel(ctx context.Context, key, id, label string) error {
	return s.beside(ctx, key, entry.Entry{Type: entry.TypeLabel, Target: id, Label: label})
}

// AddUsage counts the usage of a call that left no message: for a title, a search. model may be "".
func (s *Store) AddUsage(ctx context.Context, key, model string, usage winnow.Usage) error {
	return s.beside(ctx, key, entry.Entry{Type: entry.TypeUsage, Model: model, Usage: &usage})
}

// AddData stores data of the host beside the branch, as JSON, under a name.
func (s *Store) AddData(ctx context.Context, key, name string, data []byte) error {
	line, err := dataOf(name, data)
	if err != nil {
		return err
	}
	return s.beside(ctx, key, entry.Entry{Type: entry.TypeCustom, Name: name, Data: line})
}

// dataOf returns data of the host as it is stored.
func dataOf(name string, data []byte) (json.RawMessage, error) {
	line, err := jsonl.OneLine(data)
	if err != nil {
		err = fmt.Errorf("session: the data of %q: %w", name, err)
	}
	return line, err
}

// beside appends an entry to an existing session, whoever has its turn.
func (s *Store) beside(ctx context.Context, key string, e entry.Entry) error {
	for {
		o, err := s.besideSession(ctx, key)
		if err != nil {
			return err
		}
		if e.Type == entry.TypeLabel && e.Label != "" { // one whose id is missing can be removed: an import keeps it
			err = o.findLabelled(ctx, e.Target)
		}
		if err == nil {
			err = o.write(ctx, true, &e)
		}
		err = errors.Join(err, o.Close())
		if !errors.Is(err, ErrConflict) { // the branch moved on, or the log was replaced
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// findLabelled looks for an entry to put a label on. The header is no entry of a branch, although a branch can begin at
// it.
func (s *Session) findLabelled(ctx context.Context, id string) error {
	l, err := s.find(ctx, id)
	if err == nil && l.Kind == entry.TypeSession {
		err = fmt.Errorf("%w: entry %q of %q", ErrNotFound, id, s.key)
	}
	return err
}

// besideSession opens a session without its turn. It reads only the header and the newest line of the log, which is all
// that side entries need.
func (s *Store) besideSession(ctx context.Context, key string) (*Session, error) {
	if view, err := s.backend.Log(ctx, key, false); err != nil {
		return nil, err
	} else if err := view.Close(); err != nil {
		return nil, err
	}
	log, err := s.backend.Log(ctx, key, true)
	if err != nil {
		return nil, err
	}
	o := &Session{store: s, encoder: jsonl.Encoder{Seal: s.opts.Seal}, key: key, log: log, beside: true}
	if err = o.reloadEnd(ctx); err == nil && o.at.Size == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// reloadEnd reads only what is needed to write an entry beside the branch.
func (s *Session) reloadEnd(ctx context.Context) error {
	size, err := s.log.Size()
	if err != nil || size == 0 {
		return err
	}
	t := jsonl.NewTail(s.log, size, nil)
	if e, err := t.Header(); err == nil {
		if err := jsonl.CheckFormat(e); err != nil {
			return err
		}
	}
	last := make([]byte, 1)
	if _, err := s.log.ReadAt(last, size-1); err != nil {
		return err
	}
	newest, err := t.Before(size)
	isDamaged := last[0] != '\n' || errors.Is(err, jsonl.ErrSlow) || errors.Is(err, ErrTooLarge)
	if isDamaged || err == nil && newest.Batch[0] != newest.Batch[1] {
		return s.reload(ctx)
	}
	if err != nil {
		return err
	}
	s.at.Size, s.at.Newest, s.at.Seq = size, jsonl.WithoutText(newest), newest.Number()
	return nil
}
