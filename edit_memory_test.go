package winnow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/winnowgo/winnow"
)

func directory(i int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"directory":"d%02d"}`, i))
}

// A host that plans with a list of its own, and then prepares that list, is not sent what it has written to an older
// one since: the lists of the older request are of that memory.
func TestPlanOfOtherMemory(t *testing.T) {
	text, err := json.Marshal([]winnow.Message{
		user("go"), call("c0", "list", string(directory(0))), result("c0", "list", "ok"),
		call("c1", "list", string(directory(1))),
		result("c1", "list", strings.Repeat("a line of output 4711\n", 20_000)),
		call("c2", "list", string(directory(2))), result("c2", "list", "ok"),
	})
	require.NoError(t, err)
	var older, newer []winnow.Message
	require.NoError(t, json.Unmarshal(text, &older))
	require.NoError(t, json.Unmarshal(text, &newer))
	m := newManager(t, 100_000, &winnow.Options{})
	for range 3 {
		require.NotEmpty(t, prepare(t, m, older).Edits, "else the request is the history itself")
	}
	m.Plan(newer)
	copy(older[3].Parts[0].Arguments, directory(9))
	assert.Equal(t, string(directory(1)), string(prepare(t, m, newer).Messages[3].Parts[0].Arguments))
}
