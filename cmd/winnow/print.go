package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// print writes a value as one line of JSON.
func (p *program) print(v any) error {
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table writes rows whose columns are aligned. The first is the heading.
func (p *program) table(rows [][]string) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		line := strings.Join(r, "\t")
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, "\t ")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// clip cuts a text to up to most characters.
func clip(s string, most int) string {
	r := []rune(inspect.Plain(s))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most-1]) + "…"
}

// number is 12,345, and count is "1 session" or "2 sessions": as inspect writes them.
var number, count = recording.Comma, recording.Count

func size(n int64) string {
	switch {
	case n < 10_000:
		return number(int(n)) + " B"
	case n < 10_000_000:
		return number(int(n/1000)) + " kB"
	}
	return number(int(n/1_000_000)) + " MB"
}

func date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// progress is a bar on a terminal, for work that takes longer than a second. Elsewhere it prints nothing.
type progress struct {
	w     io.Writer // nil: no terminal
	what  string
	total int64
	begun time.Time
	drawn time.Time
}

func (p *program) progress(what string, total int64) *progress {
	b := &progress{what: what, total: max(total, 1), begun: p.now()}
	if p.isTerminal {
		b.w = p.stderr
	}
	return b
}

func (b *progress) at(done int64, now time.Time) {
	if b.w == nil || now.Sub(b.begun) < time.Second || now.Sub(b.drawn) < 100*time.Millisecond {
		return
	}
	const cells = 30
	b.drawn = now
	full := int(min(done, b.total) * cells / b.total)
	bar := strings.Repeat("#", full) + strings.Repeat(".", cells-full)
	fmt.Fprintf(b.w, "\r%s [%s] %d %%", b.what, bar, min(done, b.total)*100/b.total)
}

// end clears the line.
func (b *progress) end() {
	if b.w != nil && !b.drawn.IsZero() {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
