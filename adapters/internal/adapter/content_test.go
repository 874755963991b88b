package adapter

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestObject(t *testing.T) {
	for in, want := range map[string]string{
		"":                `{}`,
		" null ":          `{}`,
		`{"b":1, "a":2}`:  `{"b":1, "a":2}`,
		`"ls -l"`:         `{"arguments":"ls -l"}`,
		`[1]`:             `{"arguments":[1]}`,
		`{"cmd":"ls`:      `{"invalidJson":"{\"cmd\":\"ls"}`,
		"{\"a\":\"\xff\"": `{"invalidJson":"{\"a\":\"\ufffd\""}`,
	} {
		assert.Equal(t, want, string(Object(json.RawMessage(in))))
	}
}

func TestName(t *testing.T) {
	assert.Equal(t, "read", Name("read", 64, Letters))
	assert.Equal(t, "mcp_read_file", Name("mcp/read file", 64, Letters))
	assert.Equal(t, "unknown", Name("", 64, Letters))
	assert.Equal(t, "re", Name("read", 2, Letters))
	assert.Equal(t, "___", Name("读", 64, Letters))
}

func TestPlaceholder(t *testing.T) {
	for want, p := range map[string]winnow.Part{
		"[image: image/png, 7 bytes]":   {Kind: winnow.KindImage, MediaType: "image/png", Bytes: 7},
		"[image]":                       {Kind: winnow.KindImage, Bytes: 7},
		"[attachment: application/pdf]": {Kind: winnow.KindOpaque, MediaType: "application/pdf"},
		"[attachment]":                  {Kind: winnow.KindOpaque},
		"So far.":                       {Kind: winnow.KindOpaque, MediaType: winnow.MediaCompaction, Text: "So far.", Bytes: 40},
	} {
		assert.Equal(t, want, Placeholder(&p))
	}
}

func TestToolNames(t *testing.T) {
	var names ToolNames
	assert.Empty(t, names.Of("a"), "nothing was called")
	call := func(id, name string) winnow.Part { return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: name} }
	names.Add([]winnow.Part{{Text: "I look."}, call("a", "read"), call("b", "exec")})
	names.Add([]winnow.Part{{Text: "Found."}})
	assert.Equal(t, "exec", names.Of("b"), "no call came after it")
	names.Add([]winnow.Part{call("a", "search")})
	assert.Equal(t, "search", names.Of("a"), "the newest of an id counts")
	assert.Equal(t, "exec", names.Of("b"), "a late result")
	var many []winnow.Part
	for i := range 2 * 16 {
		many = append(many, call(fmt.Sprint(i), fmt.Sprint("tool ", i)))
	}
	names.Add(many)
	for i := range many {
		assert.Equal(t, many[i].Name, names.Of(many[i].ID))
	}
	assert.Equal(t, "search", names.Of("a"))
	names.Add([]winnow.Part{call("0", "read")})
	assert.Equal(t, "read", names.Of("0"))
}

func TestText(t *testing.T) {
	assert.Equal(t, "a\nb", Text([]winnow.Part{{Text: "a"}, {Text: " "}, {Kind: winnow.KindImage}, {Text: "b"}}))
	assert.Equal(t, " ", Text([]winnow.Part{{Text: " "}}), "one text is what it is")
	assert.Empty(t, Text(nil))
}
