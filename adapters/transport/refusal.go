package transport

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// refusal returns an answer that refuses r in the form of its API.
func refusal(r *http.Request, f *form, status int, code, message string) *http.Response {
	e := map[string]any{"message": message, "type": "invalid_request_error"}
	var body any = map[string]any{"error": e}
	switch f {
	case messagesForm:
		if code != "" {
			e["details"] = map[string]any{"error_code": code}
		}
		body = map[string]any{"type": "error", "error": e}
	case contentForm:
		body = map[string]any{"error": map[string]any{"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
	default:
		e["param"], e["code"] = nil, code
	}
	text, _ := json.Marshal(body) // texts and numbers
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)),
	}
}
