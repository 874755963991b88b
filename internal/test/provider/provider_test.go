package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// object and list are JSON.
type (
	object = map[string]any
	list   = []any
)

// post sends a body to a provider and returns status and answer.
func post(t testing.TB, p http.Handler, path string, body any) (int, string) {
	t.Helper()
	raw, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		require.NoError(t, err)
		raw = string(b)
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(raw))
	r.Header.Set("Authorization", "Bearer test")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// messages and chat make requests of texts: the user's, the assistant's, the user's …
func messages(texts ...string) object {
	return object{"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": turns(texts)}
}

func chat(texts ...string) object {
	return object{"model": "gpt-4o", "messages": turns(texts)}
}

func turns(texts []string) list {
	var out list
	for i, text := range texts {
		out = append(out, object{"role": []string{"user", "assistant"}[i%2], "content": text})
	}
	return out
}

func TestAnswers(t *testing.T) {
	p := provider.New(provider.Options{Model: func(r *provider.Request) provider.Answer {
		if strings.HasPrefix(r.Last().Text, "call") {
			return provider.Answer{Text: "a moment", Calls: []provider.ToolCall{{Name: "ls", Arguments: json.RawMessage(`{"path":"."}`)}}}
		}
		return provider.Answer{Text: "you said " + r.Last().Text}
	}})
	status, body := post(t, p, "/v1/messages", messages("one"))
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `{"id":"msg_00000001","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"you said one"}],
		"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":3,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}}`, body)

	status, body = post(t, p, "/v1/chat/completions", chat("call"))
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `{"id":"chatcmpl-00000002","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,"logprobs":null,"finish_reason":"tool_calls",
		"message":{"role":"assistant","content":"a moment","refusal":null,"tool_calls":[{"id":"call_00000002_0","type":"function","function":{"name":"ls","arguments":"{\"path\":\".\"}"}}]}}],
		"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0}}}`, body)

	all := p.Exchanges()
	require.Len(t, all, 2)
	assert.Equal(t, "one", all[0].Request.Last().Text)
	assert.Equal(t, "call_00000002_0", all[1].Answer.Calls[0].ID)
}

func TestWindow(t *testing.T) {
	long := strings.Repeat("four", 1000) // 1 000 tokens, and 4 for the frame
	for name, wording := range provider.Wordings() {
		p := provider.New(provider.Options{Window: 900, Overflow: wording})
		for path, body := range map[string]object{"/v1/messages": messages(long), "/v1/chat/completions": chat(long)} {
			status, text := post(t, p, path, body)
			assert.GreaterOrEqual(t, status, 400, "%s: %s", name, text)
			assert.NotContains(t, text, "{input}", name)
			assert.NotContains(t, text, "%!", name)
		}
		fits := provider.New(provider.Options{Window: 1104, Overflow: wording})
		status, text := post(t, fits, "/v1/messages", messages(long))
		assert.Equal(t, 200, status, "%s: 1 004 tokens and 100 for the answer fit: %s", name, text)
	}
}

func TestWindowIsHidden(t *testing.T) {
	p := provider.New(provider.Options{Window: 100, Overflow: provider.Wordings()["bedrock"]})
	_, text := post(t, p, "/v1/messages", messages(strings.Repeat("four", 200)))
	assert.NotContains(t, text, "100", "the wording tells no limit")
	assert.Contains(t, text, "Input is too long for requested model.")
}

func TestAnswerIsCut(t *testing.T) {
	p := provider.New(provider.Options{Window: 1000, Model: func(*provider.Request) provider.Answer {
		return provider.Answer{Text: strings.Repeat("word ", 400)}
	}})
	_, body := post(t, p, "/v1/messages", messages("x"))
	assert.Contains(t, body, `"stop_reason":"max_tokens"`, "500 tokens, 100 were asked for")
	_, body = post(t, p, "/v1/messages", messages(strings.Repeat("four", 950)))
	assert.Contains(t, body, `"stop_reason":"model_context_window_exceeded"`, "46 tokens are left in the window")
	_, body = post(t, p, "/v1/chat/completions", chat(strings.Repeat("four", 950)))
	assert.Contains(t, body, `"finish_reason":"length"`)
}

func TestBytes(t *testing.T) {
	p := provider.New(provider.Options{MaxBytes: 1000})
	status, body := post(t, p, "/v1/messages", messages(strings.Repeat("x", 1000)))
	assert.Equal(t, 413, status)
	assert.Contains(t, body, `"type":"request_too_large"`)
	status, _ = post(t, p, "/v1/messages", messages("x"))
	assert.Equal(t, 200, status)
}

func TestRepeats(t *testing.T) {
	fail := true
	p := provider.New(provider.Options{Window: 100, Model: func(*provider.Request) provider.Answer {
		if fail {
			fail = false
			return provider.Answer{Error: provider.Overloaded()}
		}
		return provider.Answer{Text: "ok"}
	}})
	post(t, p, "/v1/messages", messages("x"))
	status, _ := post(t, p, "/v1/messages", messages("x"))
	assert.Equal(t, 200, status)
	assert.Empty(t, p.Repeats(), "to try again after a 529 is right")
	for range 2 {
		post(t, p, "/v1/messages", messages(strings.Repeat("x", 1000)))
	}
	assert.Equal(t, []int{3}, p.Repeats(), "to send what was too long is not")
}

func TestNoKey(t *testing.T) {
	p := provider.New(provider.Options{})
	for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}")))
		assert.Equal(t, 401, w.Code)
	}
}

func TestStreamsBreak(t *testing.T) {
	for _, c := range []struct {
		why    string
		answer provider.Answer
		sees   string
		err    bool
	}{
		{"whole", provider.Answer{Text: "one two three four five six seven"}, "message_stop", false},
		{"the connection is cut", provider.Answer{Text: "one two three four five six seven", Cut: true}, "one two", true},
		{"an error comes in the stream", provider.Answer{Text: "one two three four", Error: provider.Overloaded(), Late: true}, `"overloaded_error"`, false},
	} {
		p := provider.New(provider.Options{Model: func(*provider.Request) provider.Answer { return c.answer }})
		server := httptest.NewServer(p)
		body := messages("x")
		body["stream"] = true
		raw, _ := json.Marshal(body)
		r, err := http.NewRequest(http.MethodPost, server.URL+"/v1/messages", bytes.NewReader(raw))
		require.NoError(t, err)
		r.Header.Set("x-api-key", "test")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		assert.Equal(t, c.err, err != nil, "%s: %v", c.why, err)
		assert.Contains(t, string(text), c.sees, c.why)
		answer.Body.Close()
		server.Close()
	}
}

func ExampleProvider() {
	p := provider.New(provider.Options{Window: 100})
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(
		`{"model":"claude","max_tokens":10,"messages":[{"role":"user","content":"`+strings.Repeat("word", 200)+`"}]}`))
	r.Header.Set("x-api-key", "test")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output: 400 {"error":{"message":"prompt is too long: 204 tokens > 100 maximum","type":"invalid_request_error"},"request_id":"req_test","type":"error"}
}
