package minify

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

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

// nextNumbered returns where the next line begins that may be numbered, or len(s), from index i on, where a line
// begins.
func nextNumbered(s string, i int) int {
	for i < len(s) && !mayBeNumbered(s, i) {
		i = lineEnd(s, i) + 1
	}
	return min(i, len(s))
}
