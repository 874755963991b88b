package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// The log also holds the manager's state: it knows what was sent, so that the same bytes are sent again.

// fullEvery: a full state is written when the deltas since the last one are fullEvery times as long as it was.
const fullEvery = 2

// leastDeltas is how long the deltas may always get, in bytes: the state of a short conversation is small.
const leastDeltas = 16 << 10

// ready returns the manager in the state that the log holds. The lock is held.
func (s *Session) ready() (*winnow.Manager, error) {
	if s.dead != nil {
		return nil, s.dead
	}
	if s.manager != nil {
		return s.manager, nil
	}
	window, opts := s.store.opts.Manager(s.key)
	var own winnow.Options
	if opts != nil {
		own = *opts
	}
	if own.Logger == nil {
		own.Logger = s.store.opts.Logger
	}
	own.Journal = func(delta []byte) error { // the manager calls it, so the lock is held
		s.journal = append(s.journal, delta)
		return nil
	}
	if s.model == "" {
		s.model = strings.ToValidUTF8(own.Model, "\ufffd")
	}
	s.countFlushes(&own)
	m, err := winnow.New(window, &own)
	if err != nil {
		return nil, err
	}
	s.restore(m)
	s.manager, s.journal = m, nil
	return m, nil
}

// countFlushes wraps BeforeCompact in opts to count flushes.
func (s *Session) countFlushes(opts *winnow.Options) {
	if opts.Compact == nil || opts.Compact.BeforeCompact == nil {
		return
	}
	compact := *opts.Compact
	before := compact.BeforeCompact
	compact.BeforeCompact = func(ctx context.Context, history []winnow.Message) error {
		s.flushes.Add(1)
		return before(ctx, history)
	}
	opts.Compact = &compact
}

// flushEntries returns the entries for the uncounted flushes.
func (s *Session) flushEntries() []*entry.Entry {
	entries := make([]*entry.Entry, s.flushes.Swap(0))
	for i := range entries {
		entries[i] = &entry.Entry{Type: entry.TypeFlush}
	}
	return entries
}

// restore gives m the state that the log holds. An unreadable state costs prompt cache, not content.
func (s *Session) restore(m *winnow.Manager) {
	if len(s.at.State) == 0 && len(s.at.Deltas) == 0 {
		return
	}
	err := m.Restore(s.at.State, s.at.Deltas...)
	if err == nil {
		return
	}
	s.store.opts.Logger.Warn("session: the manager's state cannot be read", "key", s.key, "error", err)
	if len(s.at.State) == 0 || m.Restore(s.at.State) != nil {
		s.at.State = nil
	}
	s.at.Deltas, s.at.NeedsFull = nil, true
}

// forget drops the manager, which is ahead of the log. The next one begins where the log is.
func (s *Session) forget() {
	if s.manager != nil {
		s.manager.Close()
	}
	s.manager, s.journal = nil, nil
}

// record stores the effects of a request before it is sent: the manager's state, a compaction, results that were cut
// for good. Compactions and edits are durable at once, the rest with the next message.
func (s *Session) record(ctx context.Context, r *winnow.Request) error {
	entries := s.truncations(r)
	if r.Compaction != nil {
		entries = append(entries, s.compactionEntry(r))
	}
	changesHistory := len(entries) > 0
	states, err := s.stateEntries(r.Compaction != nil)
	if err != nil {
		s.forget()
		return err
	}
	entries = append(entries, states...)
	flushes := s.flushEntries()
	entries = append(entries, flushes...)
	if window := s.manager.Window(); len(entries) > 0 && window != s.at.Counts.Window {
		entries = append(entries, &entry.Entry{Type: entry.TypeUsage, Window: window})
	}
	if len(entries) == 0 {
		return nil
	}
	if err := s.write(ctx, changesHistory, entries...); err != nil {
		s.flushes.Add(int64(len(flushes)))
		s.forget()
		return err
	}
	for _, e := range states {
		s.takeState(e)
	}
	s.journal = nil
	if changesHistory {
		if err := s.reload(ctx); err != nil {
			return s.kill(errors.Join(ErrClosed, err))
		}
	}
	return nil
}

// recordFailure stores what the manager learned from a request that it could not make: what a provider refused, which
// summaries failed. There is no delta, because nothing was sent. It returns cause, unless more went wrong.
func (s *Session) recordFailure(ctx context.Context, cause error) error {
	if s.dead != nil || s.manager == nil || s.at.Size == 0 {
		return cause
	}
	e, err := s.fullState()
	if err == nil && len(s.at.Deltas) == 0 && bytes.Equal(e.Full.State, s.at.State) {
		return cause // it is stored
	}
	if err == nil {
		err = s.write(context.WithoutCancel(ctx), false, e)
	}
	if err != nil {
		s.forget()
		return errors.Join(cause, err)
	}
	s.takeState(e)
	s.journal = nil
	return cause
}

// stateEntries returns the entries for the manager's unwritten deltas.
func (s *Session) stateEntries(full bool) ([]*entry.Entry, error) {
	size := 0
	for _, delta := range slices.Concat(s.at.Deltas, s.journal) {
		size += len(delta)
	}
	// The state grows with the conversation. Writing all of it at each compaction of a long one would outweigh the log.
	full = full && fullEvery*size >= len(s.at.State)
	if full || s.at.NeedsFull || size > max(leastDeltas, fullEvery*len(s.at.State)) {
		e, err := s.fullState()
		return []*entry.Entry{e}, err
	}
	var entries []*entry.Entry
	for _, delta := range s.journal {
		entries = append(entries, &entry.Entry{Type: entry.TypeState, Delta: delta})
	}
	return entries, nil
}

// fullState returns a full state of the manager. What side entries say is added when it is encoded: others may write
// some until then.
func (s *Session) fullState() (*entry.Entry, error) {
	state, err := s.manager.Snapshot()
	if err != nil {
		return nil, err
	}
	return &entry.Entry{Type: entry.TypeState, Full: &entry.FullState{State: state}}, nil
}

// takeState makes a written state the one that the next manager begins with.
func (s *Session) takeState(e *entry.Entry) {
	if e.Full == nil {
		s.at.Deltas = append(s.at.Deltas, e.Delta)
		return
	}
	s.at.State = e.Full.State
	s.at.Deltas, s.at.NeedsFull = nil, false
}

// mayAppend reports whether the session has a log and may write to its branch. The lock is held.
func (s *Session) mayAppend() bool { return s.dead == nil && !s.beside && s.log != nil }

// An entry with many labels is longer: it is written only after this many bytes for each label.
const statusEveryLabel = 512

// sumUp writes what nobody waits for when a session is closed: unwritten flushes and, if the last one is far back, an
// entry with totals. If that fails, the next status only takes a little longer. The lock is held.
func (s *Session) sumUp() {
	if !s.mayAppend() || s.at.IsReset || s.at.Leaf.ID == "" {
		return
	}
	entries := s.flushEntries()
	isWhole := len(s.at.Damage) == 0 // a reader that begins here would miss the damage
	if isWhole && s.at.Size-s.at.Summed >= int64(max(jsonl.StatusEvery, statusEveryLabel*len(s.at.Labels))) {
		entries = append(entries, &entry.Entry{Type: entry.TypeStatus, Full: &entry.FullState{}})
	}
	if len(entries) > 0 {
		_ = s.write(context.Background(), false, entries...)
	}
}

// compactionEntry returns the entry for a compaction that r made. It refers to the messages that stay instead of
// copying them.
func (s *Session) compactionEntry(r *winnow.Request) *entry.Entry {
	c := r.Compaction
	e := &entry.Entry{
		Type: entry.TypeCompaction, Summary: c.Summary, TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
		Degraded: r.Degraded != "", Repaired: c.Repaired, Calls: r.SummaryCalls,
	}
	if !utf8.ValidString(c.Summary) {
		m := jsonl.SummaryMessage(e)
		e.Message = &m
	}
	removed := map[int]bool{}
	summarized := len(s.at.Places) // the first message that the summary stands for
	for _, edit := range r.Edits {
		if edit.After == 0 && edit.Before > 0 {
			removed[edit.Index] = true
			if edit.Op == winnow.OpCompact {
				summarized = min(summarized, edit.Index)
			}
		}
	}
	// The messages that an earlier compaction kept lie far before the rest. If one of them were the first kept message,
	// everything in between would come back.
	first, front := max(c.FirstKept, s.at.Prefix), 0
	for i := range min(first, len(s.at.Places)) {
		if p := s.at.Places[i]; !p.IsSummary && !removed[i] {
			e.Keep = append(e.Keep, p.Ref)
		}
		if i < summarized {
			front = len(e.Keep)
		}
	}
	e.Front = &front
	if first < len(s.at.Places) {
		e.FirstKept = &entry.Ref{ID: s.at.Places[first].Ref.ID, At: s.at.Places[first].Ref.At}
	}
	return e
}
