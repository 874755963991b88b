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

// Of a text that somebody redacted, most changes are found wherever they are.
func TestAddSpread(t *testing.T) {
	for _, n := range []int{8, 100, 8 * spreadWords, 8*spreadWords + 1, 1 << 16} {
		s := strings.Repeat("x", n)
		before := AddSpread(1, s)
		assert.Equal(t, before, AddSpread(1, strings.Clone(s)), "it does not depend on where the text lies")
		found := 0
		const parts = 16
		for k := range parts { // a redaction of an eighth of the text
			from := (n - n/8) * k / (parts - 1)
			if AddSpread(1, s[:from]+strings.Repeat("#", max(1, n/8))+s[from+max(1, n/8):]) != before {
				found++
			}
		}
		assert.GreaterOrEqual(t, found, parts-1, "%d bytes", n)
	}
	assert.Equal(t, uint64(1), AddSpread(1, "short"))
}

func TestPlace(t *testing.T) {
	s := strings.Repeat("x", 10)
	assert.Equal(t, Place(s), Place(s))
	assert.NotEqual(t, Place(s), Place(s[:9]))
	assert.NotEqual(t, Place(s), Place(strings.Clone(s)))
}
