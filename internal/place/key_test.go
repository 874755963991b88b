package place

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKey(t *testing.T) {
	text, err := json.Marshal(map[Key][]Key{{1}: {{0xab}, {}}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"01000000000000000000000000000000":["ab000000000000000000000000000000",""]}`, string(text))
	var back map[Key][]Key
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, map[Key][]Key{{1}: {{0xab}, {}}}, back)
	for _, tc := range []struct{ text, why string }{
		{`"01"`, "too short"},
		{`"0100000000000000000000000000000001"`, "too long"},
		{`"zz000000000000000000000000000000"`, "no digits"},
		{`1`, "no text"},
	} {
		assert.Error(t, json.Unmarshal([]byte(tc.text), new(Key)), tc.why)
	}
}
