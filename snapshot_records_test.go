package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A snapshot whose records are damaged is refused.
func TestRestoreRefusesDamagedRecords(t *testing.T) {
	t.Parallel()
	m := folding(t, winnow.Options{})
	prepare(t, m, runs(12))
	state := snapshotOf(t, m)
	require.Contains(t, state, `"records":[{`)
	for _, damage := range [][2]string{
		{`"count":`, `"count":-`}, {`"text":"`, `"text":"AAAA`}, {`"run":"`, `"run":"x`}, {`"last":"`, `"last":"x`},
	} {
		at := strings.Index(state, `"records"`)
		damaged := state[:at] + strings.Replace(state[at:], damage[0], damage[1], 1)
		require.NotEqual(t, state, damaged)
		assert.Error(t, folding(t, winnow.Options{}).Restore([]byte(damaged)), damage[1])
	}
}
