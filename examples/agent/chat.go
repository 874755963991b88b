package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/winnowgo/winnow"
)

// chatAPI is OpenAI's Chat Completions.
type chatAPI struct{}

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

func (chatAPI) path() string { return "/chat/completions" }

func (chatAPI) sign(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

func (chatAPI) request(model string, q question) any {
	messages := []chatMessage{{Role: "system", Content: &q.system}}
	for i := range q.messages {
		messages = append(messages, chatMessageOf(&q.messages[i]))
	}
	request := map[string]any{"model": model, "max_completion_tokens": q.maxTokens, "messages": messages}
	var tools []map[string]any
	for _, t := range q.tools {
		tools = append(tools, map[string]any{"type": "function", "function": t})
	}
	if tools != nil {
		request["tools"] = tools
	}
	return request
}

func chatMessageOf(m *winnow.Message) chatMessage {
	text := textOf(m)
	switch m.Role {
	case winnow.RoleTool:
		return chatMessage{Role: "tool", Content: &text, ToolCallID: m.ToolCallID}
	case winnow.RoleAssistant:
		out := chatMessage{Role: "assistant"}
		if text != "" {
			out.Content = &text
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case winnow.KindThinking:
				out.Reasoning += p.Text
			case winnow.KindToolCall:
				out.ToolCalls = append(out.ToolCalls,
					chatCall{p.ID, "function", chatFunction{p.Name, string(p.Arguments)}})
			}
		}
		if len(out.ToolCalls) == 0 {
			out.Reasoning = ""
		}
		return out
	case winnow.RoleSystem:
		return chatMessage{Role: "system", Content: &text}
	}
	return chatMessage{Role: "user", Content: &text}
}

func (chatAPI) response(body []byte) (winnow.Message, error) {
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
