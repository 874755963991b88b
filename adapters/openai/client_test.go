package openai

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// answering returns the SDK's client of a server that gives one answer to all requests, and the body of the last.
func answering(t *testing.T, status int, answer string) (client sdk.Client, body *map[string]any) {
	t.Helper()
	url, body := adaptertest.Server(t, status, answer)
	return sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0)), body
}

func TestResponse(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         winnow.Message
		sent         string
	}{
		{"calls", `{"id":"chatcmpl-1","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\": \"x\"}"}}]}}],
			"usage":{"prompt_tokens":240,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":200,"cache_write_tokens":30}}}`,
			winnow.Message{ID: "chatcmpl-1", Role: winnow.RoleAssistant, StopReason: "tool_calls", Usage: &winnow.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, Output: 7}, Parts: []winnow.Part{
				{Kind: winnow.KindThinking, Text: "Hm.", MediaType: "reasoning_content"},
				{Kind: winnow.KindToolCall, ID: "call_1", Name: "read", Arguments: json.RawMessage(`{"path": "x"}`)},
			}},
			`{"role":"assistant","reasoning_content":"Hm.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\": \"x\"}"}}]}`},
		{"text", `{"id":"chatcmpl-2","choices":[{"finish_reason":"length","message":{"role":"assistant","content":"I am","reasoning_content":"Hm."}}]}`,
			winnow.Message{ID: "chatcmpl-2", Role: winnow.RoleAssistant, StopReason: "length", Parts: []winnow.Part{{Text: "I am"}}},
			`{"role":"assistant","content":"I am"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := answering(t, 200, tt.answer)
			answer, err := client.Chat.Completions.New(context.Background(), sdk.ChatCompletionNewParams{})
			require.NoError(t, err)
			m := Response(answer)
			assert.JSONEq(t, tt.sent, jsonOf(t, Export([]winnow.Message{m})[0]))
			m.Source = nil
			for k := range m.Parts {
				m.Parts[k].Source = nil
			}
			assert.Equal(t, tt.want, m)
		})
	}
	assert.Equal(t, winnow.Message{ID: "x", Role: winnow.RoleAssistant}, Response(&sdk.ChatCompletion{ID: "x"}))
}

func TestSummarizer(t *testing.T) {
	req := winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Find the bug."}}}},
		MaxTokens: 500,
	}
	for _, tt := range []struct {
		name, answer string
		want         string // "" for an answer that is refused
	}{
		{"stop", `{"choices":[{"finish_reason":"stop","message":{"content":"## Goal\nFind the bug."}}]}`, "## Goal\nFind the bug."},
		{"length", `{"choices":[{"finish_reason":"length","message":{"content":"## Go"}}]}`, ""},
		{"filter", `{"choices":[{"finish_reason":"content_filter","message":{"content":"## Go"}}]}`, ""},
		{"calls", `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":""}}]}}]}`, ""},
		{"calls that stop", `{"choices":[{"finish_reason":"stop","message":{"content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":""}}]}}]}`, ""},
		{"refusal", `{"choices":[{"finish_reason":"stop","message":{"refusal":"I cannot."}}]}`, ""},
		{"broken off", `{"choices":[{"message":{"content":"## Go"}}]}`, ""},
		{"no choices", `{"choices":[]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, body := answering(t, 200, tt.answer)
			text, err := NewSummarizer(client, "gpt-5-mini", 300).Summarize(context.Background(), req)
			assert.Equal(t, tt.want, text)
			if tt.want == "" {
				assert.ErrorIs(t, err, winnow.ErrIncomplete)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, map[string]any{
				"model": "gpt-5-mini", "max_completion_tokens": 300.0,
				"messages": []any{map[string]any{"role": "system", "content": req.System()}, map[string]any{"role": "user", "content": req.Prompt()}},
			}, *body, "no tools, and nothing of the history but as data")
		})
	}
	t.Run("refused", func(t *testing.T) {
		client, _ := answering(t, 401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`)
		_, err := NewSummarizer(client, "gpt-5-mini", 0).Summarize(context.Background(), req)
		assert.NotErrorIs(t, err, winnow.ErrIncomplete)
		assert.Equal(t, winnow.ErrorAuth, winnow.ClassifyError(err).Class)
	})
}

// TestErrors reads what servers refuse with through the SDK's own error, whose text says nothing.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   winnow.ErrorInfo
	}{
		{"overflow", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130129 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 130129, Limit: 128000}},
		{"only a code", 400, `{"error":{"message":"no","code":"context_length_exceeded"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow}},
		{"another server's", 500, `{"error":{"code":500,"message":"the request exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 9000, Limit: 8192}},
		{"rate", 429, `{"error":{"message":"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000.","type":"tokens","code":"rate_limit_exceeded"}}`, winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, winnow.ErrorInfo{Class: winnow.ErrorQuota}},
		{"long id", 400, `{"error":{"message":"Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.","type":"invalid_request_error","param":"messages[3].tool_calls[0].id","code":"string_above_max_length"}}`, winnow.ErrorInfo{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := answering(t, tt.status, tt.body)
			_, err := client.Chat.Completions.New(context.Background(), sdk.ChatCompletionNewParams{})
			var typed *sdk.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, tt.want, winnow.ClassifyError(err))
			assert.Equal(t, tt.want, winnow.ClassifyError(errors.Join(errors.New("turn 3"), err)), "wrapped")
		})
	}
}
