package genai

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// answering returns the SDK's client of a server that gives one answer to all requests, and the body of the last.
func answering(t *testing.T, status int, answer string) (client *sdk.Client, body *map[string]any) {
	t.Helper()
	url, body := adaptertest.Server(t, status, answer)
	client, err := sdk.NewClient(context.Background(), &sdk.ClientConfig{APIKey: "none", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: url}})
	require.NoError(t, err)
	return client, body
}

func TestResponse(t *testing.T) {
	client, _ := answering(t, 200, `{"responseId":"r1","candidates":[{"finishReason":"STOP","content":{"role":"model","parts":[
		{"text":"Hm.","thought":true},{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"c2lnbmVk"}]}}],
		"usageMetadata":{"promptTokenCount":240,"cachedContentTokenCount":200,"candidatesTokenCount":7,"thoughtsTokenCount":3,"toolUsePromptTokenCount":5}}`)
	answer, err := client.Models.GenerateContent(context.Background(), "gemini-3-flash", []*sdk.Content{user(text("q"))}, nil)
	require.NoError(t, err)
	m := Response(answer)
	question := Import([]*sdk.Content{user(text("q"))})[0]
	assert.Same(t, answer.Candidates[0].Content, Export([]winnow.Message{question, m})[1], "it is sent back as it came")
	assert.Equal(t, madePrefix, m.Parts[2].ID[:len(madePrefix)])
	m.Parts[2].ID = ""
	m.Source = nil
	for k := range m.Parts {
		m.Parts[k].Source = nil
	}
	assert.Equal(t, winnow.Message{
		ID: "r1", Role: winnow.RoleAssistant, StopReason: "STOP", Usage: &winnow.Usage{Input: 45, CacheRead: 200, Output: 10},
		Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: "Hm."}, {Text: "I look."},
			{Kind: winnow.KindToolCall, Name: "read", Arguments: json.RawMessage(`{"path":"x"}`), Signature: "c2lnbmVk"},
		},
	}, m)
	assert.Equal(t, winnow.Message{Role: winnow.RoleAssistant, StopReason: "SAFETY"},
		Response(&sdk.GenerateContentResponse{PromptFeedback: &sdk.GenerateContentResponsePromptFeedback{BlockReason: "SAFETY"}}))
	assert.Equal(t, winnow.Message{Role: winnow.RoleAssistant, StopReason: "MALFORMED_FUNCTION_CALL"},
		Response(&sdk.GenerateContentResponse{Candidates: []*sdk.Candidate{{FinishReason: "MALFORMED_FUNCTION_CALL"}}}))
	bare := &sdk.Content{Parts: []*sdk.Part{text("a")}}
	assert.Equal(t, winnow.RoleAssistant, Response(&sdk.GenerateContentResponse{Candidates: []*sdk.Candidate{{Content: bare}}}).Role)
	assert.Empty(t, bare.Role, "the answer is as it was")
}

func TestSummarizer(t *testing.T) {
	req := winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Find the bug."}}}},
		MaxTokens: 500,
	}
	answer := func(reason, parts string) string {
		return `{"candidates":[{"finishReason":"` + reason + `","content":{"role":"model","parts":[` + parts + `]}}]}`
	}
	for _, tt := range []struct {
		name, answer string
		want         string // "" for an answer that is refused
	}{
		{"stop", answer("STOP", `{"text":"no","thought":true},{"text":"## Goal\n"},{"text":"Find the bug."}`), "## Goal\nFind the bug."},
		{"cut", answer("MAX_TOKENS", `{"text":"## Go"}`), ""},
		{"safety", answer("SAFETY", ``), ""},
		{"call", answer("STOP", `{"functionCall":{"name":"x"}}`), ""},
		{"broken off", answer("", `{"text":"## Go"}`), ""},
		{"blocked", `{"promptFeedback":{"blockReason":"OTHER"}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, body := answering(t, 200, tt.answer)
			config := &sdk.GenerateContentConfig{Temperature: new(float32), Tools: []*sdk.Tool{{}}}
			got, err := NewSummarizer(client, "gemini-3-flash", 300, config).Summarize(context.Background(), req)
			assert.Equal(t, tt.want, got)
			if tt.want == "" {
				assert.ErrorIs(t, err, winnow.ErrIncomplete)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, map[string]any{
				"contents":          []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": req.Prompt()}}}},
				"systemInstruction": map[string]any{"role": "user", "parts": []any{map[string]any{"text": req.System()}}},
				"generationConfig":  map[string]any{"maxOutputTokens": 300.0, "temperature": 0.0},
			}, *body, "no tools, and nothing of the history but as data")
			assert.Len(t, config.Tools, 1, "the caller's config is as it was")
		})
	}
	t.Run("refused", func(t *testing.T) {
		client, _ := answering(t, 403, `{"error":{"code":403,"message":"API key not valid. Please pass a valid API key.","status":"PERMISSION_DENIED"}}`)
		_, err := NewSummarizer(client, "gemini-3-flash", 0, nil).Summarize(context.Background(), req)
		assert.NotErrorIs(t, err, winnow.ErrIncomplete)
		assert.Equal(t, winnow.ErrorAuth, winnow.ClassifyError(err).Class)
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
		{"overflow", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 1200000, Limit: 1048576}},
		{"Vertex", 400, `{"error":{"code":400,"message":"Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 1200000, Limit: 1048576}},
		{"bytes", 400, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`, winnow.ErrorInfo{Class: winnow.ErrorBytes}},
		{"overloaded", 503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
		{"pairing", 400, `{"error":{"code":400,"message":"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.","status":"INVALID_ARGUMENT"}}`, winnow.ErrorInfo{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := answering(t, tt.status, tt.body)
			_, err := client.Models.GenerateContent(context.Background(), "gemini-3-flash", []*sdk.Content{user(text("q"))}, nil)
			var typed sdk.APIError
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, tt.want, winnow.ClassifyError(err))
			assert.Equal(t, tt.want, winnow.ClassifyError(errors.Join(errors.New("turn 3"), err)), "wrapped")
		})
	}
}
