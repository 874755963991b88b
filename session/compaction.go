package session

import (
	"unicode/utf8"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// compactionEntry returns the entry for a compaction that r made. It refers to the messages that stay instead of
// copying them.
func (s *Session) compactionEntry(r *winnow.Request) *entry.Entry {
	c := r.Compaction
	e := &entry.Entry{
		Type: entry.TypeCompaction, Summary: c.Summary, TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
		Degraded: c.Degraded, Repaired: c.Repaired, Calls: c.Calls,
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
