package meter

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMeterLearns: a provider that counts each estimated token as 1.4, and 5 000 tokens besides, is known after a few
// answers.
func TestMeterLearns(t *testing.T) {
	var m Meter
	assert.Equal(t, 100, m.BilledAs(100), "nothing is known")
	assert.Equal(t, 700, m.Hidden(700), "the host's word")
	for i := 1; i <= 20; i++ {
		estimate := 2_000 * i
		m.Observe(2*i, estimate, 5_000+estimate*14/10, 0)
	}
	assert.InEpsilon(t, 1.4, m.ratio(), .03)
	assert.InDelta(t, 5_000, m.Hidden(0), 2_000)
	assert.True(t, m.IsAnchored(40))
	assert.False(t, m.IsAnchored(39), "a message that the provider counted was changed")
	assert.InEpsilon(t, 5_000+42_000*14/10, m.Tokens(42_000, 40, 0), .01)
	assert.Less(t, m.Margin(42_000, 40), m.Margin(42_000, 39), "what was counted needs no margin")
}

// TestObserveIsBounded: one absurd count moves the ratio no further than a wrong tokenizer could.
func TestObserveIsBounded(t *testing.T) {
	var m Meter
	m.Observe(1, 1_000, 2_000, 0)
	m.Observe(2, 2_000, 10_000_000, 0)
	assert.LessOrEqual(t, m.ratio(), MaxRatio)
	assert.Equal(t, 2_500.0, m.Billed)
}

// TestRoomFits: messages that take the room fit their budget, and with their margin the ceiling.
func TestRoomFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		var m Meter
		for i := range r.IntN(4) {
			m.Observe(i+1, 1_000*(i+1), r.IntN(20_000), r.IntN(2)*500)
		}
		budget, overhead := r.IntN(100_000), r.IntN(3_000)
		ceiling := budget + r.IntN(10_000)
		room := m.Room(budget, ceiling, overhead)
		if room == 0 {
			continue
		}
		require.LessOrEqual(t, m.Tokens(room, -1, overhead), budget)
		require.LessOrEqual(t, m.Tokens(room, -1, overhead)+m.Margin(room, -1), ceiling+1)
		require.GreaterOrEqual(t, m.RoomWithoutMargin(budget, overhead), room)
	}
}
