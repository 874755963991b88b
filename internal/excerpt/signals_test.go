package excerpt

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// signText is made of the words and marks that signs are made of, whole and in pieces.
func signText(r *rand.Rand, n int) string {
	pieces := []string{"Traceback", "ERROR", "FATAL", "FAIL", "error[E02]", "exit status 1", "exited with code 2", "exit ", "ValueError", "IOException",
		":", ":", ":", "\n", "\n", " ", " ", "_", "1", `"`, ".", "[", "x", "k", "Error", "：", "\xbc", "\x9a", "é", "the", "ROR"}
	ofLists := strings.Fields("error errors exception failed fail fails failure fatal panic traceback killed exit passed ok done")
	for _, list := range [][]string{ofLists, endSigns, reportSigns} {
		pieces = append(pieces, list...)
	}
	var b strings.Builder
	for range n {
		piece := pieces[r.IntN(len(pieces))]
		switch r.IntN(6) {
		case 0:
			piece = strings.ToUpper(piece)
		case 1:
			piece = piece[:len(piece)-1]
		case 2:
			piece += " "
		}
		b.WriteString(piece)
	}
	return b.String()
}

// The quick ways to find a sign find what the slow ones do.
func TestQuickLooksLeaveNothingOut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	ends, reports := 0, 0
	for n := range 20_000 {
		s := signText(r, 1+n%25)
		slow := false
		for w := range words(s) {
			slow = slow || endWords.Has(w.text)
		}
		require.Equal(t, slow, endWords.In(s), "%q", s)
		for line := range strings.Lines(s) {
			if reportsError(line) {
				reports++
				require.True(t, mayReport(line), "%q", line)
			}
		}
		if slow {
			ends++
		}
	}
	assert.Greater(t, ends, 1000)
	assert.Greater(t, reports, 1000)
}
