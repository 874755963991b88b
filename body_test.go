package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A conversation of nothing but text goes on in front of a gateway with a small limit: a summary makes room
// where neither images nor results are left to shrink.
func TestBodyOfTextIsCompacted(t *testing.T) {
	const most = 300_000
	m := newManager(t, 200_000, &winnow.Options{MaxBytes: most, Now: newClock().Now})
	compactions, largest := 0, 0
	for n := 2; n <= 300; n += 2 {
		plan := m.Plan(chat(n, 4_000))
		r := prepare(t, m, chat(n, 4_000))
		require.Equal(t, r.Compaction != nil, plan.NeedsCompaction, "request with %d messages", n)
		require.LessOrEqual(t, r.Bytes, most, "request with %d messages", n)
		largest = max(largest, r.Bytes)
		if r.Compaction != nil {
			compactions++
		}
	}
	assert.Positive(t, compactions)
	assert.Less(t, compactions, 15, "each makes room for many requests")
	assert.Greater(t, largest, most*3/4, "what is allowed is used")

	off := newManager(t, 200_000, &winnow.Options{MaxBytes: most, Now: newClock().Now, Compact: &winnow.CompactOptions{Off: true}})
	_, err := off.Prepare(t.Context(), chat(300, 4_000))
	var full *winnow.OverflowError
	require.ErrorAs(t, err, &full)
	assert.Greater(t, full.Bytes, full.MaxBytes)
}

// Two messages that read the same are two: an older one whose image had to go takes nothing from the newest.
func TestNewestRequestKeepsItsImage(t *testing.T) {
	picture := withImage(userSays("What is this?"), 60_000)
	m := newManager(t, 200_000, &winnow.Options{MaxBytes: 100_000, Now: newClock().Now})
	h := list(picture, modelSays("A cat."), userSays("Thanks."), modelSays("Welcome."))
	prepare(t, m, h[:3])
	h = append(h, withImage(userSays("And this?"), 60_000))
	r := prepare(t, m, h)
	images, _ := imagesOf(r.Messages)
	require.Equal(t, 1, images, "the older image had to go")
	h = append(h, modelSays("A dog."), picture)
	r = prepare(t, m, h)
	last := r.Messages[len(r.Messages)-1]
	assert.Equal(t, picture.Parts, last.Parts)
}
