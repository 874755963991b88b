package main

import (
	"math"
	"strings"
)

// barCells is the width of the bar that stands for the whole window.
const barCells = 32

// The parts of a bar. Each is a letter or a shape, readable without colours.
const (
	cellSummary = "S"
	cellFolded  = "f"
	cellCleared = "c"
	cellTrimmed = "t"
	cellCut     = "/"
	cellKept    = "█"
	cellFree    = "·"
	cellOver    = "!"
	budgetMark  = "|"
)

// bar draws a request in a window of tokens. Every part that is not empty gets a cell, however small.
func bar(q *request, window int) string {
	cells := func(tokens int) int { return int(math.Ceil(float64(tokens) / float64(window) * barCells)) }
	budget := min(barCells, int(float64(q.Budget)/float64(window)*barCells+0.5))
	if !q.Fits {
		return strings.Repeat(cellOver, barCells+1)
	}
	s := q.Shares
	var b strings.Builder
	left := min(cells(q.Tokens), budget)
	for _, p := range []struct {
		glyph  string
		tokens int
	}{{cellSummary, s.Summarized}, {cellFolded, s.Folded}, {cellCleared, s.Cleared}, {cellTrimmed, s.Trimmed},
		{cellCut, s.Cut}} {
		n := min(left, cells(p.tokens))
		b.WriteString(strings.Repeat(p.glyph, n))
		left -= n
	}
	b.WriteString(strings.Repeat(cellKept, left))
	b.WriteString(strings.Repeat(cellFree, budget-min(cells(q.Tokens), budget)))
	b.WriteString(budgetMark)
	b.WriteString(strings.Repeat(" ", barCells-budget))
	return b.String()
}
