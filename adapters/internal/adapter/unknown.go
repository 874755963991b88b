package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

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

// CutOff returns the error of a stream that ended before the answer did.
func CutOff(provider string) error {
	return fmt.Errorf("%s: the stream ended before the answer: %w", provider, io.ErrUnexpectedEOF)
}

// ErrorIn returns an error if the body of an answer with status 200 is really one: {"error":…}, {"type":"error",…},
// {"object":"error",…}, {"error_code":336103,…} of Baidu or {"base_resp":{"status_code":2013,…}} of MiniMax.
func ErrorIn(provider, body string) error {
	if !IsError([]byte(body)) {
		return nil
	}
	return fmt.Errorf("%s: an error with status 200: %w", provider, errors.New(body))
}

// IsError reports whether the body of an answer is an error: see [ErrorIn].
func IsError(body []byte) (is bool) {
	jsontext.Members(body, func(key string, value []byte) {
		switch key {
		case "error":
			is = is || string(value) != "null"
		case "type", "object":
			is = is || string(value) == `"error"`
		case "error_code":
			is = is || isCode(value)
		case "base_resp":
			jsontext.Members(value, func(key string, value []byte) {
				is = is || key == "status_code" && isCode(value)
			})
		}
	})
	return is
}

// isCode reports whether the code of an error says that there is one.
func isCode(value []byte) bool { return string(value) != "null" && string(value) != "0" }
