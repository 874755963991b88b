package transport_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

// results begin with the result of a call that the body has not.
var results = map[string]string{
	"/v1/messages":                     `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"read"}]}]`,
	"/v1/chat/completions":             `"messages":[{"role":"system","content":"Be brief."},{"role":"tool","tool_call_id":"c1","content":"read"}]`,
	"/v1/responses":                    `"input":[{"type":"function_call_output","call_id":"c1","output":"read"}]`,
	"/v1beta/models/m:generateContent": `"contents":[{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"a":1}}}]}]`,
}

// What refers to a history that the provider has is sent as it came, whatever the member is called that says so, and
// the log says it once for a conversation.
func TestHistoryElsewhere(t *testing.T) {
	t.Parallel()
	asked := `[{"role":"user","content":"hi"}]`
	type request struct{ path, body string }
	tests := []request{
		{"/v1/responses", `{"previous_response_id":"%s","input":` + asked + `}`},
		{"/v1/responses", `{"input":` + asked + `,"conversation":"%s"}`},
		{"/v1/responses", `{"input":` + asked + `,"conversation":{"id":"%s"}}`},
		{"/v1/responses", `{"input":[{"role":"user","content":"hi"},{"type":"item_reference","id":"%s"},{"type":"function_call_output","call_id":"c1","output":"read"}]}`},
		{"/v1/responses", `{"input":[{"role":"user","content":"hi"},{"id":"%s"},{"role":"user","content":"Go on."}]}`},
		{"/v1/messages", `{"thread":{"type":"fork","previous_message_id":"%s"},"messages":` + asked + `}`},
		{"/v1beta/models/m:generateContent", `{"cachedContent":"%s","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{"/v1beta/models/m:streamGenerateContent", `{"cached_content":"%s","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{"/v1beta/interactions", `{"previous_interaction_id":"%s","input":"hi"}`},
	}
	for path, history := range results {
		for _, member := range []string{"", `"session":"%s",`, `"continue_from":{"answer":"%s"},`, `"history_id":["%s"],`, `"store":true,`} {
			tests = append(tests, request{path, "{" + member + history + "}"})
		}
	}
	for _, tt := range tests {
		var log bytes.Buffer
		var got string
		var seen []transport.Exchange
		o := options(window, 0)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.Done = func(x transport.Exchange) { seen = append(seen, x) }
		n := 0
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			got = string(read(r))
			n++
			return answer(200, "application/json", fmt.Sprintf(`{"id":"id-%d","usage":{"input_tokens":7}}`, n)), nil
		}), o)
		require.NoError(t, err)
		for k := range 3 { // each refers to the answer before it
			body := strings.ReplaceAll(tt.body, "%s", fmt.Sprint("id-", k))
			status, _ := post(t, tr, tt.path, body)
			assert.Equal(t, 200, status)
			assert.Equal(t, body, got)
		}
		isSame := strings.Contains(tt.body, "onversation") || strings.Contains(tt.body, "item_ref") || strings.Contains(tt.body, `{"id":"%s"},`) // refers to no answer
		assert.Equal(t, 1, strings.Count(log.String(), "\n"), "%s\n%s", tt.body, &log)
		assert.Contains(t, log.String(), "level=WARN")
		assert.Contains(t, log.String(), "the provider keeps the history", tt.body)
		require.Len(t, seen, 3)
		if !isSame {
			assert.Equal(t, seen[0].Conversation, seen[2].Conversation)
		}
		assert.Contains(t, log.String(), "conversation="+seen[0].Conversation)
		assert.NotEmpty(t, seen[0].Passed)
		assert.Equal(t, 7, seen[0].Usage.Prompt())
	}
}

// What is not elsewhere is managed: a whole history with results, whatever refers to nothing.
func TestHistoryIsHere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, body string }{
		{"/v1/messages", messages("book", 1)},
		{"/v1/messages", strings.Replace(messages("book", 1), `{"model"`, `{"thread":{"type":"create"},"model"`, 1)},
		{"/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-5@20251101:streamRawPredict", strings.Replace(messages("book", 1), `"model":"m"`, `"anthropic_version":"vertex-2023-10-16"`, 1)},
		{"/v1/responses", `{"previous_response_id":null,"conversation":null,"input":[{"role":"user","content":"hi"},` +
			`{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"read"}]}`},
		{"/v1/responses", `{"input":[{"role":"user","content":"hi"},{"type":"item_reference","id":"rs_1"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"c1","output":"read"}]}`},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"function_call":{"name":"read","arguments":"{}"}},` +
			`{"role":"function","name":"read","content":"read"}]}`},
		{"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"a":1}}}]}]}`},
	} {
		var seen []transport.Exchange
		o := options(window, 0)
		o.Done = func(x transport.Exchange) { seen = append(seen, x) }
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			return answer(200, "application/json", "{}"), nil
		}), o)
		require.NoError(t, err)
		post(t, tr, tt.path, tt.body)
		require.Len(t, seen, 1)
		assert.Empty(t, seen[0].Passed, tt.body)
		if strings.Contains(tt.path, "@") {
			assert.Equal(t, "claude-opus-4-5@20251101", seen[0].Model)
		}
	}
}

// A thread that the client continues is not: it then sends the whole history.
func TestThreads(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := options(window, 0)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var got []string
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		got = append(got, string(read(r)))
		return answer(200, "application/json", `{"id":"msg_1","usage":{"input_tokens":7}}`), nil
	}), o)
	require.NoError(t, err)
	create := `{"model":"m","thread":{"type":"create"},"messages":[{"role":"user","content":"hi"}]}`
	status, _ := post(t, tr, "/v1/messages", create)
	assert.Equal(t, 200, status)
	for range 2 {
		status, text := post(t, tr, "/v1/messages", `{"model":"m","thread":{"type":"continue","previous_message_id":"msg_1"},`+results["/v1/messages"]+`}`)
		assert.Equal(t, 400, status)
		assert.Contains(t, text, `"details":{"error_code":"thread_unsupported_request"}`)
		assert.Contains(t, text, `{"error":{"`)
	}
	assert.Len(t, got, 1, "the provider sees none of it")
	assert.Equal(t, 1, strings.Count(log.String(), "thread"), "%s", &log)
}

// A WebSocket is refused where the client goes on over HTTP, and passed on elsewhere, with a word.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := options(window, 0)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
		return answer(http.StatusSwitchingProtocols, "", ""), nil
	}), o)
	require.NoError(t, err)
	for path, want := range map[string]int{"/v1/responses": 426, "/v1/realtime": 101} {
		log.Reset()
		for range 2 {
			r := httptest.NewRequest(http.MethodGet, "http://provider.test"+path, nil)
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			res, err := tr.RoundTrip(r)
			require.NoError(t, err)
			assert.Equal(t, want, res.StatusCode)
		}
		assert.Equal(t, 1, strings.Count(log.String(), "WebSocket"), "%s", &log)
	}
}

// A body that is compressed by gzip, or by what the host can read, is managed; any other is passed on, and the log says
// so.
func TestCompressed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := options(window, 0)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var got []byte
	var encoding string
	o.Decompress = func(encoding string, body io.Reader) (io.Reader, error) {
		if encoding != "deflate" {
			return nil, errors.ErrUnsupported
		}
		return zlib.NewReader(body)
	}
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		got, encoding = read(r), r.Header.Get("Content-Encoding")
		return answer(200, "application/json", "{}"), nil
	}), o)
	require.NoError(t, err)
	send := func(encoding, body string) {
		r := request("/v1/messages", body)
		r.Header.Set("Content-Encoding", encoding)
		_, err := tr.RoundTrip(r)
		require.NoError(t, err)
	}
	var b bytes.Buffer
	for kind, z := range map[string]io.WriteCloser{"gzip": gzip.NewWriter(&b), "deflate": zlib.NewWriter(&b)} {
		b.Reset()
		_, _ = z.Write([]byte(messages("book", 60)))
		require.NoError(t, z.Close())
		send(kind, b.String())
		assert.Empty(t, encoding)
		assert.Less(t, len(got), 4*window)
	}
	log.Reset()
	for _, kind := range []string{"zstd", "gzip", "deflate", "zstd"} {
		send(kind, "no such bytes")
		assert.Equal(t, "no such bytes", string(got))
		assert.Equal(t, kind, encoding)
	}
	assert.Equal(t, 3, strings.Count(log.String(), "\n"), "%s", &log)
}

// An agent whose own wishes fill the window is told so at its first request, in the form of its API.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	tools := `"tools":[{"name":"read","input_schema":{"description":"` + strings.Repeat("a tool ", 3_000) + `"}}]`
	for _, tt := range []struct{ path, body, want string }{
		{"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":9000,` + tools + `,"messages":[{"role":"user","content":"hi"}]}`, "max_tokens asks for 9000"},
		{"/v1/chat/completions", `{"model":"gpt-4o","max_completion_tokens":9000,` + tools + `,"messages":[{"role":"user","content":"hi"}]}`, "max_completion_tokens asks for 9000"},
		{"/v1/responses", `{"model":"gpt-4o","max_output_tokens":9000,` + tools + `,"input":[{"role":"user","content":"hi"}]}`, "max_output_tokens asks for 9000"},
		{"/v1beta/models/gemini-3-pro:generateContent", `{"generationConfig":{"maxOutputTokens":9000},"tools":[{"functionDeclarations":[{"name":"read","description":"` + strings.Repeat("a tool ", 3_000) + `"}]}],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, "generationConfig.maxOutputTokens asks for 9000"},
		{"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":2000,` + tools + `,"messages":[{"role":"user","content":"hi"}]}`, ""},
		{"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":11900,"messages":[{"role":"user","content":"hi"}]}`, ""},
	} {
		n := 0
		tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
			n++
			return answer(200, "application/json", "{}"), nil
		}), options(window, 0))
		require.NoError(t, err)
		status, text := post(t, tr, tt.path, tt.body)
		if tt.want == "" {
			assert.Equal(t, 200, status, text)
			continue
		}
		assert.Equal(t, 400, status)
		assert.Zero(t, n)
		assert.Contains(t, text, tt.want)
		assert.Contains(t, text, "12000 tokens")
		assert.Regexp(t, `system prompt has about \d+, the tools \d{4}`, text)
		assert.Regexp(t, "invalid_request_error|INVALID_ARGUMENT", text)
	}
}
