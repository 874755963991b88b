package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
	"github.com/winnowgo/winnow/session/resets"
)

// Reset begins the conversation anew: the old log stays, and the session continues with an empty one. Its Info, such as
// the title, is carried over. keep is data of the host to store at the end of the old log; it may be nil.
func (s *Session) Reset(ctx context.Context, reason string, keep json.RawMessage) error {
	return s.reset(ctx, reason, keep, true)
}

// FreshStart says why [Store.Open] began the conversation anew. If it did not, Due is false.
func (s *Session) FreshStart() resets.Decision { return s.fresh }

// resetIfStale begins the conversation anew if the rule of its key says so, or if an earlier process ended in the
// middle of a reset.
func (s *Session) resetIfStale(ctx context.Context, byRule bool) error {
	if s.at.IsReset { // the process ended before it made the next log
		last, err := s.resetEntry()
		if err != nil {
			return err
		}
		s.fresh = resets.Decision{Due: true, Reason: last.Reason}
		return s.nextLog(ctx, last)
	}
	if !byRule || s.store.opts.ResetRule == nil {
		return nil
	}
	now := s.store.opts.Now()
	d := s.store.opts.ResetRule(s.key).Decide(s.at.Counts.LastTurn, now)
	if !d.Due {
		return nil
	}
	if err := s.reset(ctx, d.Reason, nil, false); err != nil {
		return err
	}
	s.fresh = d
	return nil
}

// reset ends the log and begins the next one.
func (s *Session) reset(ctx context.Context, reason string, keep json.RawMessage, keepsTitle bool) error {
	defer s.lockBranch()()
	if keep != nil {
		var err error
		if keep, err = jsonl.OneLine(keep); err != nil {
			return fmt.Errorf("session: what a reset keeps: %w", err)
		}
	}
	last := &entry.Entry{Type: entry.TypeReset, Reason: reason, Data: keep}
	if keepsTitle {
		last.Info = &Info{Title: s.at.Info.Title}
	}
	if err := s.write(ctx, true, last); err != nil {
		return err
	}
	if err := s.nextLog(ctx, last); err != nil {
		return s.kill(errors.Join(ErrClosed, err))
	}
	return nil
}

// resetEntry returns the entry that the log ends in.
func (s *Session) resetEntry() (*entry.Entry, error) {
	t := jsonl.NewTail(s.log, s.at.Size, s.store.opts.Seal)
	l, err := t.LineAt(s.at.Leaf.Offset)
	if errors.Is(err, jsonl.ErrSlow) { // the log is damaged around it
		return &entry.Entry{Type: entry.TypeReset}, nil
	}
	if err != nil {
		return nil, err
	}
	return t.Entry(l)
}

// nextLog begins the log that follows the one ending in last, which is a reset.
func (s *Session) nextLog(ctx context.Context, last *entry.Entry) error {
	s.forget()
	old, oldLog := s.at, s.log
	s.at = jsonl.Loaded{}
	lines, err := s.encode(carriedEntries(old.Info, last))
	if err != nil {
		return err
	}
	log, err := s.turn.Next(ctx, lines)
	if err != nil {
		s.at = old
		return err
	}
	late, err := s.writtenLate(ctx, old)
	s.log = log
	err = errors.Join(err, oldLog.Close(), s.reload(ctx))
	if err != nil || late == nil {
		return err
	}
	return s.write(ctx, true, carriedEntries(*late, last)...)
}

// carriedEntries returns the entries that carry the Info of a session over to its next log: whether it is pinned or
// archived, and the title if the reset keeps it.
func carriedEntries(info Info, last *entry.Entry) []*entry.Entry {
	if last.Info == nil {
		info.Title = nil
	}
	if info == (Info{}) {
		return nil
	}
	return []*entry.Entry{{Type: entry.TypeInfo, Info: &info}}
}

// writtenLate returns what others wrote beside the branch between the end of the old log and the beginning of the next
// one, or nil. Once the next log exists, nobody can append to the old one.
func (s *Session) writtenLate(ctx context.Context, old jsonl.Loaded) (*Info, error) {
	size, err := s.log.Size()
	if err != nil || size == old.Size {
		return nil, err
	}
	o := &Session{store: s.store, encoder: jsonl.Encoder{Seal: s.encoder.Seal}, key: s.key, log: s.log, at: old}
	switch err := o.takeIn(ctx, size); {
	case errors.Is(err, ErrConflict): // somebody wrote to the branch after its end, without the turn
		return nil, nil
	case err != nil || o.at.Info == old.Info:
		return nil, err
	}
	return &o.at.Info, nil
}
