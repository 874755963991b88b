package recording

import (
	"slices"

	"github.com/winnowgo/winnow"
)

// Change is an edit that the previous request did not have.
type Change struct {
	Op     winnow.Op
	Index  int // index of the message in the history
	Before int
	After  int
	Saved  int // tokens, compared with the previous request
	Reason string
}

// Ledger knows the edits of each message so far. A manager's edits are the complete difference between a request and
// the history, so the changes are the difference to the previous edits.
type Ledger struct {
	done    map[editKey]winnow.Edit
	summary int // tokens of the summary
}

type editKey struct {
	index  int
	repair string // reason of a repair, which combines with another edit; other edits replace one another
}

// Changes returns the edits that the previous request did not have. The cost of a new summary is subtracted from the
// savings of the first message that it replaces.
func (l *Ledger) Changes(edits []winnow.Edit, summary int) []Change {
	out := []Change{}
	now := make(map[editKey]winnow.Edit, len(edits))
	var again []Change // of messages that are sent whole again
	cost := summary - l.summary
	for _, e := range withRecords(edits) {
		k := editKey{index: e.Index}
		if e.Op == winnow.OpRepair {
			k.repair = e.Reason
		}
		now[k] = e
		old, known := l.done[k]
		if known && old.Op == e.Op && old.After == e.After {
			continue
		}
		c := Change{Op: e.Op, Index: e.Index, Before: e.Before, After: e.After, Saved: e.Before - e.After,
			Reason: e.Reason}
		if known {
			c.Before, c.Saved = old.After, old.After-e.After
		}
		if e.Op == winnow.OpCompact {
			c.Saved -= cost
			cost = 0
		}
		out = append(out, c)
	}
	for k, old := range l.done {
		if _, isEdited := now[k]; !isEdited && k.repair == "" && old.After > 0 {
			again = append(again, Change{Op: old.Op, Index: k.index, Before: old.After, After: old.Before,
				Saved: old.After - old.Before, Reason: "sent whole again"})
		}
	}
	slices.SortFunc(again, func(a, b Change) int { return a.Index - b.Index })
	l.done, l.summary = now, summary
	return append(out, again...)
}

// withRecords adds the tokens of each record to the edit of the first message that it replaces, instead of a separate
// edit.
func withRecords(edits []winnow.Edit) []winnow.Edit {
	records := map[int]int{}
	for _, e := range edits {
		if e.Op == winnow.OpFold && e.Before == 0 {
			records[e.Index] = e.After
		}
	}
	if len(records) == 0 {
		return edits
	}
	out := make([]winnow.Edit, 0, len(edits))
	for _, e := range edits {
		if e.Op == winnow.OpFold {
			if e.Before == 0 {
				continue
			}
			e.After = records[e.Index]
			delete(records, e.Index)
		}
		out = append(out, e)
	}
	return out
}

// Past returns the operation of an edit in the past tense.
func Past(op winnow.Op) string {
	switch op {
	case winnow.OpRepair:
		return "repaired"
	case winnow.OpLimit:
		return "dropped"
	case winnow.OpTrim:
		return "trimmed"
	case winnow.OpClear:
		return "cleared"
	case winnow.OpTruncate:
		return "cut"
	case winnow.OpMinify:
		return "minified"
	case winnow.OpFold:
		return "folded"
	case winnow.OpCompact:
		return "summarized"
	}
	return string(op)
}
