package identifier

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/winnowgo/winnow/internal/runes"
)

// What is found within an identifier is found once: Cover adds no less than it would if it looked each time.
func TestCoverTwice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"/", "/", ".", "-", "_", ":", "=", "@", "~", "?", "&", "#", " ", " ", "`", `"`, "\\", "://", "a", "src", "main",
		"go", "camelCase", "snake_case", "README", "md", "1234", "v1", "deadbeef", "CVE", "2026", "ENOENT", "owner", "localhost", "com",
		"src~main.go", "「", "」", "é", strings.Repeat("x_", 130)}
	var covered Known
	all := map[string]bool{}
	for range 50_000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if r.IntN(20) == 0 {
			covered = Known{}
			clear(all)
		}
		Cover(&covered, b.String())
		Scan(b.String(), func(id string, _ Kind) { Within(id, func(s string) { all[s] = true }) })
		for s := range all {
			if !covered.Has(s) {
				t.Fatalf("%q is not covered behind %q", s, b.String())
			}
		}
		if covered.Len() != len(all) {
			t.Fatalf("more is covered than there is behind %q", b.String())
		}
	}
}

// Letters and digits are counted eight at a time as they are one by one, whatever else is in a token.
func TestCountClasses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		token := make([]byte, r.IntN(30))
		want := [3]int{}
		for i := range token {
			token[i] = byte(r.IntN(0x80))
			switch {
			case runes.IsDigit(token[i]):
				want[0]++
			case runes.IsUpper(token[i]):
				want[1]++
			case runes.IsLower(token[i]):
				want[2]++
			}
		}
		if digits, upper, lower := countClasses(string(token)); [3]int{digits, upper, lower} != want {
			t.Fatalf("%q: %d digits, %d and %d letters of either case", token, digits, upper, lower)
		}
	}
}
