package identifier

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A set does what a map of numbers does, with identifiers of all lengths, and when it was cleared.
func TestSet(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var s Set
		numbers := map[string]int{}
		look := func(s *Set, id string) {
			n, ok := numbers[id]
			if !ok {
				n = -1
			}
			if s.Number(id) != n || s.Has(id) != ok || s.Len() != len(numbers) {
				t.Fatalf("%q has number %d of %d, and not %d of %d", id, s.Number(id), s.Len(), n, len(numbers))
			}
		}
		for range 2_000 {
			id := strings.Repeat("ab/c_", 10)[:r.IntN(40)] + strings.Repeat("x1", 20)[:r.IntN(5)]
			look(&s, id)
			if r.IntN(2) == 0 {
				continue
			}
			if _, ok := numbers[id]; !ok {
				numbers[id] = len(numbers)
			}
			if n := s.Add(id); n != numbers[id] {
				t.Fatalf("%q was added as %d, and not as %d", id, n, numbers[id])
			}
			look(&s, id)
			if r.IntN(500) == 0 {
				s.Clear()
				clear(numbers)
				s.Add("few")
				s.Clear() // few in many slots
			}
		}
	}
}

func BenchmarkSet(b *testing.B) {
	ids := make([]string, 2_000)
	s, m := Set{}, map[string]bool{}
	for k := range ids {
		ids[k] = strings.Repeat("x", k%11) + "_" + string(rune('a'+k%26)) + strings.Repeat("1", k%7)
		if k%2 == 0 {
			s.Add(ids[k])
			m[ids[k]] = true
		}
	}
	n := 0
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			for _, id := range ids {
				if s.Has(id) {
					n++
				}
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			for _, id := range ids {
				if m[id] {
					n++
				}
			}
		}
	})
}
