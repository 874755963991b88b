package accounting

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuessCountsByItsEvidence(t *testing.T) {
	const believed = 45_000
	near, middle, far := Refused{40_000, 40_000}, Refused{24_000, 24_000}, Refused{7_118, 7_118}
	settle := func(g Limit, runs ...Refused) Limit {
		for _, s := range runs {
			limit := s.Smallest * 7 / 10
			g = g.Settle(s, limit, limit-100, believed)
		}
		return g
	}
	for _, tt := range []struct {
		reason string
		guess  Limit
		limit  int
	}{
		{"about as large as what was believed to fit", settle(Limit{}, near), 28_000},
		{"well below: it may be another fault", settle(Limit{}, middle), 0},
		{"twice at the same size", settle(Limit{}, middle, middle), 16_800},
		{"at two sizes that have nothing to do with each other", settle(Limit{}, middle, Refused{19_000, 19_000}), 0},
		{"far below", settle(Limit{}, far, far), 0},
		{"far below, again and again", settle(Limit{}, far, far, far), 4_982},
		{"one that counts and was too high", settle(Limit{Most: 40_000, Refusals: 1}, middle), 16_800},
		{"nothing was refused without numbers", settle(Limit{Most: 40_000, Refusals: 1}, Refused{}), 40_000},
		{"found in several steps", settle(Limit{}, Refused{44_000, 21_560}), 15_092},
	} {
		assert.Equal(t, tt.limit, tt.guess.Most, tt.reason)
	}

	g := settle(Limit{}, middle)
	g.Take(24_000, believed)
	assert.Equal(t, Limit{}, g, "one as large was taken: it was another fault")
	g = settle(Limit{}, middle)
	for range patience {
		g.Take(1_000, believed)
	}
	assert.Equal(t, Limit{}, g, "too long ago")
}

func TestGuessIsRaisedStepByStep(t *testing.T) {
	const told = 45_000
	g := Limit{}.Settle(Refused{40_000, 40_000}, 28_000, 27_000, told)
	g.Take(10_000, told)
	assert.Equal(t, 28_000, g.Most, "a small request says nothing")
	g.Take(27_500, told)
	assert.Equal(t, 29_400, g.Most)
	for range 20 {
		g.Take(g.Most, told)
	}
	assert.Equal(t, 36_000, g.Most, "not up to what was refused")
	for range 2 * patience {
		g.Take(g.Most, told)
	}
	assert.Equal(t, Limit{}, g, "in the end it is what was told")

	g = Limit{Most: 28_000, Refused: 40_000, Refusals: 1}
	g.Take(41_000, told)
	assert.Greater(t, g.Most, 40_000, "what was refused was taken")
	g.Take(g.Most, 0)
	assert.Positive(t, g.Most, "nothing was told")
}
