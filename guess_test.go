package winnow

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuessCountsByItsEvidence(t *testing.T) {
	const believed = 45_000
	near, middle, far := refusedSizes{40_000, 40_000}, refusedSizes{24_000, 24_000}, refusedSizes{7_118, 7_118}
	settle := func(g guess, runs ...refusedSizes) guess {
		for _, s := range runs {
			limit := s.smallest * 7 / 10
			g = g.settle(s, limit, limit-100, believed)
		}
		return g
	}
	for _, tt := range []struct {
		reason string
		guess  guess
		limit  int
	}{
		{"about as large as what was believed to fit", settle(guess{}, near), 28_000},
		{"well below: it may be another fault", settle(guess{}, middle), 0},
		{"twice at the same size", settle(guess{}, middle, middle), 16_800},
		{"at two sizes that have nothing to do with each other", settle(guess{}, middle, refusedSizes{19_000, 19_000}), 0},
		{"far below", settle(guess{}, far, far), 0},
		{"far below, again and again", settle(guess{}, far, far, far), 4_982},
		{"one that counts and was too high", settle(guess{limit: 40_000, refusals: 1}, middle), 16_800},
		{"nothing was refused without numbers", settle(guess{limit: 40_000, refusals: 1}, refusedSizes{}), 40_000},
		{"found in several steps", settle(guess{}, refusedSizes{44_000, 21_560}), 15_092},
	} {
		assert.Equal(t, tt.limit, tt.guess.limit, tt.reason)
	}

	g := settle(guess{}, middle)
	g.take(24_000, believed)
	assert.Equal(t, guess{}, g, "one as large was taken: it was another fault")
	g = settle(guess{}, middle)
	for range patience {
		g.take(1_000, believed)
	}
	assert.Equal(t, guess{}, g, "too long ago")
}

func TestGuessIsRaisedStepByStep(t *testing.T) {
	const told = 45_000
	g := guess{}.settle(refusedSizes{40_000, 40_000}, 28_000, 27_000, told)
	g.take(10_000, told)
	assert.Equal(t, 28_000, g.limit, "a small request says nothing")
	g.take(27_500, told)
	assert.Equal(t, 29_400, g.limit)
	for range 20 {
		g.take(g.limit, told)
	}
	assert.Equal(t, 36_000, g.limit, "not up to what was refused")
	for range 2 * patience {
		g.take(g.limit, told)
	}
	assert.Equal(t, guess{}, g, "in the end it is what was told")

	g = guess{limit: 28_000, refused: 40_000, refusals: 1}
	g.take(41_000, told)
	assert.Greater(t, g.limit, 40_000, "what was refused was taken")
	g.take(g.limit, 0)
	assert.Positive(t, g.limit, "nothing was told")
}
