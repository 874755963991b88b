package identifier

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Known says of any identifier what a map would, however many it got room for, and so does a copy.
func TestKnown(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for _, room := range []int{-1, 0, 1, 100, 5_000} {
		var k Known
		if room >= 0 {
			k = NewKnown(room)
		}
		want := map[string]bool{}
		for range 6_000 {
			id := "name_" + strconv.Itoa(r.IntN(3_000))
			require.Equal(t, want[id], k.Has(id), id)
			first := k.At(HashOf(id))
			require.False(t, want[id] && first == 0, "a free slot says that it is not in the set")
			require.False(t, !want[id] && first == HashOf(id), id)
			if r.IntN(2) == 0 {
				continue
			}
			copied := k.Clone()
			require.Equal(t, !want[id], k.Add(id), id)
			require.Equal(t, want[id], copied.Has(id), "the copy is a set of its own")
			want[id] = true
			require.True(t, k.Has(id), id)
			require.Len(t, want, k.Len())
		}
	}
}

// No two identifiers have the same hash, although they differ in few bits and in their lengths, and none has the hash
// that marks a free slot.
func TestHashOf(t *testing.T) {
	t.Parallel()
	ids := map[NameHash]string{}
	var grow func(id, letters string, most int)
	grow = func(id, letters string, most int) {
		h := HashOf(id)
		require.NotZero(t, h, id)
		require.Equal(t, "", ids[h], "%q has the same hash", id)
		if ids[h] = id; len(id) == most {
			return
		}
		for k := range len(letters) {
			grow(id+letters[k:k+1], letters, most)
		}
	}
	grow("", "0123456789", 5)
	grow("a", "abno/_", 6)
	grow("src/a_long_path/", "./ab", 23)
}
