package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow"
)

// screen prints what happens, as text that also reads well in a file. On a terminal, a running call shows its seconds.
type screen struct {
	live   bool // a terminal
	window int

	mu       sync.Mutex
	out      io.Writer
	line     string // the current line, without its end
	lines    int    // lines begun so far
	requests int
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		s.live = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return s
}

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

// print writes whole lines.
func (s *screen) print(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish("")
	fmt.Fprintf(s.out, format, args...)
}

// begin writes the beginning of a line.
func (s *screen) begin(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish("")
	s.line = line
	s.lines++
	fmt.Fprint(s.out, line)
	if s.live {
		go s.clock(s.lines, time.Now())
	}
}

// clock shows the seconds after a line while it is the current one.
func (s *screen) clock(line int, began time.Time) {
	const step = 200 * time.Millisecond
	for range time.Tick(step) {
		s.mu.Lock()
		if s.line == "" || s.lines != line {
			s.mu.Unlock()
			return
		}
		fmt.Fprintf(s.out, "\r%s  … %.1f s ", s.line, time.Since(began).Seconds())
		s.mu.Unlock()
	}
}

// end finishes the current line with the outcome.
func (s *screen) end(more string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish(more)
}

// finish is end for callers that hold the lock.
func (s *screen) finish(more string) {
	if s.line == "" {
		return
	}
	if s.live { // erase the seconds
		fmt.Fprintf(s.out, "\r\x1b[K%s", s.line)
	}
	fmt.Fprintln(s.out, more)
	s.line = ""
}

// ask prompts the user on a terminal.
func (s *screen) ask() {
	if s.live {
		s.print("\n> ")
	}
}

// says prints what someone says. Lines after the first are indented.
func (s *screen) says(who, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	blank := ""
	if who == "you" {
		blank = "\n"
	}
	s.print("%s%-7s%s\n", blank, who, strings.ReplaceAll(text, "\n", "\n       "))
}

// note prints a message of the program itself.
func (s *screen) note(format string, args ...any) {
	s.print("\n"+format+"\n", args...)
}

// sends shows a request before it is sent.
func (s *screen) sends(r *winnow.Request) {
	if c := r.Compaction; c != nil {
		how := "summarized"
		if c.Degraded {
			how = "compacted without the model"
		}
		s.print("       %s: %s tokens became %s\n", how, number(c.TokensBefore), number(c.TokensAfter))
	}
	s.requests++
	line := fmt.Sprintf("%4d   %s %7s of %s", s.requests, bar(r.Tokens, r.Budget, s.window), number(r.Tokens),
		number(r.Budget))
	s.begin(line + edits(r.Edits))
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

// answered ends the line of a request with its usage.
func (s *screen) answered(m *winnow.Message) {
	if m.Usage == nil {
		s.end("")
		return
	}
	s.end(fmt.Sprintf(", billed %s, %s of it cached", number(m.Usage.Prompt()), number(m.Usage.CacheRead)))
}

// refused ends the line of a request with the provider's error.
func (s *screen) refused(err error) {
	s.end(", refused")
	text := err.Error()
	if r := (*refusal)(nil); errors.As(err, &r) {
		text = r.message()
	}
	s.print("       \"%s\"\n", oneLine(text, 160))
}

// summarizing shows that a summary is being made, until the returned function is called.
func (s *screen) summarizing(messages int) (done func()) {
	s.begin(fmt.Sprintf("       summarizing %d messages", messages))
	return func() { s.end("") }
}

// called prints a call and its result.
func (s *screen) called(call winnow.Part, result *winnow.Message) {
	text := ""
	if len(result.Parts) > 0 {
		text = result.Parts[0].Text
	}
	outcome := fmt.Sprintf("%s characters", number(len([]rune(text))))
	if result.IsError {
		text = strings.TrimSpace(text)
		outcome = "failed: " + text[strings.LastIndexByte(text, '\n')+1:]
	}
	s.print("       %s %s: %s\n", call.Name, oneLine(string(call.Arguments), 80), oneLine(outcome, 80))
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
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
