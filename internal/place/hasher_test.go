package place

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHasher: a key depends on where each text ends, and not on how it passes through the buffer or on earlier keys.
func TestHasher(t *testing.T) {
	var h Hasher
	keyOf := func(texts ...string) Key {
		h.Begin()
		for _, s := range texts {
			h.Text(s)
		}
		return h.Key()
	}
	assert.NotEqual(t, keyOf("ab", "c"), keyOf("a", "bc"), "each text has its length in front")
	for _, n := range []int{0, 1, 7, 1_007, 1_008, 1_015, 1_016, 1_017, 1_023, 1_024, 5_000} {
		s := strings.Repeat("x", n)
		want := keyOf("first", s, "last")
		h.Begin()
		h.Text("first")
		h.Bytes([]byte(s)) // which goes past the buffer
		h.Text("last")
		assert.Equal(t, want, h.Key(), "a text of %d bytes", n)
	}
}
