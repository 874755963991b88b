package identifier

import (
	"math/bits"
	"math/rand/v2"

	"github.com/winnowgo/winnow/internal/ascii"
)

// Set is a set of identifiers, each with its number: how many were added before it. The zero value is empty. It knows
// an identifier by its hash alone, as [Known] does. To look for a short text takes about a third of what it takes in a
// map, and a history has one in each line.
type Set struct {
	ids   []string
	slots []slot // at least twice as many as ids, a power of two; each is at its hash, or in the next one that is free
}

type slot struct {
	hash   NameHash
	number uint32 // from 1; 0: the slot is free
}

// NameHash is the hash of an identifier, never 0. All sets use the same hash function, so a caller that looks for an
// identifier in two sets computes its hash once.
type NameHash uint64

// seed differs in each process: nobody can write a text, for example a tool's result, whose identifiers all have one
// hash, so that a search through a set takes as long as through a list. It is drawn when the program starts, in some
// ten nanoseconds, and never changes. To draw it later would take a check for each identifier.
var seed = rand.Uint64() | 1

// leastSlots is how many slots a set has once it is not empty.
const leastSlots = 16

// Len returns how many identifiers are in s.
func (s *Set) Len() int { return len(s.ids) }

// IDs returns the identifiers in the order of their numbers. The list is the set's.
func (s *Set) IDs() []string { return s.ids }

// Has reports whether id is in s.
func (s *Set) Has(id string) bool { return s.Number(id) >= 0 }

// Number returns the number of id, or -1.
func (s *Set) Number(id string) int {
	if len(s.ids) == 0 {
		return -1
	}
	return s.NumberBy(HashOf(id))
}

// NumberBy is Number for the identifier with the hash h.
func (s *Set) NumberBy(h NameHash) int {
	if len(s.ids) == 0 {
		return -1
	}
	_, number := s.find(h)
	return number
}

// At returns the number of the identifier with the hash h if it is where it belongs, or -1: then only NumberBy tells
// whether it is in s. See [Known.At].
func (s *Set) At(h NameHash) int {
	if len(s.ids) == 0 {
		return -1
	}
	t := &s.slots[int(h)&(len(s.slots)-1)]
	if t.hash != h {
		return -1
	}
	return int(t.number) - 1
}

// Add returns the number of id, which is added if it is not in s.
func (s *Set) Add(id string) int { return s.AddBy(HashOf(id), id) }

// AddBy is Add for an identifier with the hash h.
func (s *Set) AddBy(h NameHash, id string) int {
	if 2*(len(s.ids)+1) > len(s.slots) {
		s.grow(max(leastSlots, 2*len(s.slots)))
	}
	at, number := s.find(h)
	if number < 0 {
		number = len(s.ids)
		s.ids = append(s.ids, id)
		s.slots[at] = slot{h, uint32(number + 1)}
	}
	return number
}

// find returns the number of the identifier with the hash h, or -1 and the slot where it belongs.
func (s *Set) find(h NameHash) (at, number int) {
	mask := len(s.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		switch t := s.slots[i]; {
		case t.number == 0:
			return i, -1
		case t.hash == h:
			return i, int(t.number - 1)
		}
	}
}

func (s *Set) grow(slots int) {
	old, mask := s.slots, slots-1
	s.slots = make([]slot, slots)
	for _, t := range old {
		if t.number == 0 {
			continue
		}
		i := int(t.hash) & mask
		for s.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = t
	}
}

// Clear takes all identifiers out of s. Its memory is kept, and is written only where something stood.
func (s *Set) Clear() {
	if 16*len(s.ids) > len(s.slots) {
		clear(s.slots)
	} else {
		for k, id := range s.ids {
			s.free(id, uint32(k+1))
		}
	}
	clear(s.ids) // the texts that they lie in are not held
	s.ids = s.ids[:0]
}

// free frees the slot of id, whose number is known. The slots in front of it may be free already.
func (s *Set) free(id string, number uint32) {
	mask := len(s.slots) - 1
	i := int(HashOf(id)) & mask
	for s.slots[i].number != number {
		i = (i + 1) & mask
	}
	s.slots[i] = slot{}
}

// HashOf returns the hash of id. It reads id in words of up to eight bytes, which may overlap at the end.
func HashOf(id string) NameHash {
	h := seed + uint64(len(id))*golden
	for ; len(id) > 16; id = id[16:] {
		h = mixed(ascii.LoadWord(id, 0)^h, ascii.LoadWord(id, 8)^seed)
	}
	n := len(id)
	var a, b uint64
	switch {
	case n >= 8:
		a, b = ascii.LoadWord(id, 0), ascii.LoadWord(id, n-8)
	case n >= 4:
		a, b = loadHalf(id, 0), loadHalf(id, n-4)
	case n > 0:
		a, b = uint64(id[0])|uint64(id[n/2])<<8, uint64(id[n-1])
	}
	return NameHash(max(1, mixed(a^h, b^seed)))
}

// loadHalf reads the four bytes of s from index i on.
func loadHalf(s string, i int) uint64 {
	w := s[i : i+4]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24
}

// golden are the first bits of the golden ratio, which have no zeros in a row. A length times golden changes bits that
// the bytes of no other identifier change back.
const golden = 0x9e3779b97f4a7c15

// mixed multiplies as wyhash does: each bit of both has a part in each bit of the result.
func mixed(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^golden, b^0xbf58476d1ce4e5b9)
	return hi ^ lo
}
