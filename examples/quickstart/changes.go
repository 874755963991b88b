package main

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/winnowgo/winnow"
)

// change is an edit that the request before did not have.
type change struct {
	Op     winnow.Op `json:"op"`
	Index  int       `json:"index"` // of the message in the history
	Before int       `json:"before"`
	After  int       `json:"after"`
	Saved  int       `json:"saved"` // tokens, against the request before
	Reason string    `json:"reason"`
}

// ledger knows what was done to each message so far. A manager's edits are all that makes a request
// differ from the history; what is new is the difference to the edits before.
type ledger struct {
	done    map[ledgerKey]winnow.Edit
	summary int // tokens of the summary
}

type ledgerKey struct {
	index  int
	repair string // reason of a repair, which goes with other edits of the message; "": the others replace one another
}

// changes returns what edits has that the request before did not have. The cost of a new summary is taken
// off the savings of the first message that it stands for.
func (l *ledger) changes(edits []winnow.Edit, summary int) []change {
	out := []change{}
	now := make(map[ledgerKey]winnow.Edit, len(edits))
	cost := summary - l.summary
	for _, e := range edits {
		k := ledgerKey{index: e.Index}
		if e.Op == winnow.OpRepair {
			k.repair = e.Reason
		}
		now[k] = e
		old, known := l.done[k]
		if known && old.Op == e.Op && old.After == e.After {
			continue
		}
		c := change{Op: e.Op, Index: e.Index, Before: e.Before, After: e.After, Saved: e.Before - e.After, Reason: e.Reason}
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

// group is all changes of one kind and reason.
type group struct {
	Op       winnow.Op `json:"op"`
	Reason   string    `json:"reason"`
	Messages int       `json:"messages"`
	Saved    int       `json:"saved"`
}

type grouping map[[2]string]*group

var (
	callID = regexp.MustCompile(`call \S+: `)
	number = regexp.MustCompile(`\d+`)
)

// add sorts changes by kind and by reason, without the ids and numbers in it.
func (g grouping) add(changes []change) {
	for _, c := range changes {
		reason := number.ReplaceAllString(callID.ReplaceAllString(c.Reason, "call …: "), "N")
		key := [2]string{string(c.Op), reason}
		if g[key] == nil {
			g[key] = &group{Op: c.Op, Reason: reason}
		}
		g[key].Messages++
		g[key].Saved += c.Saved
	}
}

// order is that of the stages.
var order = []winnow.Op{winnow.OpRepair, winnow.OpLimit, winnow.OpTruncate, winnow.OpTrim, winnow.OpClear, winnow.OpCompact}

func (g grouping) list() []group {
	out := []group{}
	for _, v := range g {
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b group) int {
		return cmp.Or(slices.Index(order, a.Op)-slices.Index(order, b.Op), b.Messages-a.Messages, cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
