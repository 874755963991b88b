package runes

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// OneLine says what the words of a text joined by spaces say, whatever white space stands where.
func TestOneLine(t *testing.T) {
	for _, s := range []string{
		"", " ", "a", " a", "a ", "a b", "a  b", "1234567 ", "1234567  8", "12345678 9", "1234567 \n8", "a\tb", "a\u00a0b", "a\u2028b", "a\u0085b",
		"a \u3000b", "a\x1bb", "a\x7fb", "\xffa\x80 b", "字 字  字", "some words in a line, and more of them", "some words\nin two lines",
	} {
		assert.Equal(t, strings.Join(strings.Fields(s), " "), OneLine(s), "%q", s)
	}
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{" ", "a", "bcd", "efghijkl", "\n", "字", "\u00a0", "\xff", "\x00"}
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(parts[min(r.IntN(len(parts)), r.IntN(len(parts)))])
		}
		s := b.String()
		assert.Equal(t, strings.Join(strings.Fields(s), " "), OneLine(s), "%q", s)
	}
}
