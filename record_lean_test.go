package winnow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Where records fill the window, the older ones get leaner and become one, so that a conversation can go on for ever
// without a summarizer.
func TestRecordsGetLeaner(t *testing.T) {
	t.Parallel()
	c := newClock()
	o := winnow.Options{
		Keep: winnow.KeepWork, Estimator: byChars, Now: c.Now, Compact: &winnow.CompactOptions{Off: true},
		Minify: &winnow.MinifyOptions{Off: true},
	}
	m := newManager(t, 12_000, &o)
	h := runs(800)
	most, last := 0, 0
	var r *winnow.Request
	for n := 3; n <= len(h); n += 2 {
		c.pass(10 * time.Second)
		state := []byte(snapshotOf(t, m))
		var err error
		r, err = m.Prepare(t.Context(), h[:n])
		require.NoError(t, err, "%d messages", n)
		if n%50 == 3 {
			requestCheck{estimator: byChars}.check(t, h[:n], r)
			twin := newManager(t, 12_000, &o)
			require.NoError(t, twin.Restore(state))
			sameWire(t, r.Messages, prepare(t, twin, h[:n]).Messages, "restored")
		}
		last = len(recordsIn(r.Messages))
		most = max(most, last)
	}
	texts := recordsIn(r.Messages)
	assert.Greater(t, most, 3)
	assert.NotContains(t, texts[0], "\n", "of the oldest only how much there was is left")
	assert.Contains(t, texts[len(texts)-1], "\nSaid: ")
	assert.Contains(t, texts[0], "earlier messages")
}
