package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

// Form is the form in which a provider gets the schemas of tools.
type Form string

const (
	FormJSON      Form = ""          // {"name", "description", "parameters"}, as in Gemini's functionDeclarations
	FormAnthropic Form = "anthropic" // {"name", "description", "input_schema"}
	FormOpenAI    Form = "openai"    // the model sees a declaration in the style of TypeScript
)

const (
	// Anthropic's own prompt about tools, added once: 346 tokens with tool_choice auto for Claude 4 and later
	// (platform.claude.com, "Tool use: pricing").
	anthropicToolUse = 346
	// Tokens by OpenAI's cookbook, "How to count tokens with tiktoken", for gpt-4o and later: for a function, for the
	// end of all, for a list of properties, for each property, for a list of values, and for each value.
	openAIFunction, openAIEnd           = 7, 12
	openAIProperties, openAIProperty    = 3, 3
	openAIEnumeration, openAIEnumerated = -3, 3
)

// once returns the extra cost of the first tool.
func (f Form) once() int {
	switch f {
	case FormAnthropic:
		return anthropicToolUse
	case FormOpenAI:
		return openAIEnd
	}
	return 0
}

// tokens returns the cost of a tool's schema in its form.
func (f Form) tokens(t *Tool, c *counter) int {
	if f == FormOpenAI {
		return openAIFunction + c.tokens(t.Name+":"+strings.TrimSuffix(t.Description, ".")) +
			openAISchema(readSchema(t.Schema), c, 0)
	}
	return c.tokens(string(f.write(t)))
}

// write returns the JSON that is sent.
func (f Form) write(t *Tool) []byte {
	schema := compactJSON(t.Schema)
	if len(schema) == 0 {
		schema = []byte(`{"type":"object","properties":{}}`)
	}
	key := "parameters"
	if f == FormAnthropic {
		key = "input_schema"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"name":%s,"description":%s,"%s":`, quote(t.Name), quote(t.Description), key)
	b.Write(schema)
	b.WriteByte('}')
	return b.Bytes()
}

func quote(s string) []byte {
	out, _ := json.Marshal(s) // a string always encodes
	return out
}

// compactJSON returns a JSON text without white space. It returns a text that is not JSON unchanged.
func compactJSON(data []byte) []byte {
	var b bytes.Buffer
	if len(data) == 0 || json.Compact(&b, data) != nil {
		return data
	}
	return b.Bytes()
}

// schema holds the counted parts of a JSON schema.
type schema struct {
	kind        string // its type, as JSON
	description string
	enum        []json.RawMessage
	properties  map[string]json.RawMessage
	items       []json.RawMessage // schemas of the elements of a list
	others      []json.RawMessage // alternatives and definitions
}

// readSchema reads a schema member by member, so that a member of an unusual type (true for any value, a list of item
// schemas) does not spoil the rest.
func readSchema(data json.RawMessage) (s schema) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return schema{}
	}
	read := func(name string, to any) { _ = json.Unmarshal(members[name], to) } // an unreadable member is not counted
	s.kind = string(bytes.Trim(members["type"], `"`))
	read("description", &s.description)
	read("enum", &s.enum)
	read("properties", &s.properties)
	s.items = oneOrMore(members["items"])
	for _, name := range []string{"prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties"} {
		s.others = append(s.others, oneOrMore(members[name])...)
	}
	for _, name := range []string{"$defs", "definitions", "patternProperties"} {
		var named map[string]json.RawMessage
		read(name, &named)
		for _, data := range named {
			s.others = append(s.others, data)
		}
	}
	return s
}

// oneOrMore returns the schemas in a member that holds one schema or a list.
func oneOrMore(data json.RawMessage) (list []json.RawMessage) {
	if len(data) > 0 && json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	return list
}

// maxSchemaDepth is how deep a schema is read. Those of real tools have three or four levels.
const maxSchemaDepth = 16

// openAISchema counts the content of a schema by the cookbook's rule: its properties, and those of inner objects. The
// cookbook does not mention alternatives and definitions; each counts as a property without a name.
func openAISchema(s schema, c *counter, depth int) (n int) {
	if depth > maxSchemaDepth {
		return 0
	}
	if len(s.properties) > 0 {
		n += openAIProperties
	}
	for name, data := range s.properties {
		n += openAIOne(name+":", readSchema(data), c, depth+1)
	}
	for _, data := range s.items {
		n += openAISchema(readSchema(data), c, depth+1)
	}
	for _, data := range s.others {
		if inner := readSchema(data); !inner.isEmpty() {
			n += openAIOne("", inner, c, depth+1)
		}
	}
	return n
}

func (s *schema) isEmpty() bool {
	return s.kind == "" && s.description == "" && len(s.enum)+len(s.properties)+len(s.items)+len(s.others) == 0
}

// openAIOne counts a property and its content.
func openAIOne(name string, s schema, c *counter, depth int) int {
	n := openAIProperty + c.tokens(name+s.kind+":"+strings.TrimSuffix(s.description, "."))
	if len(s.enum) > 0 {
		n += openAIEnumeration
	}
	for _, value := range s.enum {
		n += openAIEnumerated + c.tokens(string(bytes.Trim(value, `"`)))
	}
	return n + openAISchema(s, c, depth)
}

const (
	loadToolName = "load_tool"
	callToolName = "call_tool"
)

// OnDemandTools returns the two tools with which a model uses tools that are listed only by name: load_tool, which
// [Loader.Load] answers, or [Loader.Find] where there is no such name, and call_tool, whose arguments are the name and
// the arguments of a tool.
func OnDemandTools() []Tool {
	return []Tool{
		{Summary: "call a tool that was loaded", Tool: winnow.Tool{
			Name:        callToolName,
			Description: "Calls a tool whose parameters were loaded.",
			Schema: json.RawMessage(`{"type":"object",` +
				`"properties":{"name":{"type":"string"},"arguments":{"type":"object"}},` +
				`"required":["name","arguments"]}`),
		}},
		{Summary: "read the parameters of a tool", Tool: winnow.Tool{
			Name: loadToolName,
			Description: "Returns description and parameters of a tool or the text of a skill, by its name. " +
				"Instead of a name, a few words on what it should do find some.",
			Schema: json.RawMessage(`{"type":"object",` +
				`"properties":{"name":{"type":"string"}},"required":["name"]}`),
		}},
	}
}
