package openai

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// TestStricterRules has what OpenAI takes and others refuse, and what becomes of it.
func TestStricterRules(t *testing.T) {
	alternate, mistral := Rules{Alternate: true}, Rules{MistralIDs: true}
	const system, q, a = `{"role":"system","content":"s"}`, `{"role":"user","content":"q"}`, `{"role":"assistant","content":"a"}`
	callOf := func(id string) string {
		return `{"role":"assistant","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	}
	resultOf := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }
	call, result := callOf("c"), resultOf("c")
	for _, tt := range []struct {
		name     string
		rules    Rules
		in, want string
		reason   string
	}{
		{"as it should be", alternate, system + q + call + result + a + q, system + q + call + result + a + q, "nothing is changed"},
		{"neighbours", alternate, q + q + a + a + q, `{"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"q"}]}{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"a"}]}` + q, "joined"},
		{"a word before a call", alternate, q + a + call + result + a, q + strings.Replace(call, `"tool_calls"`, `"content":"a","tool_calls"`, 1) + result + a, "joined as well"},
		{"system messages", alternate, system + system + q + a + system + q, `{"role":"system","content":[{"type":"text","text":"s"},{"type":"text","text":"s"}]}` + q + a + `{"role":"user","content":[{"type":"text","text":"s"},{"type":"text","text":"q"}]}`, "one, and that first"},
		{"the assistant first", alternate, system + a + q, system + `{"role":"user","content":"` + adapter.Opening + `"}` + a + q, "the user begins"},
		{"a word after results", alternate, q + call + result + q + a, q + call + result + `{"role":"assistant","content":"` + interrupted + `"}` + q + a, "calls do not count"},
		{"words before a call and after its result", alternate, q + a + call + result + q, q + strings.Replace(call, `"tool_calls"`, `"content":"a","tool_calls"`, 1) + result + `{"role":"assistant","content":"` + interrupted + `"}` + q, "nor does a text that joins them"},
		{"a word between results", alternate, q + call + q + result + a, q + call + result + `{"role":"assistant","content":"` + interrupted + `"}` + q + a, "and results come first"},
		{"blank text", alternate, q + `{"role":"assistant","content":" "}` + q, `{"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"q"}]}`, "says nothing"},
		{"Mistral's ids", mistral, callOf("abcDEF123") + resultOf("abcDEF123"), callOf("abcDEF123") + resultOf("abcDEF123"), "nothing is changed"},
		{"foreign ids", mistral, callOf("call_1") + resultOf("call_1") + callOf("call_1") + resultOf("call_1"),
			callOf("35c1033e0") + resultOf("35c1033e0") + callOf("35c1033e0") + resultOf("35c1033e0"), "the same hash each time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := func(s string) string { return "[" + strings.ReplaceAll(s, "}{", "},{") + "]" }
			var messages []message
			require.NoError(t, json.Unmarshal([]byte(list(tt.in)), &messages))
			before := jsonOf(t, messages)
			out := tt.rules.Export(Import(messages))
			assert.JSONEq(t, list(tt.want), jsonOf(t, out), tt.reason)
			assert.Equal(t, before, jsonOf(t, messages), "the caller's values are as they were")
			assert.Equal(t, jsonOf(t, out), jsonOf(t, tt.rules.Export(Import(out))), "once is enough")
		})
	}
}

// TestBreakpoints: OpenAI's stand behind what winnow has made, and the caller's own messages are as they were.
func TestBreakpoints(t *testing.T) {
	history := Import([]union{sdk.UserMessage("q"), sdk.AssistantMessage("a"), sdk.UserMessage("q")})
	history[1] = winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "R"}}}
	const q = `{"role":"user","content":"q"}`
	want := `[` + q + `,{"role":"user","content":[{"type":"text","text":"R","prompt_cache_breakpoint":{"mode":"explicit"}}]},` + q + `]`
	got, err := json.Marshal(Rules{Breakpoints: true}.Export(history))
	require.NoError(t, err)
	assert.JSONEq(t, want, string(got))
}
