package eino

import (
	"encoding/json"
	"strings"
)

// What a model keeps in Extra of a call, such as the thought signatures of Gemini, has to come back with the call even
// if the call gets another id or shorter arguments: it is in the part's Signature as well. Values that JSON has no
// type for come back as JSON has them, as they do from a history that is read from a file.

// extraPrefix tells them from the signatures of other adapters.
const extraPrefix = "eino:"

func signatureOf(extra map[string]any) string {
	if len(extra) == 0 {
		return ""
	}
	b, err := json.Marshal(extra)
	if err != nil {
		return ""
	}
	return extraPrefix + string(b)
}

func extraOf(signature string) (extra map[string]any) {
	raw, ok := strings.CutPrefix(signature, extraPrefix)
	if !ok || json.Unmarshal([]byte(raw), &extra) != nil {
		return nil
	}
	return extra
}
