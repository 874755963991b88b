package saved

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file may hold any number, at every depth; those that may be negative say so.
func TestInRange(t *testing.T) {
	var s Snapshot
	require.NoError(t, json.Unmarshal([]byte(`{"tokens":-5,"bytes":7,"accounting":{"messages":-9,"billed":-1},"breaker":{"total":-3,"failures":-3},
		"promise":{"kept":-2,"base":{"held":-1}},"names":[{"firstKept":{"index":-4}}],"attempt":{"before":{"turnStart":{"index":-1}}}}`), &s))
	s.InRange()
	assert.Equal(t, []int{0, 7, -1, 0, -3, 0, -1, 0, 0, 0}, []int{s.Tokens, s.Bytes, s.Accounting.Messages, int(s.Accounting.Billed), s.Breaker.Total,
		s.Breaker.Failures, s.Promise.Kept, s.Promise.Base.Held, s.Names[0].FirstKept.Index, s.Recovery.Before.TurnStart.Index})
}
