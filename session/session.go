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
)

// Session is a session whose turn one has, from [Store.Open] to Close. It is safe for concurrent use; what is written
// at the same time gets an order.
//
// Code of the host that runs within a request (a Summarizer, BeforeCompact, Rules) may call Append, Inject, Note and
// View. What rewrites the branch or makes another request (Edit, Rewind, Reset, Truncate, Prepare) waits until it has
// ended.
//
// After [ErrConflict], [ErrDeleted], [ErrSync] and [ErrClosed] it is good for nothing but Close. After any other error
// it is as it was before.
type Session struct {
	store *Store
	key   string
	turn  Turn

	branch  sync.Mutex // held while a request is made and while the branch is rewritten; taken before mu
	mu      sync.Mutex // protects what follows, but for journal, which branch does
	log     Log
	at      loaded
	encoder encoder
	manager *winnow.Manager // nil: made when it is wanted
	journal [][]byte        // deltas of the manager that are not written yet
	flushes atomic.Int64    // of the manager that are not written yet; the manager may flush while mu is held
	model   string          // who gives the answers
	dead    error
	fresh   ResetDecision
	beside  bool // without the turn: nothing but entries beside the branch
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

// View returns what the session holds now. Nobody writes to the elements of its lists.
func (s *Session) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.view(s.key)
}

// Close ends the turn. What was acknowledged is stored already.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.manager != nil {
		s.manager.Close()
	}
	s.sumUp()
	s.tellStatus()
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if s.turn != nil {
		errs = append(errs, s.turn.Release())
	}
	s.manager, s.log, s.turn, s.at = nil, nil, nil, loaded{}
	if s.dead == nil {
		s.dead = ErrClosed
	}
	return errors.Join(errs...)
}

// reload reads the log anew.
func (s *Session) reload(ctx context.Context) error {
	l, err := load(ctx, s.log, s.store.opts.Codec)
	if err == nil {
		err = l.checkHeader(s.key)
	}
	if err != nil {
		return err
	}
	s.at = *l
	return nil
}

// UseModel says which model gives the answers that are appended from now on, so that usage is counted by model. ""
// means that it is not known.
func (s *Session) UseModel(model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = strings.ToValidUTF8(model, "\ufffd")
}

// Append adds messages to the conversation: all of them or none. They are stored when it returns. The messages and
// what they point to are not to be changed afterwards.
func (s *Session) Append(ctx context.Context, messages ...winnow.Message) error {
	if len(messages) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := s.messageEntries(messages)
	if err != nil {
		return err
	}
	if err := s.write(ctx, true, entries...); err != nil {
		return err
	}
	for _, e := range entries {
		s.extend(e, *e.Message)
	}
	return nil
}

// extend adds the message of an entry that was written to the history.
func (s *Session) extend(e *Entry, m winnow.Message) {
	s.at.history = append(s.at.history, m)
	s.at.places = append(s.at.places, place{ref: Ref{ID: e.ID, At: e.offset}})
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

// messageEntries returns the entries of messages, as they are stored and as they go on in this session.
func (s *Session) messageEntries(messages []winnow.Message) ([]*Entry, error) {
	messages, err := s.redactAll(messages)
	if err != nil {
		return nil, err
	}
	bare := make([]winnow.Message, len(messages))
	for i := range messages {
		if bare[i], err = canonical(messages[i]); err != nil {
			return nil, err
		}
	}
	sources, err := s.encodeSources(messages, bare)
	if err != nil {
		return nil, err
	}
	entries := make([]*Entry, len(messages))
	for i := range bare {
		entries[i] = &Entry{Type: TypeMessage, Message: &bare[i]}
		if bare[i].Role == winnow.RoleAssistant {
			entries[i].Model = s.model
		}
		if sources != nil && sources[i] != nil {
			entries[i].Source = &Source{Codec: s.store.opts.Codec.Name(), Data: sources[i]}
		}
	}
	return entries, nil
}

// encodeSources returns what the codec stores of messages, and gives bare, which are the same without sources, those
// that come back from the log: what is sent does not depend on a restart.
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
		if sources[i], err = oneLine(sources[i]); err != nil {
			return nil, fmt.Errorf("session: the codec %s: %w", codec.Name(), err)
		}
	}
	if err := codec.Decode(bare, sources); err != nil {
		return nil, fmt.Errorf("session: the codec %s cannot read what it wrote: %w", codec.Name(), err)
	}
	return sources, nil
}

// oneLine returns raw without line breaks.
func oneLine(raw json.RawMessage) (json.RawMessage, error) {
	if isOneLineJSON(raw) {
		return raw, nil
	}
	return compactJSON(raw)
}
