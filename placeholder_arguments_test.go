package winnow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// A signed call and a short one keep their arguments, whatever their neighbours lose; nothing else of the message changes.
func TestShortenArguments(t *testing.T) {
	raw := written("a.go", 100)
	m := Message{ID: "m7", Role: RoleAssistant, Source: 7, Parts: []Part{
		{Kind: KindThinking, Text: raw, Signature: "sig"}, {Text: raw},
		toolCall("a", "write", raw), toolCall("b", "write", `{"path":"b"}`),
		{Kind: KindToolCall, ID: "c", Name: "write", Arguments: []byte(raw), Signature: "sig"},
		{Kind: KindToolCall, ID: "d", Name: "keep", Arguments: []byte(raw)},
		{Kind: KindToolCall, ID: "e", Name: "write", Arguments: []byte(raw), Tokens: 900, Source: 3},
	}}
	match := toolcall.NewMatcher(nil, []string{"keep"})
	out, ok := shortenArguments(&m, &match, excerpt.NewNames(0), "")
	require.True(t, ok)
	assert.Nil(t, out.Source, "the library changed it")
	for k := range m.Parts {
		if k == 2 || k == 6 {
			assert.Less(t, len(out.Parts[k].Arguments), 500)
			assert.Zero(t, out.Parts[k].Tokens, "the host's count was of what it was")
			assert.Nil(t, out.Parts[k].Source)
			continue
		}
		assert.Equal(t, m.Parts[k], out.Parts[k], "part %d", k)
	}
	assert.Equal(t, raw, string(m.Parts[2].Arguments), "the input is not written to")
	_, ok = shortenArguments(&out, &match, excerpt.NewNames(0), "")
	assert.False(t, ok, "what was shortened is not long")
}
