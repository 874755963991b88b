package main

import (
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/recording"
)

// maxRows is how many lines of requests a person reads.
const maxRows = 60

// fold sorts requests into runs that are shown in one line: those in which messages were only appended,
// or, where that leaves too many lines, all between compactions. A run does not go beyond its turn.
func fold(requests []request, all bool) [][]request {
	if all {
		return runs(requests, func(*request) bool { return false })
	}
	out := runs(requests, isCalm)
	if len(out) > maxRows {
		out = runs(requests, func(q *request) bool { return q.Compaction == nil && q.Fits && q.Valid })
	}
	return out
}

// runs joins neighbours of one turn that fold says may be joined.
func runs(requests []request, folds func(*request) bool) [][]request {
	var out [][]request
	from := 0
	for i := range requests {
		if i > 0 && (requests[i].Turn != requests[i-1].Turn || !folds(&requests[i]) || !folds(&requests[i-1])) {
			out = append(out, requests[from:i])
			from = i
		}
	}
	return append(out, requests[from:])
}

// isCalm reports whether nothing happened but that messages were appended, some of them repaired or minified perhaps.
func isCalm(q *request) bool {
	other := slices.ContainsFunc(q.Changes, func(c recording.Change) bool {
		return c.Op != winnow.OpRepair && c.Op != winnow.OpMinify
	})
	return q.appendsOnly && !other && q.Compaction == nil && q.Fits && q.Valid
}
