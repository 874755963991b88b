package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
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

const answerJSON = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","stop_reason":"tool_use","content":[
	{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
	{"type":"text","text":"I look.","citations":null},
	{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.go","n":1}},
	{"type":"future","x":1}],
	"usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"output_tokens":4}}`

func TestResponse(t *testing.T) {
	client, _ := answering(t, 200, answerJSON)
	answer, err := client.Messages.New(context.Background(), sdk.MessageNewParams{MaxTokens: 1})
	require.NoError(t, err)
	m := Response(answer)
	assert.Equal(t, winnow.Message{
		ID: "msg_1", Role: winnow.RoleAssistant, StopReason: "tool_use",
		Usage: &winnow.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, Output: 4},
		Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: "Hm.", Signature: "c2ln"},
			{Text: "I look."},
			{Kind: winnow.KindToolCall, ID: "toolu_1", Name: "read", Arguments: json.RawMessage(`{"n":1,"path":"a.go"}`)},
			{Kind: winnow.KindOpaque, Bytes: len(`{"type":"future","x":1}`)},
		},
	}, bare(m))
	question := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}
	assert.Equal(t, jsonOf(t, answer.ToParam()), jsonOf(t, Export([]winnow.Message{question, m})[1]), "it is sent back as the SDK would")
}

func TestSummarizer(t *testing.T) {
	req := winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Find the bug."}}}},
		MaxTokens: 500,
	}
	answer := func(stop string) string {
		return `{"role":"assistant","stop_reason":"` + stop + `","content":[{"type":"thinking","thinking":"no","signature":"x"},{"type":"text","text":"## Goal\n"},{"type":"text","text":"Find the bug."}]}`
	}
	for _, tt := range []struct {
		stop       string
		incomplete bool
	}{{"end_turn", false}, {"max_tokens", true}, {"tool_use", true}, {"refusal", true}, {"pause_turn", true}, {"model_context_window_exceeded", true}, {"", true}} {
		t.Run(tt.stop, func(t *testing.T) {
			client, body := answering(t, 200, answer(tt.stop))
			text, err := NewSummarizer(client, "claude-haiku-4-5", 300).Summarize(context.Background(), req)
			if tt.incomplete {
				assert.ErrorIs(t, err, winnow.ErrIncomplete)
				assert.Empty(t, text)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "## Goal\nFind the bug.", text)
			assert.Equal(t, map[string]any{
				"model": "claude-haiku-4-5", "max_tokens": 300.0,
				"system":   []any{map[string]any{"type": "text", "text": req.System()}},
				"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": req.Prompt()}}}},
			}, *body, "no tools, and nothing of the history but as data")
		})
	}
	t.Run("refused", func(t *testing.T) {
		client, _ := answering(t, 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`)
		_, err := NewSummarizer(client, "claude-haiku-4-5", 0).Summarize(context.Background(), req)
		assert.NotErrorIs(t, err, winnow.ErrIncomplete)
		assert.Equal(t, winnow.ErrorRateLimit, winnow.ClassifyError(err).Class)
	})
	t.Run("cancelled", func(t *testing.T) {
		client, _ := answering(t, 200, answer("end_turn"))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := NewSummarizer(client, "claude-haiku-4-5", 0).Summarize(ctx, req)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// TestErrors reads what the API refuses with through the SDK's own error.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   winnow.ErrorInfo
	}{
		{"overflow", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 215000, Limit: 200000}},
		{"with the answer", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 210000, Limit: 200000}},
		{"bytes", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, winnow.ErrorInfo{Class: winnow.ErrorBytes}},
		{"rate", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50,000 input tokens per minute"}}`, winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
		{"key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, winnow.ErrorInfo{Class: winnow.ErrorAuth}},
		{"pairing", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: unexpected ` + "`tool_use_id`" + ` found in ` + "`tool_result`" + ` blocks: a"}}`, winnow.ErrorInfo{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := answering(t, tt.status, tt.body)
			_, err := client.Messages.New(context.Background(), sdk.MessageNewParams{MaxTokens: 1})
			var typed *sdk.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, tt.want, winnow.ClassifyError(err))
			assert.Equal(t, tt.want, winnow.ClassifyError(errors.Join(errors.New("turn 3"), err)), "wrapped")
			typed.Request, typed.Response = nil, nil // Error panics then
			assert.Equal(t, tt.want.Class, winnow.ClassifyError(err).Class, "read from a log")
		})
	}
}
