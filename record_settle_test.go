package winnow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Without a prompt cache, records may be rewritten at any request. Yet the same history gives the same request again.
func TestRecordsSettleWithoutACache(t *testing.T) {
	t.Parallel()
	folded := 0
	for seed := range count(100, 100) {
		d := seeded(uint64(2_000_400 + seed))
		s := randomSetting(d, newClock())
		s.options.Cache = &winnow.CacheOptions{None: true}
		m := newManager(t, s.window, &s.options)
		for _, in := range prefixes(d, historyFrom(d)) {
			r, err := m.Prepare(t.Context(), in)
			if err != nil {
				continue
			}
			folded += len(recordsIn(r.Messages))
			if slices.ContainsFunc(r.Edits, func(e winnow.Edit) bool { return strings.HasPrefix(e.Reason, "its images are left out") }) {
				continue // a last resort: without its images a step can be folded, so the next request may be smaller
			}
			again, err := m.Prepare(t.Context(), in)
			require.NoError(t, err)
			sameWire(t, r.Messages, again.Messages, "seed "+itoa(seed))
		}
	}
	assert.Greater(t, folded, 30)
}
