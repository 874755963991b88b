package adapter

import (
	"bytes"
	"encoding/json"
)

// Empty is sent where a provider wants a text and there is none.
const Empty = "[empty]"

// WithoutEmptyTexts returns a JSON value without the blank texts in its lists, which providers refuse at every depth. A
// list of nothing else keeps one, which says so. found is false if there is no such text.
func WithoutEmptyTexts(raw []byte) (out json.RawMessage, found bool) {
	if !bytes.Contains(raw, []byte(`"text"`)) {
		return raw, false
	}
	v, err := Decode(raw)
	if err != nil {
		return raw, false
	}
	if v, found = withoutEmptyTexts(v); !found {
		return raw, false
	}
	return encode(v), true
}

func withoutEmptyTexts(v any) (out any, found bool) {
	var below bool
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key], below = withoutEmptyTexts(v[key])
			found = found || below
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, e := range v {
			if isEmptyText(e) {
				found = true
				continue
			}
			e, below = withoutEmptyTexts(e)
			kept, found = append(kept, e), found || below
		}
		if len(kept) == 0 && len(v) > 0 {
			first, _ := v[0].(map[string]any)
			first["text"] = Empty
			kept = append(kept, first)
		}
		return kept, found
	}
	return v, found
}

func isEmptyText(v any) bool {
	m, _ := v.(map[string]any)
	text, ok := m["text"].(string)
	return ok && m["type"] == "text" && IsBlank(text)
}
