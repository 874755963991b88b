package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Leaf returns the newest entry of the branch; [Session.Rewind] to it comes back here. It is "" before the first entry.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.Leaf.ID
}

// Rewind goes back to an entry: the conversation continues after it, on a new branch. Later entries stay in the log,
// and Rewind to the last of them returns to their branch. The entry "" is the beginning. The error is [ErrNotFound] if
// no branch has the entry.
func (s *Session) Rewind(ctx context.Context, id string) error {
	defer s.lockBranch()()
	target, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	s.forget()
	return s.rewrite(ctx, &entry.Entry{Type: entry.TypeLeaf, Target: target.ID, At: &target.Offset})
}

// find looks for a path entry in the whole log.
func (s *Session) find(ctx context.Context, id string) (jsonl.Line, error) {
	if s.dead != nil {
		return jsonl.Line{}, s.dead
	}
	for _, p := range s.at.Places { // most callers go back only a little
		if p.Ref.ID == id {
			return jsonl.Line{Head: jsonl.Head{ID: id}, Offset: p.Ref.At}, nil
		}
	}
	t, err := jsonl.NewTree(ctx, s.log, s.at.Size, nil)
	if err != nil {
		return jsonl.Line{}, err
	}
	i, ok := t.IndexOf(id)
	if id == "" {
		i, ok = t.Header, t.Header >= 0
	}
	if !ok || t.Lines[i].Kind != entry.TypeSession && !t.Lines[i].IsPath() {
		return jsonl.Line{}, fmt.Errorf("%w: entry %q of %q", ErrNotFound, id, s.key)
	}
	return t.Line(i)
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
	summary = strings.ToValidUTF8(summary, "\ufffd")
	return s.add(ctx, &entry.Entry{Type: entry.TypeBranchSummary, Target: from, Summary: summary})
}

// Edit replaces the content of a message, or leaves the message out if m is nil. The original stays in the log. The
// error is [ErrNotFound] if the entry is not a message of the history.
func (s *Session) Edit(ctx context.Context, id string, m *winnow.Message, reason string) error {
	defer s.lockBranch()()
	if s.dead != nil {
		return s.dead
	}
	for _, p := range s.at.Places {
		if p.Ref.ID != id || p.IsSummary {
			continue
		}
		e := &entry.Entry{Type: entry.TypeEdit, Target: id, Omit: m == nil, Reason: reason}
		if m != nil {
			c, err := s.stored(*m)
			if err != nil {
				return err
			}
			e.Message = &c
		}
		return s.rewrite(ctx, e)
	}
	return fmt.Errorf("%w: entry %q in the history of %q", ErrNotFound, id, s.key)
}

// Inject appends a message of the host under a name. The model sees it; people do not if it is hidden.
func (s *Session) Inject(ctx context.Context, name string, hidden bool, m winnow.Message) error {
	m, err := s.stored(m)
	if err != nil {
		return err
	}
	return s.add(ctx, &entry.Entry{Type: entry.TypeCustomMessage, Name: name, Hidden: hidden, Message: &m})
}

// Note appends data of the host, as JSON. The model does not see it. It belongs to the branch.
func (s *Session) Note(ctx context.Context, name string, data json.RawMessage) error {
	data, err := noteOf(name, data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(ctx, true, &entry.Entry{Type: entry.TypeCustom, Name: name, Data: data})
}

// add appends an entry that carries a message.
func (s *Session) add(ctx context.Context, e *entry.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(ctx, true, e); err != nil {
		return err
	}
	if e.Message != nil {
		s.extend(e, s.offsets[0], *e.Message)
	} else {
		s.extend(e, s.offsets[0], jsonl.BranchSummaryMessage(e))
	}
	return nil
}
