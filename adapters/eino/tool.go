package eino

import (
	"encoding/json"

	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/winnowgo/winnow"
)

// Tool turns a tool, such as [winnow.RecallTool], into one that can be bound to a chat model. If its schema is not a
// JSON object, the tool takes no arguments.
func Tool(t winnow.Tool) *schema.ToolInfo {
	info := &schema.ToolInfo{Name: t.Name, Desc: t.Description}
	var s jsonschema.Schema
	if json.Unmarshal(t.Schema, &s) == nil {
		info.ParamsOneOf = schema.NewParamsOneOfByJSONSchema(&s)
	}
	return info
}
