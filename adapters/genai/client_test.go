package genai

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

func TestResponse(t *testing.T) {
	client := clientOf(adaptertest.Answers(t, `{"responseId":"r1","candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
		{"text":"Hm.","thought":true},{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2lnbmVk"}]}}],
		"usageMetadata":{"promptTokenCount":240,"cachedContentTokenCount":200,"candidatesTokenCount":7,"thoughtsTokenCount":3,"toolUsePromptTokenCount":5}}`))
	answer, err := client.Models.GenerateContent(context.Background(), "gemini-3-flash", []*sdk.Content{user(text("q"))}, nil)
	require.NoError(t, err)
	m := Response(answer)
	question := Import([]*sdk.Content{user(text("q"))})[0]
	assert.Same(t, answer.Candidates[0].Content, Export([]winnow.Message{question, m})[1], "it is sent back as it came")
	assert.True(t, wire.IsMade(m.Parts[2].ID))
	m.Parts[2].ID = ""
	assert.Equal(t, winnow.Message{
		ID: "r1", Role: winnow.RoleAssistant, StopReason: "STOP", Usage: &winnow.Usage{Input: 45, CacheRead: 200, Output: 10},
		Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: "Hm."}, {Text: "I look."},
			{Kind: winnow.KindToolCall, Name: "read", Arguments: json.RawMessage(`{"path":"x"}`), Signature: "c2lnbmVk"},
		},
	}, adaptertest.Bare(m))
	assert.Equal(t, winnow.Message{Role: winnow.RoleAssistant, StopReason: "SAFETY"},
		Response(&sdk.GenerateContentResponse{PromptFeedback: &sdk.GenerateContentResponsePromptFeedback{BlockReason: "SAFETY"}}))
	assert.Equal(t, winnow.Message{Role: winnow.RoleAssistant, StopReason: "MALFORMED_FUNCTION_CALL"},
		Response(&sdk.GenerateContentResponse{Candidates: []*sdk.Candidate{{FinishReason: "MALFORMED_FUNCTION_CALL"}}}))
	bare := &sdk.Content{Parts: []*sdk.Part{text("a")}}
	assert.Equal(t, winnow.RoleAssistant, Response(&sdk.GenerateContentResponse{Candidates: []*sdk.Candidate{{Content: bare}}}).Role)
	assert.Empty(t, bare.Role, "the answer is as it was")
}

func TestSummarizer(t *testing.T) {
	answer := func(reason, parts string) string {
		return `{"candidates":[{"finishReason":"` + reason + `","content":{"role":"model","parts":[` + parts + `]}}]}`
	}
	config := &sdk.GenerateContentConfig{Temperature: new(float32), Tools: []*sdk.Tool{{}}}
	of := func(url string) winnow.Summarizer { return NewSummarizer(clientOf(url), "gemini-3-flash", 300, config) }
	adaptertest.CheckSummarizer(t, of, answer("STOP", `{"text":"no","thought":true},{"text":"## Goal\n"},{"text":"Find the bug."}`), []string{
		answer("MAX_TOKENS", `{"text":"## Go"}`),
		answer("SAFETY", ``),
		answer("STOP", `{"functionCall":{"name":"x"}}`),
		answer("", `{"text":"## Go"}`),
		`{"promptFeedback":{"blockReason":"OTHER"}}`,
	}, func(system, prompt string) map[string]any {
		return map[string]any{
			"contents":          []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": prompt}}}},
			"systemInstruction": map[string]any{"role": "user", "parts": []any{map[string]any{"text": system}}},
			"generationConfig":  map[string]any{"maxOutputTokens": 300.0, "temperature": 0.0},
		}
	})
	assert.Len(t, config.Tools, 1, "the caller's config is as it was")
}

// TestErrors reads what the API refuses with through the SDK's own error.
func TestErrors(t *testing.T) {
	adaptertest.CheckErrors[sdk.APIError](t, whole, []adaptertest.Refusal{
		{Status: 400, Body: `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 1200000, Limit: 1048576}},
		{Status: 400, Body: `{"error":{"code":400,"message":"Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 1200000, Limit: 1048576}},
		{Status: 400, Body: `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorBytes}},
		{Status: 503, Body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, Want: winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
		{Status: 400, Body: `{"error":{"code":400,"message":"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.","status":"INVALID_ARGUMENT"}}`, Want: winnow.ErrorInfo{}},
	})
}
