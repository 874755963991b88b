package identifier

import (
	"hash/maphash"
	"maps"
)

// Known is a set of identifiers that only tells whether one is in it. It knows an identifier by its hash alone, so
// that it holds no text. Nobody can bring about that a name is taken for another one, because the seed of the hash
// differs in each process. The zero value is empty.
type Known struct{ hashes map[uint64]struct{} }

var seed = maphash.MakeSeed()

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
