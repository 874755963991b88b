package session

import (
	"context"

	"github.com/winnowgo/winnow"
)

const (
	// A result may have this share of the window, at 4 characters a token, and at most maxResultChars: the reference's
	// numbers.
	resultShare    = 0.3
	charsPerToken  = 4
	maxResultChars = 400_000

	truncatedReason = "the result is larger than one result may be"
)

// resultLimit returns how many characters a result may have for good, with a window of so many tokens.
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

// isOversized says that m is a result that is larger than one may be for good.
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

// Truncate cuts the results for good that are larger than one result may be: 30 % of the window, at 4 characters a
// token, and 400 000 characters. It returns how many it cut. Each is an edit beside the message, which stays as it
// was: going back to before the edit shows the original.
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
	var entries []*Entry
	for i := range s.at.history {
		if result := &s.at.history[i]; isOversized(result, limit) {
			cut, edits := winnow.TruncateToolResults(s.at.history[i:i+1], window, &o)
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

// truncations returns the edits for what the recovery ladder cut: those results that are larger than one may be for
// good, as they are sent.
func (s *Session) truncations(r *winnow.Request) []*Entry {
	if r.Rung == "" {
		return nil
	}
	m, err := s.ready()
	if err != nil {
		return nil
	}
	limit := resultLimit(m.Window())
	var entries []*Entry
	for _, e := range r.Edits {
		if e.Op != winnow.OpTruncate || e.Index >= len(s.at.history) || !isOversized(&s.at.history[e.Index], limit) {
			continue
		}
		if sent := sentAs(r, &s.at.history[e.Index]); sent != nil {
			entries = append(entries, s.editEntry(e.Index, sent))
		}
	}
	return entries
}

// sentAs returns the result of a request that stands for m, nil where that is not certain.
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

// editEntry returns the entry that gives message i of the history another content.
func (s *Session) editEntry(i int, as *winnow.Message) *Entry {
	m := s.at.history[i]
	m.Parts, m.Source = as.Parts, nil
	m, _ = canonical(m) // it comes from one that was
	return &Entry{Type: TypeEdit, Target: s.at.places[i].ref.ID, Message: &m, Reason: truncatedReason}
}

// rewrite writes entries that change the history, and reads it anew.
func (s *Session) rewrite(ctx context.Context, entries ...*Entry) error {
	if err := s.write(ctx, true, entries...); err != nil {
		return err
	}
	if err := s.reload(ctx); err != nil {
		return s.kill(err)
	}
	return nil
}
