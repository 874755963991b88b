package eino

import (
	"encoding/json"
	"strings"
)

// A model may keep data in Extra of a call, such as the thought signatures of Gemini. It has to come back with the call
// even if the call gets another id or shorter arguments, so the part's Signature holds it too. Values without a JSON
// type come back in their JSON form, as they do from a history that is read from a file.

// extraPrefix distinguishes them from the signatures of other adapters.
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
