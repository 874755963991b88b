package identifier

import (
	"hash/maphash"
	"maps"
)

// Set is a set of identifiers, each with its number: how many were added before it. The zero value is empty.
type Set struct {
	ids     []string
	numbers map[uint64]int32 // by hash, as in Known
}

// Len returns how many identifiers are in s.
func (s *Set) Len() int { return len(s.ids) }

// IDs returns the identifiers in the order of their numbers. The list is the set's.
func (s *Set) IDs() []string { return s.ids }

// Number returns the number of id, or -1.
func (s *Set) Number(id string) int {
	if n, ok := s.numbers[maphash.String(seed, id)]; ok {
		return int(n)
	}
	return -1
}

// Add returns the number of id, which is added if it is not in s.
func (s *Set) Add(id string) int {
	hash := maphash.String(seed, id)
	if n, ok := s.numbers[hash]; ok {
		return int(n)
	}
	if s.numbers == nil {
		s.numbers = map[uint64]int32{}
	}
	s.numbers[hash] = int32(len(s.ids))
	s.ids = append(s.ids, id)
	return len(s.ids) - 1
}

// Clear takes all identifiers out of s. Its memory is kept.
func (s *Set) Clear() {
	clear(s.ids) // the texts that they lie in are not held
	clear(s.numbers)
	s.ids = s.ids[:0]
}

// Known is a set of identifiers that only tells whether one is in it. It knows an identifier by its hash alone, so
// that it holds no text. Nobody can bring about that a name is taken for another one, because the seed of the hash
// differs in each process. The zero value is empty.
type Known struct{ hashes map[uint64]struct{} }

var seed = maphash.MakeSeed()

// NewKnown returns a set with room for n identifiers.
func NewKnown(n int) Known { return Known{make(map[uint64]struct{}, n)} }

// Len returns how many identifiers are in k.
func (k *Known) Len() int { return len(k.hashes) }

// Has reports whether id is in k.
func (k *Known) Has(id string) bool {
	_, has := k.hashes[maphash.String(seed, id)]
	return has
}

// Add adds id and reports whether it is new.
func (k *Known) Add(id string) bool {
	if k.hashes == nil {
		k.hashes = map[uint64]struct{}{}
	}
	n := len(k.hashes)
	k.hashes[maphash.String(seed, id)] = struct{}{}
	return len(k.hashes) > n
}

// Clone returns a copy of k.
func (k *Known) Clone() *Known { return &Known{maps.Clone(k.hashes)} }
