package minify

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// The lines that may be numbered are found eight bytes at a time as they are line by line.
func TestNextNumbered(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"\n", "\n", "\n\n", " ", "    ", "1", "12", "a", "word and word ", "\t", "\r", "é", "\xff", "\x0b", "\n7", "\n  8", "?"}
	found := 0
	for range 50_000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		s := b.String()
		for at := 0; at < len(s); {
			want := at
			for want < len(s) && !mayBeNumbered(s, want) {
				want = min(lineEnd(s, want)+1, len(s))
			}
			got := nextNumbered(s, at)
			if got != want {
				t.Fatalf("%q from %d: %d, line by line %d", s, at, got, want)
			}
			if got == len(s) {
				break
			}
			found++
			at = lineEnd(s, got) + 1
		}
	}
	if found < 10_000 {
		t.Fatalf("%d lines", found)
	}
}

// What is passed over holds no view: line by line the same numbers go.
func TestNextView(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 9))
	changed := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(3) { // views that are hardly worth it, between other lines
			b.WriteString([]string{"", "a line\n", "7 days\n", strings.Repeat("a long line ", 12) + "\n"}[r.IntN(4)])
			number, separator := r.IntN(30), []string{"→", "→", "\t", ": "}[r.IntN(4)]
			content := []string{"", "x", "x", strings.Repeat("code ", r.IntN(20))}[r.IntN(4)]
			for range fewestNumbered - 2 + r.IntN(8) {
				number++
				b.WriteString(strconv.Itoa(number) + separator + content + "\n")
			}
			b.WriteString([]string{"", "a line\n"}[r.IntN(2)])
		}
		s := strings.TrimSuffix(b.String(), []string{"\n", "", "x"}[r.IntN(3)])
		slow := rewriter{text: s}
		for i := nextNumbered(s, 0); i < len(s); {
			v := viewAt(s, i)
			if v.isCertain() && v.saving > len(numbersNote) {
				slow.thin(&v)
			}
			i = nextNumbered(s, v.end)
		}
		if got := withoutNumbers(s); got != slow.result() {
			t.Fatalf("%q became %q, line by line %q", s, got, slow.result())
		}
		if slow.out != nil {
			changed++
		}
	}
	if changed < 2_000 {
		t.Fatalf("%d views", changed)
	}
}
