package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A call without a result in the history is not recorded as failed: its record says that nobody knows whether it ran.
func TestRecordOfALostResult(t *testing.T) {
	t.Parallel()
	m := newManager(t, 6_000, &winnow.Options{
		Estimator: byChars, Now: newClock().Now, Cache: &winnow.CacheOptions{None: true},
		Compact: &winnow.CompactOptions{Off: true},
	})
	h := []winnow.Message{userSays("Deploy it.")}
	for i := range 20 {
		id := "call_" + itoa(i)
		h = append(h, modelSends(callPart(id, "deploy")))
		if i != 3 {
			h = append(h, winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "deploy",
				Parts: []winnow.Part{textPart(strings.Repeat("step of the deployment\n", 40))}})
		}
	}
	records := strings.Join(recordsIn(prepare(t, m, h).Messages), "\n")
	require.NotEmpty(t, records)
	assert.Equal(t, 1, strings.Count(records, "→ no result; whether it ran is not known"), records)
	assert.NotContains(t, records, "failed")
}
