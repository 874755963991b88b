package session

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/winnowgo/winnow"
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
func (s *Session) flushEntries() []*Entry {
	entries := make([]*Entry, s.flushes.Swap(0))
	for i := range entries {
		entries[i] = &Entry{Type: TypeFlush}
	}
	return entries
}

// restore gives m the state that the log holds. An unreadable state costs prompt cache, not content.
func (s *Session) restore(m *winnow.Manager) {
	if len(s.at.state) == 0 && len(s.at.deltas) == 0 {
		return
	}
	err := m.Restore(s.at.state, s.at.deltas...)
	if err == nil {
		return
	}
	s.store.opts.Logger.Warn("session: the manager's state cannot be read", "key", s.key, "error", err)
	if len(s.at.state) == 0 || m.Restore(s.at.state) != nil {
		s.at.state = nil
	}
	s.at.deltas, s.at.stateSize, s.at.deltasSize, s.at.needsFull = nil, len(s.at.state), 0, true
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
	if window := s.manager.Window(); len(entries) > 0 && window != s.at.counts.Window {
		entries = append(entries, &Entry{Type: TypeUsage, Window: window})
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
	if s.dead != nil || s.manager == nil || s.at.size == 0 {
		return cause
	}
	e, err := s.fullState()
	if err == nil && bytes.Equal(e.Full.State, s.storedState()) {
		return cause
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

// storedState returns the state of a manager that begins where the log ends, nil if that is unknown.
func (s *Session) storedState() []byte {
	window, opts := s.store.opts.Manager(s.key)
	m, err := winnow.New(window, opts)
	if err != nil {
		return nil
	}
	defer m.Close()
	if len(s.at.state)+len(s.at.deltas) > 0 {
		if err := m.Restore(s.at.state, s.at.deltas...); err != nil {
			return nil
		}
	}
	state, err := m.Snapshot()
	if err != nil {
		return nil
	}
	return rawJSON(state)
}

// stateEntries returns the entries for the manager's unwritten deltas.
func (s *Session) stateEntries(full bool) ([]*Entry, error) {
	size := s.at.deltasSize
	for _, delta := range s.journal {
		size += len(delta)
	}
	// The state grows with the conversation. Writing all of it at each compaction of a long one would outweigh the log.
	full = full && fullEvery*size >= s.at.stateSize
	if full || s.at.needsFull || size > max(leastDeltas, fullEvery*s.at.stateSize) {
		e, err := s.fullState()
		return []*Entry{e}, err
	}
	var entries []*Entry
	for _, delta := range s.journal {
		entries = append(entries, &Entry{Type: TypeState, Delta: rawJSON(delta)})
	}
	return entries, nil
}

// fullState returns a full state of the manager. What side entries say is added when it is encoded: others may write
// some until then.
func (s *Session) fullState() (*Entry, error) {
	state, err := s.manager.Snapshot()
	if err != nil {
		return nil, err
	}
	return &Entry{Type: TypeState, Full: &FullState{State: rawJSON(state)}}, nil
}

// takeState makes a written state the one that the next manager begins with.
func (s *Session) takeState(e *Entry) {
	if e.Full == nil {
		delta, _ := bytesOfJSON(e.Delta) // rawJSON made it
		s.at.deltas = append(s.at.deltas, delta)
		s.at.deltasSize += len(delta)
		return
	}
	s.at.state, _ = bytesOfJSON(e.Full.State)
	s.at.deltas, s.at.stateSize, s.at.deltasSize, s.at.needsFull = nil, len(s.at.state), 0, false
}
