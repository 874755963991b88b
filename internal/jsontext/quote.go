package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Quote writes s as a JSON string, without the escapes for HTML that would make it longer and cost tokens.
func Quote(s string) json.RawMessage {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`) // a string never fails
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Wrap makes an object of what a model wrote in the place of JSON, without losing it.
func Wrap(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(map[string]string{"invalidJson": string(raw)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}
