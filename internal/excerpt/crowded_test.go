package excerpt

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/ascii"
)

// In texts that are crowded with colons and brackets, each that may be the sign of a report is found by the byte in
// front of it, wherever it stands in a block.
func TestSigns(t *testing.T) {
	found := 0
	for _, mark := range []reportMark{colonMark, bracketMark} {
		for before := range 128 {
			for at := 1; at < 8; at++ {
				text := []byte("::::::::: ")
				text[at], text[at+1] = byte(before), mark.mark
				w0, w1 := ascii.LoadWord(string(text), 0), ascii.LoadWord(string(text), 1)
				isFound := signs(w0, w1)>>(8*at)&0x80 != 0
				isFoundToo := signsButO(w0, w1)>>(8*at)&0x80 != 0
				if mark.mayBeBeside(byte(before)) {
					require.True(t, isFound && isFoundToo, "%q behind %q at %d", mark.mark, before, at)
					found++
				}
				letter := before | 0x20
				require.Equal(t, before >= 'A' && letter >= 'c' && letter <= 'r', isFound, "%q behind %q at %d", mark.mark, before, at)
				require.False(t, letter == 'o' && isFoundToo, "%q behind %q at %d", mark.mark, before, at)
			}
		}
	}
	require.Positive(t, found)
	for _, c := range []crowded{{}, {files: true}} {
		for at := range 80 {
			text := strings.Repeat(":", at) + "\nerror: x\n" + strings.Repeat(":", 50)
			require.Equal(t, at+6, c.nextSign(text, 0, false), "at %d", at)
			text = strings.Repeat(":", at) + "\nerror[E1]\n" + strings.Repeat("[", 50)
			require.Equal(t, at+6, c.nextSign(text, 0, false), "at %d", at)
		}
	}
}

// noise has what reports begin and end with, in any case, among signs, letters and bytes that are not UTF-8.
func noise(r *rand.Rand, pieces int) string {
	var b strings.Builder
	for range pieces {
		piece := []string{"error", "ValueError", "exception", "fatal", "panic", "failed", "failure", "exit", "ex", "i", "x",
			"go", "main.go:12", ":", ": ", "[", "\n", " ", "_", "a", "o", "r", "\xff", "\xc2", "\xc3r", "é", "误", "：",
			strings.Repeat("-", r.IntN(80))}[r.IntN(29)]
		if r.IntN(4) == 0 {
			piece = strings.ToUpper(piece)
		}
		if r.IntN(8) == 0 && piece != "" {
			k := r.IntN(len(piece))
			piece = piece[:k] + strings.ToUpper(piece[k:])
		}
		b.WriteString(piece)
	}
	return b.String()
}

// Eight bytes at a time, the same places are found as one by one.
func TestCrowdedFindsTheSame(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(3_000) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := noise(r, r.IntN(120))
		for _, c := range []crowded{{}, {files: true}} {
			for _, isWide := range []bool{false, true} {
				at := 0
				for i := range len(s) + 1 {
					// Without isWide, only what stands behind ASCII is found.
					if i < len(s) && (!isSign(s, i) || !isWide && s[i-1] >= 0x80) {
						continue
					}
					got := c.nextSign(s, at, isWide)
					for !isWide && got < i { // found beside something else
						require.True(t, isSign(s, got), "%q at %d", s, got)
						got = c.nextSign(s, got+1, isWide)
					}
					require.Equal(t, i, got, "%q from %d, %v %v %q", s, at, c, isWide, s[max(0, i-10):min(len(s), i+1)])
					at = i + 1
					found++
				}
			}
		}
		for at := 0; at < len(s); {
			want := exitMark.next(s, at)
			require.Equal(t, want, nextExit(s, at), "%q from %d", s, at)
			at = want + 1
		}
	}
	require.Greater(t, found, 10_000)
}
