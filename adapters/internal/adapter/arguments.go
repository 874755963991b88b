package adapter

import (
	"bytes"
	"encoding/json"

	"github.com/winnowgo/winnow/internal/jsontext"
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
	v, err := Decode(raw)
	if err != nil {
		return raw
	}
	if sorted := encode(v); !bytes.Equal(sorted, raw) {
		return sorted
	}
	return raw
}

// Decode returns the value of a JSON text. Its numbers keep their spelling.
func Decode(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
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
		return jsontext.Wrap(arguments)
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
