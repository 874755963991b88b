package minify

import (
	"math/rand/v2"
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
