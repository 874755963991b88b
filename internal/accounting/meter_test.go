package accounting

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
		m.Observe(Anchor{Messages: 2 * i, Estimate: estimate, Prompt: 5_000 + estimate*14/10}, estimate, 0)
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
	m.Observe(Anchor{Messages: 1, Estimate: 1_000, Prompt: 2_000}, 1_000, 0)
	m.Observe(Anchor{Messages: 2, Estimate: 2_000, Prompt: 10_000_000}, 2_000, 0)
	assert.LessOrEqual(t, m.ratio(), MaxRatio)
	assert.Equal(t, 2_500.0, m.Billed)
}

// TestRoomFits: messages that take the room fit their budget, and with their margin the ceiling.
func TestRoomFits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		var m Meter
		for i := range r.IntN(4) {
			m.Observe(Anchor{Messages: i + 1, Estimate: 1_000 * (i + 1), Prompt: r.IntN(20_000)}, 1_000*(i+1), r.IntN(2)*500)
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

// TestHiddenInSmallConversations: a provider counts each estimated token as 2, and 800 tokens besides. In a few
// thousand tokens the ratio is hardly known. The first counts still bound what is hidden, so that the rest is blamed on
// the ratio.
func TestHiddenInSmallConversations(t *testing.T) {
	var m Meter
	for estimate := 50; estimate <= 2_000; estimate += 150 {
		m.Observe(Anchor{Messages: estimate, Estimate: estimate, Prompt: 800 + 2*estimate}, estimate, 0)
	}
	assert.InDelta(t, 800, m.Hidden(0), 200)
	assert.InDelta(t, 800+2*500, m.Tokens(500, 0, 0), 200, "a smaller request")
	// Tools of 20 000 tokens are added. They are hidden too, and say nothing of the ratio.
	m.Observe(Anchor{Messages: 2_100, Estimate: 2_100, Prompt: 20_800 + 2*2_100}, 2_100, 0)
	assert.InDelta(t, 2, m.ratio(), .2)
	assert.InDelta(t, 20_800, m.Hidden(0), 700)
	// As many are added together with a large result, so that nobody sees it at once.
	m.Observe(Anchor{Messages: 2_200, Estimate: 32_100, Prompt: 40_800 + 2*32_100}, 32_100, 0)
	m.Observe(Anchor{Messages: 10, Estimate: 1_000, Prompt: 40_800 + 2*1_000}, 1_000, 0)
	assert.InDelta(t, 40_800, m.Hidden(0), 2_500, "a small request shows it")
	m.Observe(Anchor{Messages: 1, Estimate: 100, Prompt: 800 + 2*100}, 100, 0)
	assert.LessOrEqual(t, m.Hidden(0), 1_000, "the tools are gone")
}

// TestToolsBesideALargeMessage: tools of 30 000 tokens are added together with a message of 20 000. Nothing shows them at
// first. What the following messages are billed as does.
func TestToolsBesideALargeMessage(t *testing.T) {
	var m Meter
	m.Observe(Anchor{Messages: 1, Estimate: 100, Prompt: 150}, 100, 0)
	m.Observe(Anchor{Messages: 3, Estimate: 20_100, Prompt: 50_150}, 20_100, 0)
	for i := 1; i <= 60; i++ {
		m.Observe(Anchor{Messages: 3 + i, Estimate: 20_100 + 500*i, Prompt: 50_150 + 500*i}, 20_100+500*i, 0)
	}
	assert.InDelta(t, 1_000, m.BilledAs(1_000), 30)
	assert.InDelta(t, 30_050, m.Hidden(0), 1_000)
}
