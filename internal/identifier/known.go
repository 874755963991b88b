package identifier

import (
	"math/bits"
	"slices"
)

// Known is a set of identifiers that only tells whether one is in it. The zero value is empty.
//
// It knows an identifier by its hash alone. The set of all names in a long request is larger than the processor's
// cache, and to compare the names themselves would fetch two more lines of it for each. The price is that a name may be
// taken for another one: among n names with a chance of n²/2 in 2⁶⁴, which is 2⁻³⁸ for the 10 000 names of a long
// session. Then a record does not list that name. Nobody can bring this about, because the seed of the hash differs in
// each process.
type Known struct {
	slots []NameHash // at least twice as many as identifiers, a power of two; each is at its hash or behind it; 0: free
	n     int
}

// NewKnown returns a set with room for n identifiers.
func NewKnown(n int) Known {
	return Known{slots: make([]NameHash, max(leastSlots, 1<<bits.Len(uint(2*n))))}
}

// Len returns how many identifiers are in k.
func (k *Known) Len() int { return k.n }

// Has reports whether id is in k.
func (k *Known) Has(id string) bool { return k.HasBy(HashOf(id)) }

// HasBy is Has for the identifier with the hash h.
func (k *Known) HasBy(h NameHash) bool {
	if k.n == 0 {
		return false
	}
	_, has := k.find(h)
	return has
}

// At returns what stands where h belongs: h itself, 0 if h is not in k, or another hash, behind which only HasBy looks.
// A caller with many hashes calls At for all of them first, so that the processor fetches their slots at the same time.
func (k *Known) At(h NameHash) NameHash {
	if k.n == 0 {
		return 0
	}
	return k.slots[int(h)&(len(k.slots)-1)]
}

// Add adds id and reports whether it is new.
func (k *Known) Add(id string) bool { return k.AddBy(HashOf(id)) }

// AddBy is Add for the identifier with the hash h.
func (k *Known) AddBy(h NameHash) bool {
	if 2*(k.n+1) > len(k.slots) {
		k.grow()
	}
	at, has := k.find(h)
	if !has {
		k.slots[at] = h
		k.n++
	}
	return !has
}

// find returns the slot of h, or the free one where it belongs.
func (k *Known) find(h NameHash) (at int, has bool) {
	mask := len(k.slots) - 1
	for at = int(h) & mask; ; at = (at + 1) & mask {
		switch k.slots[at] {
		case 0:
			return at, false
		case h:
			return at, true
		}
	}
}

func (k *Known) grow() {
	old := k.slots
	k.slots = make([]NameHash, max(leastSlots, 2*len(old)))
	for _, h := range old {
		if h != 0 {
			at, _ := k.find(h)
			k.slots[at] = h
		}
	}
}

// Clone returns a copy of k.
func (k *Known) Clone() *Known { return &Known{slices.Clone(k.slots), k.n} }
