package main

import (
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// maxRows is how many lines of requests a person will read.
const maxRows = 60

// fold groups requests into runs that share a line: requests that only appended messages or, if that leaves too many
// lines, all requests between compactions. A run stays within its turn.
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

// runs joins neighbours of one turn if folds allows it.
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

// isCalm reports whether messages were only appended, perhaps repaired or minified.
func isCalm(q *request) bool {
	other := slices.ContainsFunc(q.Changes, func(c recording.Change) bool {
		return c.Op != winnow.OpRepair && c.Op != winnow.OpMinify
	})
	return q.appendsOnly && !other && q.Compaction == nil && q.Fits && q.Valid
}
