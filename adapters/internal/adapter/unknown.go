package adapter

import (
	"encoding/json"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// UnknownMembers returns the members of object that known lacks, as raw JSON, without nulls.
func UnknownMembers(object, known []byte) map[string]any {
	has := map[string]struct{}{}
	jsontext.Members(known, func(key string, _ []byte) { has[key] = struct{}{} })
	var unknown map[string]any
	jsontext.Members(object, func(key string, value []byte) {
		if _, ok := has[key]; ok || string(value) == "null" {
			return
		}
		if unknown == nil {
			unknown = map[string]any{}
		}
		unknown[key] = json.RawMessage(value)
	})
	return unknown
}

// ErrorIn returns the body of an answer if that is really an error: {"error":…}, {"type":"error",…},
// {"object":"error",…}, {"error_code":336103,…} of Baidu or {"base_resp":{"status_code":2013,…}} of MiniMax. Otherwise
// it returns "".
func ErrorIn(body string) string {
	found := false
	jsontext.Members([]byte(body), func(key string, value []byte) {
		switch key {
		case "error":
			found = found || string(value) != "null"
		case "type", "object":
			found = found || string(value) == `"error"`
		case "error_code":
			found = found || isCode(value)
		case "base_resp":
			jsontext.Members(value, func(key string, value []byte) {
				found = found || key == "status_code" && isCode(value)
			})
		}
	})
	if !found {
		return ""
	}
	return body
}

// isCode reports whether the code of an error says that there is one.
func isCode(value []byte) bool { return string(value) != "null" && string(value) != "0" }
