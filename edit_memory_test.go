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

// A host that decodes its log into the same list overwrites the arguments of calls where they lie, because
// json.RawMessage keeps its memory. What was sent of a call stays what it was.
func TestEditsKeepTheirArguments(t *testing.T) {
	long := `{"text":"` + strings.Repeat("a line that was written to a file\\n", 80) + `"}`
	var log []winnow.Message
	for i := range 12 {
		id := fmt.Sprint("c", i)
		log = append(log, user("and the next"), winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
			{Kind: winnow.KindToolCall, ID: id + "w", Name: "write", Arguments: json.RawMessage(long)},
			{Kind: winnow.KindToolCall, ID: id + "l", Name: "list", Arguments: directory(i)},
		}}, result(id+"w", "write", "written"), result(id+"l", "list", "nothing"))
	}
	var history []winnow.Message
	decode := func(log []winnow.Message) {
		text, err := json.Marshal(log)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &history))
	}
	m := newManager(t, 100_000, &winnow.Options{Cache: &winnow.CacheOptions{None: true}})
	decode(log)
	require.NotEmpty(t, prepare(t, m, history).Edits)
	decode(log[4:]) // the host has dropped its first turn: every call lies where another one lay
	r := prepare(t, m, history)
	require.NotEmpty(t, r.Edits)
	i := 1
	for _, m := range r.Messages {
		if m.Role == winnow.RoleAssistant {
			assert.Equal(t, string(directory(i)), string(m.Parts[1].Arguments), m.Parts[1].ID)
			i++
		}
	}
}

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
