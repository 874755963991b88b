package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

// Leaf returns the newest entry of the branch; [Session.Rewind] to it comes back here. It is "" before the first entry.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.leaf.id
}

// Rewind goes back to an entry: the conversation continues after it, on a new branch. Later entries stay in the log,
// and Rewind to the last of them returns to their branch. The entry "" is the beginning. The error is [ErrNotFound] if
// no branch has the entry.
func (s *Session) Rewind(ctx context.Context, entry string) error {
	defer s.lockBranch()()
	target, err := s.find(ctx, entry)
	if err != nil {
		return err
	}
	s.forget()
	return s.rewrite(ctx, &Entry{Type: TypeLeaf, Target: target.id, At: &target.offset})
}

// find looks for a path entry in the whole log.
func (s *Session) find(ctx context.Context, entry string) (line, error) {
	if s.dead != nil {
		return line{}, s.dead
	}
	for _, p := range s.at.places { // most callers go back only a little
		if p.ref.ID == entry {
			return line{head: head{id: entry}, offset: p.ref.At}, nil
		}
	}
	t, err := newTree(ctx, s.log, s.at.size, nil)
	if err != nil {
		return line{}, err
	}
	i, ok := t.indexOf(entry)
	if entry == "" {
		i, ok = t.header, t.header >= 0
	}
	if !ok || t.lines[i].kind != TypeSession && !t.lines[i].isPath() {
		return line{}, fmt.Errorf("%w: entry %q of %q", ErrNotFound, entry, s.key)
	}
	return t.line(i)
}

// SummarizeBranch adds a summary of an abandoned branch, which ended at entry from, or "" if that is not known. The
// model sees the summary. The error is [ErrNotFound] if no branch has the entry.
func (s *Session) SummarizeBranch(ctx context.Context, from, summary string) error {
	if from != "" {
		s.mu.Lock()
		_, err := s.find(ctx, from)
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return s.add(ctx, &Entry{Type: TypeBranchSummary, Target: from, Summary: strings.ToValidUTF8(summary, "\ufffd")})
}

// Edit replaces the content of a message, or leaves the message out if m is nil. The original stays in the log. The
// error is [ErrNotFound] if the entry is not a message of the history.
func (s *Session) Edit(ctx context.Context, entry string, m *winnow.Message, reason string) error {
	defer s.lockBranch()()
	if s.dead != nil {
		return s.dead
	}
	for _, p := range s.at.places {
		if p.ref.ID != entry || p.isSummary {
			continue
		}
		e := &Entry{Type: TypeEdit, Target: entry, Omit: m == nil, Reason: reason}
		if m != nil {
			c, err := s.stored(*m)
			if err != nil {
				return err
			}
			e.Message = &c
		}
		return s.rewrite(ctx, e)
	}
	return fmt.Errorf("%w: entry %q in the history of %q", ErrNotFound, entry, s.key)
}

// Inject appends a message of the host under a name. The model sees it; people do not if it is hidden.
func (s *Session) Inject(ctx context.Context, name string, hidden bool, m winnow.Message) error {
	m, err := s.stored(m)
	if err != nil {
		return err
	}
	return s.add(ctx, &Entry{Type: TypeCustomMessage, Name: name, Hidden: hidden, Message: &m})
}

// Note appends data of the host, as JSON. The model does not see it. It belongs to the branch.
func (s *Session) Note(ctx context.Context, name string, data json.RawMessage) error {
	data, err := noteOf(name, data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(ctx, true, &Entry{Type: TypeCustom, Name: name, Data: data})
}

// add appends an entry that carries a message.
func (s *Session) add(ctx context.Context, e *Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(ctx, true, e); err != nil {
		return err
	}
	if e.Message != nil {
		s.extend(e, s.offsets[0], *e.Message)
	} else {
		s.extend(e, s.offsets[0], branchSummaryMessage(e))
	}
	return nil
}
