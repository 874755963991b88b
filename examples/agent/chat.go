package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/winnowgo/winnow"
)

// endpoint is a model that speaks Chat Completions. Programs with an SDK use an adapter instead; see adapters/.
type endpoint struct{ url, key, model string }

// question is a request to a model.
type question struct {
	system    string
	messages  []winnow.Message
	tools     []winnow.Tool // nil: none
	maxTokens int
}

type chatMessage struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	// DeepSeek and Kimi require it with the calls that it led to
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// refusal is an error response. winnow.ClassifyError reads the status and the body.
type refusal struct {
	status int
	body   string
}

func (r *refusal) Error() string   { return fmt.Sprintf("%d: %s", r.status, r.body) }
func (r *refusal) StatusCode() int { return r.status }

// ask returns the next message of the history.
func (e *endpoint) ask(ctx context.Context, q question) (winnow.Message, error) {
	body, err := json.Marshal(e.request(q))
	if err != nil {
		return winnow.Message{}, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.url, "/")+"/chat/completions",
		bytes.NewReader(body))
	if err != nil {
		return winnow.Message{}, err
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Authorization", "Bearer "+e.key)
	answer, err := http.DefaultClient.Do(post)
	if err != nil {
		return winnow.Message{}, err
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err != nil {
		return winnow.Message{}, err
	}
	if answer.StatusCode != http.StatusOK {
		return winnow.Message{}, &refusal{answer.StatusCode, strings.TrimSpace(string(body))}
	}
	return response(body)
}

func (e *endpoint) request(q question) any {
	messages := []chatMessage{{Role: "system", Content: &q.system}}
	for i := range q.messages {
		messages = append(messages, chatMessageOf(&q.messages[i]))
	}
	request := map[string]any{"model": e.model, "max_completion_tokens": q.maxTokens, "messages": messages}
	var tools []any
	for _, t := range q.tools {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": t.Schema,
		}})
	}
	if tools != nil {
		request["tools"] = tools
	}
	return request
}

func chatMessageOf(m *winnow.Message) chatMessage {
	text := textOf(m)
	out := chatMessage{Role: string(m.Role), Content: &text, ToolCallID: m.ToolCallID}
	if m.Role != winnow.RoleAssistant {
		return out
	}
	reasoning := ""
	for _, p := range m.Parts {
		switch p.Kind {
		case winnow.KindThinking:
			reasoning += p.Text
		case winnow.KindToolCall:
			out.ToolCalls = append(out.ToolCalls, chatCall{p.ID, "function", chatFunction{p.Name, string(p.Arguments)}})
		}
	}
	if len(out.ToolCalls) > 0 {
		out.Reasoning = reasoning
		if text == "" {
			out.Content = nil
		}
	}
	return out
}

func response(body []byte) (winnow.Message, error) {
	var answer struct {
		ID      string `json:"id"`
		Choices []struct {
			FinishReason string      `json:"finish_reason"`
			Message      chatMessage `json:"message"`
		} `json:"choices"`
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Details    struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return winnow.Message{}, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(answer.Choices) == 0 {
		return winnow.Message{}, errors.New("the answer holds none")
	}
	u, c := answer.Usage, answer.Choices[0]
	m := winnow.Message{
		ID: answer.ID, Role: winnow.RoleAssistant, StopReason: c.FinishReason,
		Usage: &winnow.Usage{Input: max(0, u.Prompt-u.Details.Cached), CacheRead: u.Details.Cached,
			Output: u.Completion},
	}
	if c.Message.Reasoning != "" {
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindThinking, Text: c.Message.Reasoning})
	}
	if c.Message.Content != nil && *c.Message.Content != "" {
		m.Parts = append(m.Parts, winnow.Part{Text: *c.Message.Content})
	}
	for _, call := range c.Message.ToolCalls {
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: call.ID, Name: call.Function.Name,
			Arguments: json.RawMessage(call.Function.Arguments)})
	}
	return m, nil
}

// textOf returns the texts of a message.
func textOf(m *winnow.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
