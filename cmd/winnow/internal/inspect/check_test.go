package inspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/recording"
)

// compacted is a session of Claude Code that was compacted once. Its summary names one of two changed files and one of
// two prohibitions, and nothing of the plan and the failure.
const compacted = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","cwd":"/w","version":"2.0.0","timestamp":"2026-06-01T09:00:00Z","message":{"role":"user","content":"Mend the parser. Never touch lexer.go. Please do not add packages."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","timestamp":"2026-06-01T09:00:10Z","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[{"content":"Mend parse.go","status":"completed"},{"content":"Write a test for openCalls","status":"pending"}]}},{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/w/src/parse.go","old_string":"a","new_string":"b"}},{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"/w/src/parse_test.go","content":"x"}},{"type":"tool_use","id":"t4","name":"Bash","input":{"command":"go test"}}],"usage":{"input_tokens":10,"cache_creation_input_tokens":20000,"cache_read_input_tokens":0,"output_tokens":200}}}
{"type":"user","uuid":"r1","parentUuid":"a1","timestamp":"2026-06-01T09:00:20Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"},{"type":"tool_result","tool_use_id":"t2","content":"ok"},{"type":"tool_result","tool_use_id":"t3","content":"ok"},{"type":"tool_result","tool_use_id":"t4","is_error":true,"content":"FAIL\nparse_test.go:12: openCalls is 3"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"r1","timestamp":"2026-06-01T09:00:30Z","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Next I count the calls in closeAll."}],"usage":{"input_tokens":10,"cache_creation_input_tokens":400,"cache_read_input_tokens":20000,"output_tokens":20}}}
{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"logicalParentUuid":"a2","timestamp":"2026-06-01T09:01:00Z","compactMetadata":{"trigger":"auto","preTokens":20500}}
{"type":"user","uuid":"c1","parentUuid":"b1","isCompactSummary":true,"timestamp":"2026-06-01T09:01:00Z","message":{"role":"user","content":"Summary: src/parse.go was edited. Rule: Never touch lexer.go."}}
{"type":"user","uuid":"u2","parentUuid":"c1","timestamp":"2026-06-01T09:02:00Z","message":{"role":"user","content":"Go on."}}
{"type":"assistant","uuid":"a3","parentUuid":"u2","timestamp":"2026-06-01T09:02:10Z","message":{"id":"m3","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"openCalls is counted twice in parse_test.go."}],"usage":{"input_tokens":10,"cache_creation_input_tokens":19000,"cache_read_input_tokens":0,"output_tokens":20}}}
`

// TestChecks: what the summary of a recording has, counted by hand, and what winnow's request has, which is all: it
// had no reason to leave anything out.
func TestChecks(t *testing.T) {
	s, err := recording.Open([]byte(compacted))
	require.NoError(t, err)
	list, err := Checks(t.Context(), Input{Session: s})
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.True(t, list[0].Recorded && list[0].Readable)
	assert.Equal(t, 3, list[0].Request)
	assert.Equal(t, []CheckKind{
		{Name: factNames[aFile], Of: 2, Recording: 1, Winnow: 2},        // src/parse.go
		{Name: factNames[aProhibition], Of: 2, Recording: 1, Winnow: 2}, // lexer.go
		{Name: factNames[anError], Of: 1, Recording: 0, Winnow: 1},
		{Name: factNames[aPlanItem], Of: 1, Recording: 0, Winnow: 1},
		{Name: factNames[aNextStep], Of: 1, Recording: 0, Winnow: 1},
		{Name: factNames[aUsedName], Of: 2, Recording: 0, Winnow: 2}, // openCalls, parse_test.go
	}, list[0].Kinds)

	lost := strings.ReplaceAll(compacted, "Summary: src/parse.go was edited.", "Summary:")
	s, err = recording.Open([]byte(lost))
	require.NoError(t, err)
	list, err = Checks(t.Context(), Input{Session: s})
	require.NoError(t, err)
	assert.Zero(t, list[0].Kinds[0].Recording, "a file that the summary no longer names")

	sum := SumOf([]Check{list[0], list[0]})
	assert.Equal(t, 4, sum.Kinds[0].Of)
}

// TestChecksWithoutCompaction: the last request is checked, in winnow's form alone.
func TestChecksWithoutCompaction(t *testing.T) {
	s, _, err := recording.OpenFile(recorded("english"))
	require.NoError(t, err)
	list, err := Checks(t.Context(), Input{Session: s, Basis: Basis{Window: 32_000}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.False(t, list[0].Recorded)
	for _, k := range list[0].Kinds {
		assert.Equal(t, k.Of, k.Winnow+len(k.Lacks), k.Name)
	}
}
