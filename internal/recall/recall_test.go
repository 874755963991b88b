package recall

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two messages whose short handles are the same have different ones, and each is found by its own.
func TestHandlesDiffer(t *testing.T) {
	a, b := Key{1, 2, 3}, Key{1, 2, 3}
	b[8] = 7
	require.Equal(t, shortHandle(a), shortHandle(b))
	keys := []Key{{9}, a, b, a, b}
	at := func(i int) Key { return keys[i] }
	h := NewHandles(len(keys), at)
	assert.Len(t, h.Of(1), handleDigits)
	assert.Len(t, h.Of(2), longHandleDigits)
	assert.Equal(t, h.Of(1), h.Of(3), "equal messages are one")
	assert.Equal(t, h.Of(2), h.Of(4))
	find := func(handle string) (index int, isSpan bool) { return h.Find(handle) }
	for i, want := range []int{0, 1, 2, 1, 2} {
		got, isSpan := find(h.Of(i))
		assert.Equal(t, want, got)
		assert.False(t, isSpan)
	}
	for _, unknown := range []string{"10000000", "00010000000", "x", ""} {
		got, isSpan := find(unknown)
		assert.Equal(t, -1, got, unknown)
		assert.False(t, isSpan, unknown)
	}
	got, isSpan := find(SpanHandle(b))
	assert.Equal(t, 2, got)
	assert.True(t, isSpan)
}

func FuzzCall(f *testing.F) {
	for _, s := range []string{
		`{"handle":"12345678","from":1,"to":"9","words":"x","pattern":"y","context":1e9}`,
		`"１２３４５６７８"`, `{"lines":"-"}`, `[`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		c := ReadCall(json.RawMessage(raw))
		assert.True(t, c.Handle == "" || isHandle(c.Handle))
		assert.True(t, c.From >= 0 && c.To >= 0 && c.Context >= 0 && c.Context <= maxContext)
	})
}

// A part of a line says where something of the line is missing.
func TestMatchingPart(t *testing.T) {
	line := strings.Repeat("a", 100) + "x" + strings.Repeat("b", 100)
	x := regexp.MustCompile("x")
	assert.Equal(t, line, matchingPart(line, 300, x))
	assert.Equal(t, "… "+strings.Repeat("a", 5)+"x"+strings.Repeat("b", 14)+" …", matchingPart(line, 20, x))
	assert.Equal(t, "aaaa …", matchingPart(line, 4, regexp.MustCompile("a")))
	assert.Equal(t, "… bbbb", matchingPart(line, 4, regexp.MustCompile("b$")))
}
