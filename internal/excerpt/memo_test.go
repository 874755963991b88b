package excerpt

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/identifier"
)

// A Memo gives the same names as a search of the text, whatever names are known by then. It searches each text once.
func TestMemo(t *testing.T) {
	t.Parallel()
	memo := &Memo{}
	search := nameSearch{memo: memo}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := mixture(r, 3_000)
		text = strings.Repeat(text, leastRemembered/len(text)+1)
		for range 3 {
			known := NewNames(0)
			known.Add(mixture(r, r.IntN(1_000)))
			var got []foundName
			search.each(&known.known, text, leastNameWorth, func(f foundName, _ float64) {
				got = append(got, foundName{id: f.id, worth: f.worth, tokens: f.tokens})
			})
			require.Equal(t, namesByMap(&known.known, text, leastNameWorth), got, "seed %d", seed)
			again := NewNames(0).Remember(memo)
			again.Add(text)
			var covered identifier.Known
			identifier.Cover(&covered, text)
			require.Equal(t, covered.Len(), again.known.Len(), "seed %d", seed)
			identifier.Scan(text, func(id string, _ identifier.Kind) { require.True(t, again.known.Has(id), id) })
		}
		require.Len(t, memo.texts[len(text)], 1, "it was searched once")
	}
	names := memo.names
	search.each(&identifier.Known{}, "a_short_text", 0, func(foundName, float64) {})
	assert.Equal(t, names, memo.names, "short texts are not remembered")
	short := strings.Repeat("a_short_text ", leastShort)[:leastShort]
	search.each(&identifier.Known{}, short, 0, func(foundName, float64) {})
	assert.Equal(t, names, memo.names, "before it is asked for")
	memo.RememberShort()
	search.each(&identifier.Known{}, short, 0, func(foundName, float64) {})
	assert.Greater(t, memo.names, names)
	memo.names = mostRemembered
	search.each(&identifier.Known{}, strings.Repeat("a_long_text ", leastRemembered), 0, func(foundName, float64) {})
	assert.Equal(t, mostRemembered, memo.names, "there was no room")
}
