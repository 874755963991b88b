package sample

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A text is known by its memory: a copy is another one, unless it is short enough to be read whole.
func TestAdd(t *testing.T) {
	for _, n := range []int{1, 7, 8, Long, Long + 1, 10_000} {
		s := strings.Repeat("x", n)
		copied := strings.Clone(s)
		assert.Equal(t, Add(1, s, false), Add(1, s, false), "%d bytes", n)
		assert.Equal(t, n <= Long, Add(1, s, false) == Add(1, copied, false), "%d bytes, copied", n)
		assert.Equal(t, Add(1, s, true), Add(1, copied, true), "%d bytes, read whole", n)
		changed := s[:n-1] + "y"
		assert.NotEqual(t, Add(1, s, true), Add(1, changed, true), "%d bytes, changed", n)
	}
	assert.NotEqual(t, Add(Add(1, "ab", false), "c", false), Add(Add(1, "a", false), "bc", false), "where a text ends counts")
	assert.NotEqual(t, Add(1, "", false), uint64(1), "so does an empty text")
	assert.NotEqual(t, Mix(0, 0), uint64(0))
}

func TestPlace(t *testing.T) {
	s := strings.Repeat("x", 10)
	assert.Equal(t, Place(s), Place(s))
	assert.NotEqual(t, Place(s), Place(s[:9]))
	assert.NotEqual(t, Place(s), Place(strings.Clone(s)))
}
