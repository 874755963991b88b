package recording

import "github.com/winnowgo/winnow"

// Change is an edit that the request before did not have.
type Change struct {
	Op     winnow.Op `json:"op"`
	Index  int       `json:"index"` // of the message in the history
	Before int       `json:"before"`
	After  int       `json:"after"`
	Saved  int       `json:"saved"` // tokens, against the request before
	Reason string    `json:"reason"`
}

// Ledger knows what was done to each message so far. A manager's edits are all that makes a request
// differ from the history; what is new is the difference to the edits before.
type Ledger struct {
	done    map[editKey]winnow.Edit
	summary int // tokens of the summary
}

type editKey struct {
	index  int
	repair string // reason of a repair, which goes with other edits of the message; "": the others replace one another
}

// Changes returns what edits has that the request before did not have. The cost of a new summary is taken
// off the savings of the first message that it stands for.
func (l *Ledger) Changes(edits []winnow.Edit, summary int) []Change {
	out := []Change{}
	now := make(map[editKey]winnow.Edit, len(edits))
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
	l.done, l.summary = now, summary
	return out
}

// withRecords puts the tokens of each record on the edit of the first message that it stands for, in the place of an
// edit of its own.
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

// Past says what an edit did.
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
