package identifier

import (
	"math/rand/v2"
	"strings"
	"testing"
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
		Scan(b.String(), func(id string, _ Kind) {
			all[id] = true
			inside(id, func(s string) { all[s] = true })
		})
		for s := range all {
			if !covered.Has(s) {
				t.Fatalf("%q is not covered behind %q", s, b.String())
			}
		}
		if len(covered.hashes) != len(all) {
			t.Fatalf("more is covered than there is behind %q", b.String())
		}
	}
}
