package adaptertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

// Front puts an API that the strict provider does not speak in front of it.
type Front struct {
	Wording string // how the API refuses a request that is too long; see provider.Wordings

	// Read checks a request by the rules of the API.
	Read func(r *http.Request, body []byte) (FrontRequest, error)

	// Answer returns the body of an answer, or the events of a stream.
	Answer func(answer *winnow.Message, stream bool) []byte

	// Refuse returns the body of a refusal.
	Refuse func(status int, text string) []byte
}

// FrontRequest is what a provider needs to know about a request.
type FrontRequest struct {
	System    string
	Messages  []winnow.Message
	MaxTokens int
	Tools     bool
	Stream    bool
}

// handler answers requests of the API with the provider's answers in Chat Completions.
func (f *Front) handler(t *testing.T, provider http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		request, err := f.Read(r, body)
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			t.Errorf("a request is not valid: %v", err)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(f.Refuse(http.StatusBadRequest, err.Error()))
			return
		}
		answer, status, text := askChat(t, provider, &request)
		if status != http.StatusOK {
			w.WriteHeader(status)
			_, _ = w.Write(f.Refuse(status, text))
			return
		}
		if request.Stream {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = w.Write(f.Answer(&answer, request.Stream))
	})
}

// askChat sends a request in Chat Completions. A refusal has a status and a text.
func askChat(t *testing.T, provider http.Handler, q *FrontRequest) (answer winnow.Message, status int, text string) {
	messages := []map[string]any{}
	if q.System != "" {
		messages = append(messages, map[string]any{"role": "system", "content": q.System})
	}
	for i := range q.Messages {
		messages = append(messages, chatMessage(&q.Messages[i]))
	}
	request := map[string]any{"model": "m", "messages": messages}
	if q.MaxTokens > 0 {
		request["max_completion_tokens"] = q.MaxTokens
	}
	if q.Tools {
		request["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "read"}}}
	}
	body, err := json.Marshal(request)
	assert.NoError(t, err)
	post := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
	post.Header.Set("Authorization", "Bearer none")
	w := httptest.NewRecorder()
	provider.ServeHTTP(w, post)
	var reply struct {
		ID      string
		Error   struct{ Message string }
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   string
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code == http.StatusOK && len(reply.Choices) == 0 {
		t.Errorf("the provider's answer cannot be read: %v: %s", err, w.Body)
		return answer, http.StatusInternalServerError, "?"
	}
	if w.Code != http.StatusOK {
		return answer, w.Code, reply.Error.Message
	}
	choice := &reply.Choices[0]
	answer = winnow.Message{ID: reply.ID, Role: winnow.RoleAssistant, StopReason: choice.FinishReason,
		Usage: &winnow.Usage{Input: reply.Usage.Prompt, Output: reply.Usage.Completion}}
	if choice.Message.Content != "" {
		answer.Parts = append(answer.Parts, winnow.Part{Text: choice.Message.Content})
	}
	for _, c := range choice.Message.ToolCalls {
		answer.Parts = append(answer.Parts,
			winnow.Part{Kind: winnow.KindToolCall, ID: c.ID, Name: c.Function.Name,
				Arguments: json.RawMessage(c.Function.Arguments)})
	}
	return answer, http.StatusOK, ""
}

// chatMessage returns m in the form of Chat Completions.
func chatMessage(m *winnow.Message) map[string]any {
	text := ""
	var calls []any
	for _, p := range m.Parts {
		switch p.Kind {
		case winnow.KindText:
			text += p.Text
		case winnow.KindToolCall:
			calls = append(calls, map[string]any{"id": p.ID, "type": "function",
				"function": map[string]any{"name": p.Name, "arguments": string(p.Arguments)}})
		}
	}
	out := map[string]any{"role": string(m.Role), "content": text}
	if calls != nil {
		out["tool_calls"] = calls
	}
	if m.Role == winnow.RoleTool {
		out["tool_call_id"] = m.ToolCallID
	}
	return out
}
