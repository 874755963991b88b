package prose

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// inByBytes is In, byte by byte.
func (l *List) inByBytes(s string) bool {
	l.once.Do(l.index)
	wide := false
	for i := 0; i+1 < len(s); i++ {
		c := s[i]
		switch {
		case c >= 0x80:
			wide = true
		case c == '\\':
			i++
		case wordByte(c):
			if slices.ContainsFunc(l.words, func(w string) bool { return beginsWithWord(s[i:], w) }) {
				return true
			}
			for i+1 < len(s) && wordByte(s[i+1]) {
				i++
			}
		}
	}
	return l.hasPart(s, wide)
}

// Words are found eight bytes at a time where they would be found byte by byte: of any bytes, and wherever they stand.
func TestInByWords(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"must", "don't", "don’t", "do not", "MUST", "_must", "must_", "1must", "必须", "\\", "\\n", " ", ". ", "é", "x",
		"mustard", "on", "only", "@", "[", "`", "{", "/", ":", "Z", "z", "\x7f", "\x00", "\xff", "'", "never"}
	found := 0
	for range 200_000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		s := b.String()
		want := Rules.inByBytes(s)
		if want {
			found++
		}
		if got := Rules.In(s); got != want {
			t.Fatalf("%q: %v, byte by byte %v", s, got, want)
		}
	}
	others := []*List{Notes, NewList([]string{"exit", "exit_code", "i'd rather", "no", "x-y:z"}, nil)}
	for _, l := range others {
		pieces = append(pieces, l.words...)
	}
	for range 200_000 {
		s := ""
		for range r.IntN(5) {
			piece := []byte(pieces[r.IntN(len(pieces))])
			for range r.IntN(3) {
				piece[r.IntN(len(piece))] ^= ' '
			}
			s += string(piece) + " "
		}
		s = strings.TrimSuffix(s, " ")
		for k, l := range others {
			if got, want := l.In(s), l.inByBytes(s); got != want {
				t.Fatalf("%q: %v, byte by byte %v, list %d", s, got, want, k)
			}
		}
	}
	if found < 10_000 || found > 195_000 {
		t.Fatalf("%d texts have a word of the list", found)
	}
}

// BenchmarkIn looks for rules in prose that has none.
func BenchmarkIn(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over 12 lazy dogs, and nobody knows what it wanted there. ", 50)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if Rules.In(text) {
			b.Fatal("a rule")
		}
	}
}
