package questions

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/winnowgo/winnow"
)

// toolsOf declares the tools that a session calls, because a recording rarely has their definitions: each with the
// arguments that it was given, whose types are those that occurred.
func toolsOf(session []winnow.Message) (tools []winnow.Tool) {
	type schema struct {
		Type       string                    `json:"type"`
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required,omitempty"`
	}
	used, calls, given := map[string]*schema{}, map[string]int{}, map[string]map[string]int{}
	for _, m := range session {
		for _, p := range m.Parts {
			if p.Kind != winnow.KindToolCall {
				continue
			}
			if used[p.Name] == nil {
				used[p.Name] = &schema{Type: "object", Properties: map[string]map[string]any{}}
				given[p.Name] = map[string]int{}
			}
			calls[p.Name]++
			var members map[string]any
			_ = json.Unmarshal(p.Arguments, &members) // an object: see clean
			for name, value := range members {
				given[p.Name][name]++
				if used[p.Name].Properties[name] == nil && value != nil {
					used[p.Name].Properties[name] = typeOf(value)
				}
			}
		}
	}
	for name, s := range used {
		for argument := range s.Properties {
			if given[name][argument] == calls[name] {
				s.Required = append(s.Required, argument)
			}
		}
		slices.Sort(s.Required)
		raw, _ := json.Marshal(s)
		tools = append(tools, winnow.Tool{Name: name, Description: "The tool " + name + ".", Schema: raw})
	}
	slices.SortFunc(tools, func(a, b winnow.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}

func typeOf(value any) map[string]any {
	name := "string"
	switch value.(type) {
	case bool:
		name = "boolean"
	case float64:
		name = "number"
	case []any:
		return map[string]any{"type": "array", "items": map[string]any{}} // OpenAI wants items
	case map[string]any:
		name = "object"
	}
	return map[string]any{"type": name}
}
