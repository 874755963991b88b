package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestCounted(t *testing.T) {
	h := namelessHistory(8, true)
	m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4)})
	m.Counted(50_000) // nothing was sent
	first := prepare(t, m, h)
	for _, absurd := range []int{-1, 0, 1, first.Tokens / 3, 1_000_000} {
		m.Counted(absurd)
		assert.Equal(t, first.Tokens, m.Plan(h).Tokens, "%d tokens are not of this request", absurd)
	}
	counted := first.Tokens + first.Tokens/3
	m.Counted(counted)
	h = append(h, modelSays("All is well."), userSays("Go on."))
	next := prepare(t, m, h)
	assert.Greater(t, next.Tokens, counted, "the next request goes on from there")
	assert.Less(t, next.Tokens, counted+200, "and only what is new is estimated")
	assert.Equal(t, len(first.Messages), next.FirstChanged, "nothing is sent differently")
}
