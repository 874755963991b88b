package wire

import (
	"slices"

	"github.com/winnowgo/winnow"
)

// The results of one answer: where they are blocks, they have to stand in one message, in front of all else in it.

// results writes the results of one answer into one message: the one that has the first of them.
func (w *writer) results(results []winnow.Message) {
	host, together := w.hostOf(results)
	if together {
		for i := range results {
			w.message(&results[i])
		}
		return
	}
	if host < 0 {
		var blocks [][]byte
		for i := range results {
			blocks = append(blocks, w.resultBlock(&results[i]))
		}
		w.out = append(w.out, entry{element: -1, raw: w.api.message(blocks), role: winnow.RoleUser})
		return
	}
	var behind value // what stands behind the results in the host
	of := &w.history.elements[host]
	for _, p := range of.pieces {
		if len(p.raw) == 0 && len(p.blocks) > 0 {
			behind = p.blocks[0].raw
		}
	}
	for i := range results {
		m := &results[i]
		if p := w.history.pieceOf(m); p != nil && p.from == host && !w.present[p] && w.place(p) {
			w.piece(p, m)
			continue
		}
		raw := w.resultBlock(m)
		if len(behind) > 0 {
			w.edit.Before(behind, raw)
		} else {
			w.edit.Append(of.pieces[0].in, raw)
		}
	}
}

// resultBlock returns the block of a result that stands elsewhere, or is new.
func (w *writer) resultBlock(m *winnow.Message) []byte {
	if p := w.history.pieceOf(m); p != nil {
		w.piece(p, m)
		w.moved[p] = true
		return w.edit.Bytes(p.raw)
	}
	return w.api.result(m, w.call[m.ToolCallID])
}

// hostOf returns the element that has the first of the results; -1: none has. together reports whether the client has
// all of them together, as they are: in that element, or in others that follow it.
func (w *writer) hostOf(results []winnow.Message) (host int, together bool) {
	host, together = -1, true
	last := 0
	for i := range results {
		p := w.history.pieceOf(&results[i])
		if p == nil || w.present[p] {
			together = false
			continue
		}
		if _, placed := w.at[p.from]; placed {
			together = false
			continue
		}
		if host < 0 {
			host, last = p.from, p.from
		}
		if p.from != last && p.from != last+1 {
			together = false
		}
		host, last = min(host, p.from), p.from
	}
	return host, together && host >= 0
}

// asTheyStood returns results in the client's order, which any is to the API.
func (w *writer) asTheyStood(results []winnow.Message) []winnow.Message {
	results = slices.Clone(results)
	if !slices.ContainsFunc(results, func(m winnow.Message) bool { return w.history.pieceOf(&m) == nil }) {
		slices.SortStableFunc(results, func(a, b winnow.Message) int {
			return w.history.pieceOf(&a).from - w.history.pieceOf(&b).from
		})
	}
	return results
}
