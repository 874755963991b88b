package adapter

import (
	"bytes"
	"encoding/json"
)

// Arguments returns the input of a call, which SDKs hold as any value, as JSON with sorted keys and without white
// space. So it is the same for JSON as a model wrote it, and for the map that the SDK makes of that when a host reads
// its history from a file. Numbers keep their spelling. It returns nil for input that cannot be encoded, and text that
// is not JSON unchanged.
func Arguments(input any) json.RawMessage {
	raw, isRaw := input.(json.RawMessage)
	switch {
	case input == nil:
		return nil
	case !isRaw:
		raw = encode(input)
	}
	if _, isSorted := input.(map[string]any); isSorted || !json.Valid(raw) {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	if sorted := encode(v); !bytes.Equal(sorted, raw) {
		return sorted
	}
	return raw
}

// encode returns v as JSON without escapes for HTML, nil if that is impossible.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Object returns arguments as a JSON object, which most providers require.
func Object(arguments json.RawMessage) json.RawMessage {
	t := bytes.TrimSpace(arguments)
	switch {
	case len(t) == 0 || string(t) == "null":
		return json.RawMessage("{}")
	case !json.Valid(t):
		b, _ := json.Marshal(map[string]string{"invalidJson": string(arguments)}) // strings always encode
		return b
	case t[0] == '{':
		return arguments
	}
	return json.RawMessage(`{"arguments":` + string(t) + "}")
}

// IsObject reports whether arguments are a JSON object, as far as their beginning tells. A provider that takes them as
// JSON refuses a call with any other value, such as the null of a nil map.
func IsObject(arguments json.RawMessage) bool {
	t := bytes.TrimLeft(arguments, " \t\r\n")
	return len(t) > 0 && t[0] == '{'
}

// JSONText returns s as a JSON text.
func JSONText(s string) json.RawMessage { return encode(s) }

// TextOf undoes JSONText. If raw is not a JSON text, it returns raw.
func TextOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
