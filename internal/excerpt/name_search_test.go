package excerpt

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// namesByMap is what nameSearch finds, in the plain way.
func namesByMap(known *identifier.Known, text string, least float64) (found []foundName) {
	mentions, kinds := map[string]int{}, map[string]identifier.Kind{}
	var order []string
	identifier.Scan(text, func(id string, kind identifier.Kind) {
		if known.Has(id) {
			return
		}
		if mentions[id]++; mentions[id] == 1 {
			order, kinds[id] = append(order, id), kind
		}
	})
	crowd := min(1, listingNames/float64(max(1, len(order))))
	for _, id := range order {
		tokens := tokencount.Cautious(id) + 1
		worth := nameWorth[kinds[id]] * math.Pow(float64(mentions[id]), namePower) * crowd / float64(tokens)
		if worth >= least {
			found = append(found, foundName{id: id, worth: worth, tokens: int32(tokens)})
		}
	}
	return found
}

// A search finds the same names as a plain one: in short texts, in listings, and behind a listing with the same memory.
func TestNameSearch(t *testing.T) {
	t.Parallel()
	var listing strings.Builder
	for range 3_000 {
		listing.WriteString("name_" + randomWord(rand.New(rand.NewPCG(uint64(listing.Len()), 1))) + " ")
	}
	var search nameSearch
	found, tooCheap := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		text, known := mixture(r, r.IntN(4_000)), NewNames(0)
		known.Add(mixture(r, r.IntN(300)))
		if seed%50 == 3 {
			text = listing.String() + text
		}
		for _, least := range []float64{0, leastNameWorth} {
			var got []foundName
			search.each(&known.known, text, least, func(f foundName, _ float64) {
				got = append(got, foundName{id: f.id, worth: f.worth, tokens: f.tokens})
			})
			require.Equal(t, namesByMap(&known.known, text, least), got, "seed %d", seed)
			found += len(got)
			if least == 0 {
				tooCheap += len(got) - len(namesByMap(&known.known, text, leastNameWorth))
			}
		}
	}
	require.Positive(t, tooCheap)
	require.Greater(t, found, 10_000)
}

func randomWord(r *rand.Rand) string {
	letters := []byte("abcdefghij")
	r.Shuffle(len(letters), func(i, k int) { letters[i], letters[k] = letters[k], letters[i] })
	return string(letters[:3+r.IntN(5)])
}
