package adapter

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
)

// Schema returns the JSON schema of a tool's arguments, decoded. A tool without one takes no arguments, and nor does
// one whose schema is no JSON object.
func Schema(t winnow.Tool) map[string]any {
	schema := map[string]any{}
	if json.Unmarshal(t.Schema, &schema) != nil || len(schema) == 0 {
		schema = map[string]any{"type": "object"}
	}
	return schema
}
