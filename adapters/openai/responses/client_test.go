package responses

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// answering returns the SDK's client of a server that gives one answer to all requests, and the body of the last.
func answering(t *testing.T, status int, answer string) (client openai.Client, body *map[string]any) {
	t.Helper()
	url, body := adaptertest.Server(t, status, answer)
	return openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0)), body
}

func TestResponse(t *testing.T) {
	const thought, called = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"abc","later":1}`, `{"id":"fc_1","type":"function_call","call_id":"a","name":"read","arguments":"{}","status":"completed"}`
	const listing, listed = `{"id":"sh_1","type":"shell_call","call_id":"s","action":{"commands":["ls"]},"status":"completed"}`, `{"id":"so_1","type":"shell_call_output","call_id":"s","output":[]}`
	const said = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Found.","annotations":[]}]}`
	client, _ := answering(t, 200, `{"id":"resp_1","status":"completed","output":[`+thought+`,`+called+`],"usage":{"input_tokens":240,"output_tokens":7,"input_tokens_details":{"cached_tokens":200,"cache_write_tokens":30}}}`)
	answer, err := client.Responses.New(context.Background(), sdk.ResponseNewParams{})
	require.NoError(t, err)
	messages := Response(answer)
	assert.Equal(t, "["+thought+","+called+"]", jsonOf(t, Export(messages)), "it is sent back as it came")
	require.Len(t, messages, 1)
	for k := range messages[0].Parts {
		messages[0].Parts[k].Source = nil
	}
	messages[0].Source = nil
	assert.Equal(t, winnow.Message{
		ID: "resp_1", Role: winnow.RoleAssistant, StopReason: "completed", Usage: &winnow.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, Output: 7},
		Parts: []winnow.Part{
			{Kind: winnow.KindThinking, ID: "rs_1", Signature: "abc"},
			{Kind: winnow.KindToolCall, ID: "a", Name: "read", Arguments: json.RawMessage("{}")},
		},
	}, messages[0])

	client, _ = answering(t, 200, `{"id":"resp_2","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+listing+`,`+listed+`,`+said+`]}`)
	answer, err = client.Responses.New(context.Background(), sdk.ResponseNewParams{})
	require.NoError(t, err)
	messages = Response(answer)
	require.Len(t, messages, 3, "the API ran a tool of its own")
	assert.Equal(t, "resp_2", messages[0].ID)
	assert.Equal(t, "max_output_tokens", messages[2].StopReason)
	assert.Equal(t, "["+listing+","+listed+","+said+"]", jsonOf(t, Export(messages)))

	for status, want := range map[string]string{"failed": "error", "cancelled": "aborted", "completed": "completed"} {
		messages := Response(&sdk.Response{Status: sdk.ResponseStatus(status)})
		assert.Equal(t, []winnow.Message{{Role: winnow.RoleAssistant, StopReason: want}}, messages)
	}
}

func TestSummarizer(t *testing.T) {
	req := winnow.SummaryRequest{
		Messages:  []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Find the bug."}}}},
		MaxTokens: 500,
	}
	const said = `{"type":"message","content":[{"type":"output_text","text":"## Goal\n"},{"type":"output_text","text":"Find the bug."}]}`
	for _, tt := range []struct {
		name, answer string
		want         string // "" for an answer that is refused
	}{
		{"completed", `{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[]},` + said + `]}`, "## Goal\nFind the bug."},
		{"incomplete", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + said + `]}`, ""},
		{"failed", `{"status":"failed","output":[]}`, ""},
		{"calls", `{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}]}`, ""},
		{"refusal", `{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}]}`, ""},
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
				"model": "gpt-5-mini", "max_output_tokens": 300.0, "store": false, "instructions": req.System(), "input": req.Prompt(),
			}, *body, "no tools, and nothing of the history but as data")
		})
	}
	t.Run("refused", func(t *testing.T) {
		client, _ := answering(t, 429, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`)
		_, err := NewSummarizer(client, "gpt-5-mini", 0).Summarize(context.Background(), req)
		assert.NotErrorIs(t, err, winnow.ErrIncomplete)
		assert.Equal(t, winnow.ErrorRateLimit, winnow.ClassifyError(err).Class)
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
		{"overflow", 400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, winnow.ErrorInfo{Class: winnow.ErrorOverflow}},
		{"pairing", 400, `{"error":{"message":"No tool output found for function call call_1.","type":"invalid_request_error","param":"input","code":null}}`, winnow.ErrorInfo{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, _ := answering(t, tt.status, tt.body)
			_, err := client.Responses.New(context.Background(), sdk.ResponseNewParams{})
			var typed *openai.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, tt.want, winnow.ClassifyError(err))
		})
	}
}
