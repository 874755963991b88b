package prompt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// OpenAI's cookbook ("How to count tokens with tiktoken") shows what gpt-4o billed for two messages with a tool: 101
// tokens of prompt. The recorded sessions hold no request with its system prompt and its tools.
func TestToolTokensAsOpenAIBilledThem(t *testing.T) {
	const billed, perMessage, perRole, reply = 101, 3, 1, 3
	exact, err := winnow.TiktokenEstimator("o200k_base")
	require.NoError(t, err)
	weather := prompt.Tool{Tool: winnow.Tool{Name: "get_current_weather", Description: "Get the current weather in a given location", Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
				"unit": {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]}
			},
			"required": ["location"]
		}`)}}
	const system, user = "You are a helpful assistant that can answer to questions about the weather.", "What's the weather like in San Francisco?"
	messages := 2*(perMessage+perRole) + reply + tokensOf(exact, user)
	for _, c := range []struct {
		name string
		e    winnow.Estimator
		off  int // per cent of the schema
	}{{"exact", exact, 0}, {"estimated", mustEstimator("o200k"), 10}} {
		a, err := prompt.Assemble(prompt.Input{Sections: []prompt.Section{{Name: "Identity", Text: system}}, Tools: []prompt.Tool{weather}, Mode: prompt.None},
			&prompt.Options{Estimator: c.e, Form: prompt.FormOpenAI})
		require.NoError(t, err)
		want := billed - messages - tokensOf(exact, system)
		t.Logf("%s: schema %d, billed %d", c.name, a.ToolTokens, want)
		assert.InDelta(t, want, a.ToolTokens, float64(want*c.off)/100, c.name)
	}
}

func mustEstimator(family string) winnow.Estimator {
	e, err := winnow.NewEstimator(family)
	if err != nil {
		panic(err)
	}
	return e
}

// Schemas are measured in the form that is sent: the caller's white space costs nothing.
func TestToolTokensAreOfWhatIsSent(t *testing.T) {
	const compact = `{"type":"object","properties":{"path":{"type":"string","description":"a file"}}}`
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, []byte(compact), "        ", "        "))
	for _, form := range []prompt.Form{prompt.FormJSON, prompt.FormAnthropic, prompt.FormOpenAI} {
		tokens := func(schema json.RawMessage) int {
			a, err := prompt.Assemble(prompt.Input{Tools: []prompt.Tool{{Tool: winnow.Tool{Name: "read", Description: "Reads a file.", Schema: schema}}}},
				&prompt.Options{Form: form, Estimator: winnow.CharsPerToken(4)})
			require.NoError(t, err)
			return a.ToolTokens
		}
		assert.Equal(t, tokens([]byte(compact)), tokens(indented.Bytes()), "%s", form)
		assert.Positive(t, tokens(nil))
		assert.Positive(t, tokens(json.RawMessage(`not json`)))
		assert.Positive(t, tokens(json.RawMessage(`{"properties":{"a":{"type":["string","null"],"enum":[1,null],"items":{"properties":{"b":{}}}}}}`)))
	}
}

// Patterns of tools: names, and * for any characters.
func TestAllowedTools(t *testing.T) {
	var tools []prompt.Tool
	for _, name := range []string{"read", "read_all", "write", "mcp_git_log", "mcp_git_diff", "mcp_web"} {
		tools = append(tools, prompt.Tool{Tool: winnow.Tool{Name: name}})
	}
	for _, c := range []struct {
		allowed prompt.Allowed
		want    []string
	}{
		{prompt.Allowed{"read"}, []string{"read"}},
		{prompt.Allowed{"read*"}, []string{"read", "read_all"}},
		{prompt.Allowed{"mcp_*_log", "write"}, []string{"mcp_git_log", "write"}},
		{prompt.Allowed{"*git*"}, []string{"mcp_git_diff", "mcp_git_log"}},
		{prompt.Allowed{"*"}, []string{"mcp_git_diff", "mcp_git_log", "mcp_web", "read", "read_all", "write"}},
		{prompt.Allowed{"*a*a*a*"}, nil},
		{prompt.Allowed{}, nil},
	} {
		a, err := prompt.Assemble(prompt.Input{Tools: tools}, &prompt.Options{Tools: map[prompt.Mode]prompt.Allowed{prompt.Full: c.allowed}})
		require.NoError(t, err)
		var got []string
		for _, tool := range a.Tools {
			got = append(got, tool.Name)
		}
		assert.Equal(t, c.want, got, fmt.Sprint(c.allowed))
	}
}

// Schemas as generators write them: members of other types than usual, alternatives and definitions. None of them makes
// the rest cost nothing.
func TestToolTokensOfUnusualSchemas(t *testing.T) {
	tokens := func(schema string) int {
		a, err := prompt.Assemble(prompt.Input{Tools: []prompt.Tool{{Tool: winnow.Tool{Name: "t", Schema: []byte(schema)}}}},
			&prompt.Options{Form: prompt.FormOpenAI, Estimator: winnow.CharsPerToken(4)})
		require.NoError(t, err)
		return a.ToolTokens
	}
	long := strings.Repeat("what the service takes ", 20)
	object := `{"type":"object","properties":{"path":{"type":"string","description":"` + long + `"}}}`
	plain := tokens(object)
	require.Greater(t, plain, 100)
	for _, c := range []struct{ schema, why string }{
		{strings.Replace(object, `{"path"`, `{"any":true,"path"`, 1), "a property of any type"},
		{strings.Replace(object, `{"path"`, `{"list":{"type":"array","items":[{"type":"string"}]},"path"`, 1), "a list with a type for each element"},
		{strings.Replace(object, `{"path"`, `{"odd":{"description":7,"enum":"x"},"path"`, 1), "members that are neither texts nor lists"},
		{strings.Replace(object, `"type":"string"`, `"type":["string","null"]`, 1), "a list of types"},
		{`{"anyOf":[{"type":"null"},` + object + `]}`, "alternatives"},
		{`{"oneOf":[` + object + `]}`, "alternatives"}, {`{"allOf":[` + object + `]}`, "parts"},
		{`{"$defs":{"P":` + object + `},"properties":{"p":{"$ref":"#/$defs/P"}}}`, "definitions"},
		{`{"type":"object","additionalProperties":` + object + `}`, "a map"},
		{`{"type":"array","items":[` + object + `]}`, "a list of objects"},
	} {
		require.GreaterOrEqual(t, tokens(c.schema), plain, c.why)
	}
	require.Less(t, tokens(strings.Repeat(`{"items":`, 5_000)+"1"+strings.Repeat("}", 5_000)), 50, "too deep to be one")
}

// A schema that is not JSON is named, and a conversation with it can still be stored.
func TestSchemasThatAreNoJSON(t *testing.T) {
	tools := []prompt.Tool{{Tool: winnow.Tool{Name: "cut", Schema: json.RawMessage(`{"type":`)}}, {Tool: winnow.Tool{Name: "empty", Schema: json.RawMessage("")}}, {Tool: winnow.Tool{Name: "none"}}}
	a, err := prompt.Assemble(prompt.Input{Tools: tools}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"the schema of the tool cut is not JSON"}, a.Warnings)
	data, err := json.Marshal(prompt.Conversation{Sent: a})
	require.NoError(t, err)
	var stored prompt.Conversation
	require.NoError(t, json.Unmarshal(data, &stored))
	assert.Equal(t, a.Text, stored.Sent.Text)
	assert.Equal(t, `{"type":`, string(a.Tools[0].Schema), "the assembly itself is as it was")
}
