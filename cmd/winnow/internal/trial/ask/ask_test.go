package ask

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// conversation has all that a request may have, and a probe behind what is shared.
func conversation() *Request {
	text := func(role winnow.Role, s string) winnow.Message {
		return winnow.Message{Role: role, Parts: []winnow.Part{{Text: s}}}
	}
	think := winnow.Part{Kind: winnow.KindThinking, ID: "rs_1", Text: "Hm.", Signature: "c2ln"}
	call := winnow.Part{Kind: winnow.KindToolCall, ID: "a00000001", Name: "read",
		Arguments: json.RawMessage(`{"path":"a.go"}`)}
	fails := call
	fails.ID = "toolu:01/2" // an id that few providers take
	result := func(id, s string, isError bool) winnow.Message {
		m := text(winnow.RoleTool, s)
		m.ToolCallID, m.ToolName, m.IsError = id, "read", isError
		return m
	}
	return &Request{
		System: "Be kind.", MaxTokens: 100, Shared: 7,
		Tools: []winnow.Tool{{Name: "read", Description: "Reads.",
			Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Messages: []winnow.Message{
			text(winnow.RoleSystem, "Use tabs."), text(winnow.RoleAssistant, "Hello."), text(winnow.RoleUser, "Look."),
			{Role: winnow.RoleAssistant, Parts: []winnow.Part{think, {Text: "I look."}, call, fails}},
			result("a00000001", "package a", false), result("toolu:01/2", "", true), text(winnow.RoleUser, "And?"),
			text(winnow.RoleUser, "A probe."),
		},
	}
}

// TestBodies: what is sent in each API.
func TestBodies(t *testing.T) {
	for _, a := range APIs() {
		b, err := Body(a, "m", conversation())
		require.NoError(t, err)
		var v any
		require.NoError(t, json.Unmarshal(b, &v))
		b, err = json.MarshalIndent(v, "", " ")
		require.NoError(t, err)
		name := filepath.Join("testdata", a.Name()+".json")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(name, append(b, '\n'), 0o644))
			continue
		}
		want, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(b)+"\n", "is it better? then: go test ./internal/trial/ask -update")
	}
}

// TestAnswers: what comes back in each API, with the usage as it is paid.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		api   API
		body  string
		usage winnow.Usage
		isCut bool
		why   string
	}{
		{messages{},
			`{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"read","input":{"path":"a.go"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":3,"output_tokens":4}}`,
			winnow.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4}, false,
			"the three counts of a prompt stand apart"},
		{chat{},
			`{"choices":[{"finish_reason":"tool_calls","message":{"content":"I look.","tool_calls":[{"id":"t","function":{"name":"read","arguments":"{\"path\":\"a.go\"}"}}]}}],"usage":{"prompt_tokens":5,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}`,
			winnow.Usage{Input: 3, CacheRead: 2, Output: 4}, false, "the cached tokens are part of the prompt's"},
		{responses{},
			`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"t","name":"read","arguments":"{\"path\":\"a.go\"}"}],"usage":{"input_tokens":5,"output_tokens":4,"input_tokens_details":{"cached_tokens":2}}}`,
			winnow.Usage{Input: 3, CacheRead: 2, Output: 4}, true, "it was cut"},
		{contents{},
			`{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Hm.","thought":true},{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"a.go"}}}]}}],"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":2,"candidatesTokenCount":1,"thoughtsTokenCount":3}}`,
			winnow.Usage{Input: 3, CacheRead: 2, Output: 4}, false, "thoughts are paid as the answer is"},
	} {
		a, err := tt.api.read([]byte(tt.body))
		require.NoError(t, err)
		assert.Equal(t, tt.usage, *a.Usage, tt.why)
		assert.Equal(t, tt.isCut, a.IsCut, tt.why)
		require.Len(t, a.Parts, 2)
		assert.Equal(t, "I look.", a.Parts[0].Text)
		assert.JSONEq(t, `{"path":"a.go"}`, string(a.Parts[1].Arguments))
		for _, bad := range []string{`{"choices":[]`, `<html>`} {
			_, err = tt.api.read([]byte(bad))
			assert.Error(t, err, "%s: %s", tt.api.Name(), bad)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ model, to, api, want, why string }{
		{"claude-opus-4-8", "", "messages", "https://api.anthropic.com/v1/messages", "the maker's"},
		{"gpt-5.2", "", "responses", "https://api.openai.com/v1/responses", "the maker's"},
		{"gemini-3-pro", "", "contents",
			"https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent", "the maker's"},
		{"qwen3", "http://localhost:11434", "chat", "http://localhost:11434/v1/chat/completions", "a host alone"},
		{"anthropic/claude-opus-4-8", "https://openrouter.ai/api/v1", "chat",
			"https://openrouter.ai/api/v1/chat/completions", "with a version"},
		{"glm", "https://api.z.ai/api/paas/v4/", "chat", "https://api.z.ai/api/paas/v4/chat/completions",
			"another version, and a slash"},
		{"m", "https://x.example/v1/chat/completions", "chat", "https://x.example/v1/chat/completions",
			"the whole address"},
		{"m", "https://x.example/anthropic/v1/messages", "messages", "https://x.example/anthropic/v1/messages",
			"which says the API"},
		{"claude-opus-4-8", "https://api.anthropic.com", "messages", "https://api.anthropic.com/v1/messages",
			"a maker's host"},
		{"llama-9", "", "", "", "nobody knows whose it is"},
	} {
		var to *url.URL
		if tt.to != "" {
			var err error
			to, err = url.Parse(tt.to)
			require.NoError(t, err)
		}
		a, err := For(tt.model, to)
		if tt.api == "" {
			assert.ErrorContains(t, err, "-to", tt.why)
			continue
		}
		require.NoError(t, err, tt.why)
		assert.Equal(t, tt.api, a.Name(), tt.why)
		assert.Equal(t, tt.want, address(a, tt.model, to), tt.why)
	}
	_, err := ByName("grpc")
	assert.ErrorContains(t, err, "want messages, responses, contents, chat")
}

// TestCanThink: thinking goes back only to the API that signed it, and is written there as it came.
func TestCanThink(t *testing.T) {
	for _, tt := range []struct {
		p     winnow.Part
		takes string
		why   string
	}{
		{winnow.Part{Text: "Hm.", Signature: "c2ln"}, "messages", "Anthropic's"},
		{winnow.Part{Signature: "c2ln", MediaType: redacted}, "messages", "Anthropic's, encrypted"},
		{winnow.Part{ID: "rs_1", Signature: "c2ln", MediaType: "reasoning"}, "responses", "OpenAI's"},
		{winnow.Part{Text: "Hm."}, "", "nobody signed it"},
		{winnow.Part{Signature: "c2ln", MediaType: "openai-completions"}, "", "another API's"},
	} {
		for _, a := range APIs() {
			assert.Equal(t, a.Name() == tt.takes, CanThink(a, &tt.p), "%s: %s", a.Name(), tt.why)
		}
	}
	r := &Request{Messages: []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Go."}}}, {Role: winnow.RoleAssistant,
		Parts: []winnow.Part{{Kind: winnow.KindThinking, Signature: "ZW5j", MediaType: redacted}, {Text: "Yes."}}}}}
	b, err := Body(messages{}, "m", r)
	require.NoError(t, err)
	assert.Contains(t, string(b), `{"data":"ZW5j","type":"redacted_thinking"}`)
}

// TestNew: without an address the key must be there; with one, as of a server of one's own, it need not.
func TestNew(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
		t.Setenv(name, "")
	}
	_, err := New(messages{}, "m", nil, "")
	assert.ErrorContains(t, err, "the environment has no ANTHROPIC_API_KEY")
	_, err = New(chat{}, "m", nil, "")
	assert.ErrorContains(t, err, "-to says")
	to := &url.URL{Scheme: "http", Host: "localhost:1"}
	_, err = New(chat{}, "m", to, "MY_KEY")
	assert.ErrorContains(t, err, "MY_KEY")
	c, err := New(chat{}, "m", to, "")
	require.NoError(t, err)
	assert.Equal(t, "localhost:1", c.Host())
}

// TestRetry: it waits as long as the provider says, does not follow to another host, and gives up.
func TestRetry(t *testing.T) {
	var answers []int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer k", r.Header.Get("Authorization"))
		status := answers[0]
		answers = answers[1:]
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Location", "http://elsewhere.example/")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"ok"}}]}`))
	}))
	defer server.Close()
	to, err := url.Parse(server.URL)
	require.NoError(t, err)
	t.Setenv("MY_KEY", " k\n")
	c, err := New(chat{}, "m", to, "MY_KEY")
	require.NoError(t, err)
	var waited []time.Duration
	c.Wait = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	for _, tt := range []struct {
		answers []int
		waits   int
		ok      bool
		why     string
	}{
		{[]int{429, 503, 200}, 2, true, "busy for a moment"},
		{[]int{400}, 0, false, "never tried again"},
		{[]int{307}, 0, false, "texts go to one provider alone"},
		{[]int{500, 500, 500, 500, 500, 500}, 5, false, "it gives up"},
	} {
		answers, waited = tt.answers, nil
		a, err := c.Ask(t.Context(), []byte("{}"))
		assert.Equal(t, tt.ok, err == nil, "%s: %v", tt.why, err)
		assert.Len(t, waited, tt.waits, tt.why)
		for _, d := range waited {
			assert.Equal(t, 7*time.Second, d)
		}
		if tt.ok {
			assert.Equal(t, "ok", a.Parts[0].Text)
		}
	}
}

// TestLog: the log of one trial is not taken for that of another.
func TestLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trial.jsonl")
	to := &url.URL{Scheme: "http", Host: "localhost:1"}
	c, err := New(chat{}, "m", to, "")
	require.NoError(t, err)
	log, err := OpenLog(name, c)
	require.NoError(t, err)
	k := Key{"q", "a", "h"}
	require.NoError(t, log.Add(Entry{Key: k, State: Sent, Dollars: 2}))
	assert.Equal(t, 2.0, log.Spent(), "what was only sent may have been paid for")
	require.NoError(t, log.Add(Entry{Key: k, State: Answered, Dollars: 0.5, Answer: &Answer{}}))
	require.NoError(t, log.Add(Entry{Key: Key{"q", "b", "h"}, State: Refused}))
	require.NoError(t, log.Close())
	log, err = OpenLog(name, c)
	require.NoError(t, err)
	assert.Equal(t, 0.5, log.Spent())
	_, isKnown := log.Find(k)
	assert.True(t, isKnown)
	_, isKnown = log.Find(Key{"q", "b", "h"})
	assert.False(t, isKnown, "what was refused may be asked again")
	require.NoError(t, log.Close())
	other, err := New(chat{}, "n", to, "")
	require.NoError(t, err)
	_, err = OpenLog(name, other)
	assert.ErrorContains(t, err, "it is the log of a trial of m")
	unasked := filepath.Join(t.TempDir(), "trial.jsonl")
	log, err = OpenLog(unasked, c)
	require.NoError(t, err)
	require.NoError(t, log.Add(Entry{Key: k, State: Refused, Error: "no such model"}))
	require.NoError(t, log.Close())
	log, err = OpenLog(unasked, other)
	require.NoError(t, err, "nothing was asked")
	require.NoError(t, log.Close())
	_, err = OpenLog(unasked, other)
	assert.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("notes\n"), 0o600))
	_, err = OpenLog(name, c)
	assert.ErrorContains(t, err, "no log of a trial")
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
