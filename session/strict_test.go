package session_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// chatMessage is a message of OpenAI's Chat Completions.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content,omitempty"` // a string, unless there are calls instead
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// requireAccepted sends a request to the strict provider.
func requireAccepted(t testing.TB, request []winnow.Message, name string) {
	t.Helper()
	var body struct {
		Model    string        `json:"model"`
		Messages []chatMessage `json:"messages"`
	}
	body.Model = "gpt-5"
	for _, m := range request {
		c := chatMessage{Role: string(m.Role), ToolCallID: m.ToolCallID}
		text := ""
		for _, p := range m.Parts {
			if p.Kind != winnow.KindToolCall {
				text += p.Text
				continue
			}
			call := chatCall{ID: p.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = p.Name, string(p.Arguments)
			c.ToolCalls = append(c.ToolCalls, call)
		}
		if text != "" || len(c.ToolCalls) == 0 {
			c.Content = &text
		}
		body.Messages = append(body.Messages, c)
	}
	text, err := json.Marshal(body)
	require.NoError(t, err)
	answers := provider.New(provider.Options{Model: func(*provider.Request) provider.Answer { return provider.Answer{Text: "yes"} }})
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/v1/chat/completions", bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer key")
	answers.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code, "%s: the provider refuses the request: %s", name, w.Body)
}
