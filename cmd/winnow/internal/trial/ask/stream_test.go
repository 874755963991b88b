package ask

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadStream: what a stream says and calls, in each API.
func TestReadStream(t *testing.T) {
	for _, tt := range []struct {
		api    API
		events []string
	}{
		{messages{}, []string{`{"type":"message_start","message":{}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"a.go\"}"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s","name":"web_search"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`}},
		{chat{}, []string{`{"choices":[{"delta":{"role":"assistant","content":"I "}}]}`,
			`{"choices":[{"delta":{"content":"look."}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"read","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a.go\"}"}}]}}]}`,
			`{"choices":[],"usage":{}}`}},
		{responses{}, []string{`{"type":"response.created","response":{"output":[]}}`,
			`{"type":"response.output_item.done","item":{}}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"text":"I look."}]},{"type":"function_call","call_id":"t","name":"read","arguments":"{\"path\":\"a.go\"}"}]}}`}},
		{contents{}, []string{`{"candidates":[{"content":{"parts":[{"text":"I "}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"look."}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"a.go"}}}]}}]}`,
			`{"usageMetadata":{}}`}},
	} {
		a, err := ReadStream(tt.api, []byte("event: x\ndata: "+strings.Join(tt.events,
			"\n\ndata: ")+"\n\ndata: [DONE]\n\n"))
		require.NoError(t, err, tt.api.Name())
		require.Len(t, a.Parts, 2, tt.api.Name())
		assert.Equal(t, "I look.", a.Parts[0].Text, tt.api.Name())
		assert.Equal(t, "read", a.Parts[1].Name)
		assert.JSONEq(t, `{"path":"a.go"}`, string(a.Parts[1].Arguments), tt.api.Name())
		_, err = ReadStream(tt.api, []byte("data: {}\n"))
		assert.Error(t, err, "%s: an answer that says nothing", tt.api.Name())
	}
}

// TestShorten: a client's request becomes one for a short answer in one piece, and nothing else of it changes.
func TestShorten(t *testing.T) {
	for _, tt := range []struct{ path, in, want, goes, why string }{
		{"/v1/messages", `{"max_tokens":9000,"stream":true,"x":1}`, `{"max_tokens":100,"x":1}`, "/v1/messages",
			"no stream"},
		{"/v1/messages", `{"max_tokens":9000,"thinking":{"budget_tokens":8000}}`,
			`{"max_tokens":9000,"thinking":{"budget_tokens":8000}}`, "/v1/messages", "it thinks first"},
		{"/v1/chat/completions", `{"max_completion_tokens":50,"stream":true,"stream_options":{}}`,
			`{"max_completion_tokens":50}`, "/v1/chat/completions", "short enough"},
		{"/v1/chat/completions", `{}`, `{"max_tokens":100}`, "/v1/chat/completions", "it did not say"},
		{"/v1/responses", `{"store":true}`, `{"store":false,"max_output_tokens":100}`, "/v1/responses",
			"nothing is kept"},
		{"/v1beta/models/m:streamGenerateContent?alt=sse&key=k", `{"generationConfig":{"topK":1}}`,
			`{"generationConfig":{"topK":1,"maxOutputTokens":100}}`,
			"/v1beta/models/m:generateContent?key=k", "the path says that it streams"},
	} {
		r := httptest.NewRequest(http.MethodPost, tt.path, nil)
		body, err := Shorten(OfRequest(r), r, []byte(tt.in), 100)
		require.NoError(t, err, tt.why)
		assert.JSONEq(t, tt.want, string(body), tt.why)
		assert.Equal(t, tt.goes, r.URL.RequestURI(), tt.why)
	}
	assert.Nil(t, OfRequest(httptest.NewRequest(http.MethodGet, "/v1/messages", nil)))
	assert.Nil(t, OfRequest(httptest.NewRequest(http.MethodPost, "/v1/files", nil)))
}
