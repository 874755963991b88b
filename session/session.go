package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
	"github.com/winnowgo/winnow/session/resets"
)

// Session is an open session. Its holder has the turn from [Store.Open] to Close. It is safe for concurrent use;
// concurrent writes are stored one after another.
//
// Host code that runs within a request (a Summarizer, BeforeCompact, Rules) may call Append, Inject, AddData and View.
// Methods that rewrite the branch or make another request (Edit, Rewind, Reset, Truncate, Prepare) wait until the
// request is made.
//
// After [ErrConflict], [ErrDeleted], [ErrSync] and [ErrClosed] only Close is useful. Any other error leaves the session
// as it was.
type Session struct {
	store *Store
	key   string
	turn  backend.Turn
	life  context.Context // ends when the session is closed
	end   context.CancelFunc

	branch  sync.Mutex // held while a request is made or the branch rewritten; taken before mu
	mu      sync.Mutex // protects the fields below, except journal, which branch protects
	log     backend.Log
	at      jsonl.Loaded
	encoder jsonl.Encoder
	offsets []int64         // of the entries that were written last
	manager *winnow.Manager // nil: made anew on the next use
	journal [][]byte        // unwritten deltas of the manager
	flushes atomic.Int64    // unwritten flushes of the manager, which may flush while mu is held
	model   string          // the model that answers
	dead    error
	fresh   resets.Decision
	beside  bool // without the turn: may only write beside the branch
}

// User returns a message of a person.
func User(text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}}
}

// Result returns the result of a tool call.
func Result(callID, tool, text string) winnow.Message {
	return winnow.Message{Role: winnow.RoleTool, ToolCallID: callID, ToolName: tool, Parts: []winnow.Part{{Text: text}}}
}

// Key returns the key of the session.
func (s *Session) Key() string { return s.key }

// View returns what the session holds now, and nothing once it is closed. Do not modify the elements of its lists.
func (s *Session) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return viewOf(&s.at, s.key)
}

// Close ends the turn. Everything acknowledged is stored already. Afterwards the session is empty: View, Leaf and
// Interrupted no longer tell what is stored. A Prepare that waits for a summary ends with [ErrClosed]; the answer to a
// call that [Session.Do] has begun is not stored.
func (s *Session) Close() error {
	s.mu.Lock()
	s.sumUp()
	m, log, turn := s.manager, s.log, s.turn
	s.manager, s.log, s.turn, s.at = nil, nil, nil, jsonl.Loaded{}
	if s.dead == nil {
		s.dead = ErrClosed
	}
	s.mu.Unlock() // what the manager does in the background may append
	if s.end != nil {
		s.end()
		s.store.mu.Lock()
		delete(s.store.open, s)
		s.store.mu.Unlock()
	}
	if m != nil {
		m.Close()
	}
	var failed []error
	if log != nil {
		failed = append(failed, log.Close())
	}
	if turn != nil {
		failed = append(failed, turn.Release())
	}
	return errors.Join(failed...)
}

// reload reads the log again.
func (s *Session) reload(ctx context.Context) error {
	l, err := jsonl.Load(ctx, s.log, s.store.opts.Seal, s.store.opts.Codec)
	if err == nil {
		err = l.CheckHeader(s.key)
	}
	if err != nil {
		return err
	}
	s.at = *l
	return nil
}

// UseModel names the model of the answers appended from now on, so that usage is counted by model. Without it, that is
// the Model of the options that [Options].Manager returns.
func (s *Session) UseModel(model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = strings.ToValidUTF8(model, "\ufffd")
}

// Append adds messages to the conversation: all of them or none. They are stored when it returns. The messages and what
// they point to must not be changed afterwards. The error is a [*winnow.InvalidMessageError] for a message whose role
// or kind is none, for one that holds nothing (but a result, and an answer with Usage or StopReason, may be empty), and
// for a result of a call that the log does not have.
func (s *Session) Append(ctx context.Context, messages ...winnow.Message) error {
	if len(messages) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := s.messageEntries(ctx, messages)
	if err != nil {
		return err
	}
	if err := s.write(ctx, true, entries...); err != nil {
		return err
	}
	for i, e := range entries {
		s.extend(e, s.offsets[i], *e.Message)
	}
	return nil
}

// extend adds the message of an entry, which was written at an offset, to the history.
func (s *Session) extend(e *entry.Entry, at int64, m winnow.Message) {
	s.at.History = append(s.at.History, m)
	s.at.Places = append(s.at.Places, jsonl.Place{Ref: entry.Ref{ID: e.ID, At: at}})
}

// lockBranch keeps others from making requests and from rewriting the branch.
func (s *Session) lockBranch() (unlock func()) {
	s.branch.Lock()
	s.mu.Lock()
	return func() {
		s.mu.Unlock()
		s.branch.Unlock()
	}
}

// messageEntries returns the entries of messages, and the messages as this session continues with them.
func (s *Session) messageEntries(ctx context.Context, messages []winnow.Message) ([]*entry.Entry, error) {
	redacted, bare := make([]winnow.Message, len(messages)), make([]winnow.Message, len(messages))
	for i := range messages {
		var err error
		if redacted[i], err = s.redact(messages[i]); err != nil {
			return nil, err
		}
		if bare[i], err = jsonl.Canonical(redacted[i]); err != nil {
			return nil, err
		}
	}
	if err := s.mayBeAppended(ctx, redacted); err != nil {
		return nil, err
	}
	sources, err := s.encodeSources(redacted, bare)
	if err != nil {
		return nil, err
	}
	entries := make([]*entry.Entry, len(messages))
	for i := range bare {
		entries[i] = &entry.Entry{Type: entry.TypeMessage, Message: &bare[i]}
		if bare[i].Role == winnow.RoleAssistant {
			entries[i].Model = s.model
		}
		if sources != nil && sources[i] != nil {
			entries[i].Source = &entry.Source{Codec: s.store.opts.Codec.Name(), Data: sources[i]}
		}
	}
	return entries, nil
}

// encodeSources returns the sources that the codec stores for messages. It sets in bare, the same messages without
// sources, the sources as the log would return them, so that a restart never changes what is sent.
func (s *Session) encodeSources(messages, bare []winnow.Message) ([]json.RawMessage, error) {
	codec := s.store.opts.Codec
	if codec == nil {
		return nil, nil
	}
	sources, err := codec.Encode(messages)
	if err != nil {
		return nil, fmt.Errorf("session: the codec %s: %w", codec.Name(), err)
	}
	if len(sources) != len(messages) {
		return nil, fmt.Errorf("session: %s gave %d sources for %d messages", codec.Name(), len(sources), len(messages))
	}
	for i := range sources {
		if sources[i] == nil {
			continue
		}
		if sources[i], err = jsonl.OneLine(sources[i]); err != nil {
			return nil, fmt.Errorf("session: the codec %s: %w", codec.Name(), err)
		}
	}
	if err := codec.Decode(bare, sources); err != nil {
		return nil, fmt.Errorf("session: the codec %s cannot read what it wrote: %w", codec.Name(), err)
	}
	return sources, nil
}

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
	lines, err := s.encode(s.withHeader(carriedEntries(old.Info, last)))
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
