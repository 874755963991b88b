package winnow

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/minify"
)

// A glance at a result that is new leaves out no form that can be left out of it.
func TestRedundantIn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"\n", "\r", "\r\n", "\x1b[32m", "\x1b[0m", "\t", " ", "12", "7: ", "a.go:12:text\n", "a.go:13:text\n",
		"receiving 3%\r", "{\n  \"a\": 1\n}\n", strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo9", 80), "words", "é"}
	kinds := []minify.Forms{minify.LineNumbers, minify.Escapes, minify.All}
	found := map[minify.Forms]int{}
	for range 5_000 {
		var b strings.Builder
		for range r.IntN(6) {
			piece := pieces[r.IntN(len(pieces))]
			if r.IntN(4) == 0 {
				separator := []string{"→", "\t", ": ", "| "}[r.IntN(4)]
				for k := range r.IntN(40) {
					fmt.Fprintf(&b, "%*d%s%s\n", r.IntN(7), k+1, separator, pieces[r.IntN(len(pieces))][:0])
				}
			}
			b.WriteString(strings.Repeat(piece, 1+r.IntN(20)))
		}
		m := Message{Role: RoleTool, Parts: []Part{{Text: b.String()}}}
		may := redundantIn(&m)
		for _, forms := range kinds {
			parts, had, ok := minifiedParts(m.Parts, forms, "")
			quick, quickHad, quickOK := minifiedParts(m.Parts, forms&may, "")
			require.Equal(t, parts, quick, "%q without %v", b.String(), forms)
			require.Equal(t, had, quickHad)
			require.Equal(t, ok, quickOK)
			found[had]++
		}
	}
	for form := minify.Escapes; form <= minify.Data; form <<= 1 {
		n := 0
		for had, times := range found {
			if had&form != 0 {
				n += times
			}
		}
		assert.Positive(t, n, "texts with %v", form)
	}
}
