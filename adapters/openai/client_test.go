package openai

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

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
			client := clientOf(adaptertest.Answers(t, tt.answer))
			answer, err := client.Chat.Completions.New(context.Background(), sdk.ChatCompletionNewParams{})
			require.NoError(t, err)
			m := Response(answer)
			assert.JSONEq(t, tt.sent, jsonOf(t, Export([]winnow.Message{m})[0]))
			assert.Equal(t, tt.want, adaptertest.Bare(m))
		})
	}
	assert.Equal(t, winnow.Message{ID: "x", Role: winnow.RoleAssistant}, Response(&sdk.ChatCompletion{ID: "x"}))
}

func TestSummarizer(t *testing.T) {
	of := func(url string) winnow.Summarizer { return NewSummarizer(*clientOf(url), "gpt-5-mini", 300) }
	adaptertest.CheckSummarizer(t, of, `{"choices":[{"finish_reason":"stop","message":{"content":"## Goal\nFind the bug."}}]}`, []string{
		`{"choices":[{"finish_reason":"length","message":{"content":"## Go"}}]}`,
		`{"choices":[{"finish_reason":"content_filter","message":{"content":"## Go"}}]}`,
		`{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":""}}]}}]}`,
		`{"choices":[{"finish_reason":"stop","message":{"content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":""}}]}}]}`,
		`{"choices":[{"finish_reason":"stop","message":{"refusal":"I cannot."}}]}`,
		`{"choices":[{"message":{"content":"## Go"}}]}`,
		`{"choices":[]}`,
	}, func(system, prompt string) map[string]any {
		return map[string]any{
			"model": "gpt-5-mini", "max_completion_tokens": 300.0,
			"messages": []any{map[string]any{"role": "system", "content": system}, map[string]any{"role": "user", "content": prompt}},
		}
	})
}

// TestErrors reads what servers refuse with through the SDK's own error, whose text says nothing.
func TestErrors(t *testing.T) {
	adaptertest.CheckErrors[*sdk.Error](t, whole, []adaptertest.Refusal{
		{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130129 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 130129, Limit: 128000}},
		{Status: 400, Body: `{"error":{"message":"no","code":"context_length_exceeded"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow}},
		{Status: 500, Body: `{"error":{"code":500,"message":"the request exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 9000, Limit: 8192}},
		{Status: 429, Body: `{"error":{"message":"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000.","type":"tokens","code":"rate_limit_exceeded"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{Status: 429, Body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorQuota}},
		{Status: 400, Body: `{"error":{"message":"Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.","type":"invalid_request_error","param":"messages[3].tool_calls[0].id","code":"string_above_max_length"}}`, Want: winnow.ErrorInfo{}},
	})
}
