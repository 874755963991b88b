package session

import (
	"context"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

const (
	// A result may take this share of the window, at 4 characters per token, and at most maxResultChars: the numbers of
	// the reference.
	resultShare    = 0.3
	charsPerToken  = 4
	maxResultChars = 400_000

	truncatedReason = "the result is larger than one result may be"
)

// resultLimit returns how many characters a stored result may have, for a window in tokens.
func resultLimit(window int) int {
	return min(int(resultShare*float64(window))*charsPerToken, maxResultChars)
}

// resultChars counts the characters of the texts of a result.
func resultChars(m *winnow.Message) (n int) {
	for i := range m.Parts {
		if m.Parts[i].Kind == winnow.KindText {
			for range m.Parts[i].Text {
				n++
			}
		}
	}
	return n
}

// isOversized reports whether m is a result with more characters than limit.
func isOversized(m *winnow.Message, limit int) bool {
	if m.Role != winnow.RoleTool || m.Pinned {
		return false
	}
	bytes := 0
	for i := range m.Parts {
		bytes += len(m.Parts[i].Text)
	}
	return bytes > limit && resultChars(m) > limit
}

// Truncate permanently cuts tool results that are longer than 30 % of the window, at 4 characters per token, or than
// 400 000 characters. It returns how many it cut. Each cut is an edit; the message stays in the log, and rewinding to
// before the edit shows the original.
func (s *Session) Truncate(ctx context.Context) (int, error) {
	defer s.lockBranch()()
	if s.dead != nil {
		return 0, s.dead
	}
	m, err := s.ready()
	if err != nil {
		return 0, err
	}
	window := m.Window()
	_, opts := s.store.opts.Manager(s.key)
	limit := resultLimit(window)
	var o winnow.TruncateOptions
	if opts != nil && opts.Truncate != nil {
		o = *opts.Truncate
	}
	if o.Estimator == nil && opts != nil {
		o.Estimator = opts.Estimator
	}
	if o.MaxChars <= 0 || o.MaxChars > limit {
		o.MaxChars = limit
	}
	var entries []*entry.Entry
	for i := range s.at.History {
		if result := &s.at.History[i]; isOversized(result, limit) {
			cut, edits := winnow.TruncateToolResults(s.at.History[i:i+1], window, &o)
			if len(edits) > 0 {
				entries = append(entries, s.editEntry(i, &cut[0]))
			}
		}
	}
	if len(entries) == 0 {
		return 0, nil
	}
	return len(entries), s.rewrite(ctx, entries...)
}

// truncations returns the edits for oversized results that overflow recovery cut: each gets the content that was sent.
func (s *Session) truncations(r *winnow.Request) []*entry.Entry {
	if r.Rung == "" {
		return nil
	}
	m, err := s.ready()
	if err != nil {
		return nil
	}
	limit := resultLimit(m.Window())
	var entries []*entry.Entry
	for _, e := range r.Edits {
		if e.Op != winnow.OpTruncate || e.Index >= len(s.at.History) || !isOversized(&s.at.History[e.Index], limit) {
			continue
		}
		if sent := sentAs(r, &s.at.History[e.Index]); sent != nil {
			entries = append(entries, s.editEntry(e.Index, sent))
		}
	}
	return entries
}

// sentAs returns the result in a request that stands for m, nil if that is uncertain.
func sentAs(r *winnow.Request, m *winnow.Message) (found *winnow.Message) {
	for i := range r.Messages {
		if n := &r.Messages[i]; n.Role == winnow.RoleTool && n.ToolCallID == m.ToolCallID {
			if found != nil {
				return nil
			}
			found = n
		}
	}
	return found
}

// editEntry returns the entry that replaces the content of message i of the history.
func (s *Session) editEntry(i int, as *winnow.Message) *entry.Entry {
	m := s.at.History[i]
	m.Parts, m.Source = as.Parts, nil
	m, _ = jsonl.Canonical(m) // as it comes from a canonical message
	return &entry.Entry{Type: entry.TypeEdit, Target: s.at.Places[i].Ref.ID, Message: &m, Reason: truncatedReason}
}

// rewrite writes entries that change the history, and reads it again.
func (s *Session) rewrite(ctx context.Context, entries ...*entry.Entry) error {
	if err := s.write(ctx, true, entries...); err != nil {
		return err
	}
	if err := s.reload(ctx); err != nil {
		return s.kill(err)
	}
	return nil
}
