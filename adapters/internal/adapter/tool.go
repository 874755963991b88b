package adapter

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
)

// Schema returns the decoded JSON schema of a tool's arguments. A tool whose schema is missing or not a JSON object
// takes no arguments.
func Schema(t winnow.Tool) map[string]any {
	schema := map[string]any{}
	if json.Unmarshal(t.Schema, &schema) != nil || len(schema) == 0 {
		schema = map[string]any{"type": "object"}
	}
	return schema
}
