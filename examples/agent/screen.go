package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/winnowgo/winnow"
)

// screen prints what happens, as text that also reads well in a file.
type screen struct {
	out      io.Writer
	window   int
	requests int
}

func (s *screen) print(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// barCells is the width of the bar that stands for the whole window.
const barCells = 32

// bar draws a request. Every part that is not empty gets a cell.
func bar(tokens, budget, window int) string {
	cells := func(n int) int {
		return max(0, min(barCells, int(math.Ceil(float64(n)/float64(window)*barCells))))
	}
	end := cells(budget)
	full := min(cells(tokens), end)
	return strings.Repeat("█", full) + strings.Repeat("·", end-full) + "|" + strings.Repeat(" ", barCells-end)
}

// says prints what someone says, of a long text the beginning. Lines after the first are indented.
func (s *screen) says(who, text string) {
	const most = 4
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], fmt.Sprintf("… %d more lines", n))
	}
	if text != "" {
		s.print("%-7s%s\n", who, strings.Join(lines, "\n       "))
	}
}

// sent shows a request with its answer, or the error.
func (s *screen) sent(r *winnow.Request, answer *winnow.Message, err error) {
	if c := r.Compaction; c != nil {
		how := "summarized"
		if r.Degraded != "" {
			how = "compacted without the model"
		}
		s.print("       %s: %s tokens became %s\n", how, number(c.TokensBefore), number(c.TokensAfter))
	}
	s.requests++
	s.print("%4d   %s %7s of %s%s", s.requests, bar(r.Tokens, r.Budget, s.window), number(r.Tokens), number(r.Budget),
		edits(r.Edits))
	if err != nil {
		s.print(", refused\n       %s\n", oneLine(err.Error(), 160))
		return
	}
	s.print(", billed %s, %s of it cached\n", number(answer.Usage.Prompt()), number(answer.Usage.CacheRead))
}

// edits says how many results are shortened, and how many messages a record stands for.
func edits(list []winnow.Edit) string {
	n := map[winnow.Op]int{}
	for _, e := range list {
		n[e.Op]++
	}
	text := ""
	for _, op := range []struct {
		op   winnow.Op
		word string
	}{{winnow.OpTrim, "trimmed"}, {winnow.OpClear, "cleared"}, {winnow.OpTruncate, "cut"}, {winnow.OpFold, "folded"}} {
		if n[op.op] > 0 {
			text += fmt.Sprintf(", %d %s", n[op.op], op.word)
		}
	}
	return text
}

// called prints a call and its result.
func (s *screen) called(call winnow.Part, result string) {
	arguments := oneLine(string(call.Arguments), 80)
	s.print("       %s %s: %s characters\n", call.Name, arguments, number(len([]rune(result))))
}

// oneLine shortens a text to one line of limit characters.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// number groups the digits of n.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
