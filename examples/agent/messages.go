package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/winnowgo/winnow"
)

// messagesAPI is Anthropic's Messages.
type messagesAPI struct{}

// block is a content block of a request or an answer.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cacheControl   `json:"cache_control,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type messagesTurn struct {
	Role    winnow.Role `json:"role"`
	Content []block     `json:"content"`
}

type messagesTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema map[string]any `json:"input_schema"`
}

func (messagesAPI) path() string { return "/messages" }

func (messagesAPI) sign(h http.Header, key string) {
	h.Set("x-api-key", key)
	h.Set("anthropic-version", "2023-06-01")
}

// request marks the end of the messages for the prompt cache: the next request begins with the same bytes.
func (messagesAPI) request(model string, q question) any {
	turns := messagesTurns(q.messages)
	if n := len(turns); n > 0 {
		last := turns[n-1].Content
		last[len(last)-1].Cache = &cacheControl{"ephemeral"}
	}
	tools := make([]messagesTool, len(q.tools))
	for i, t := range q.tools {
		tools[i] = messagesTool{t.Name, t.Description, t.Parameters}
	}
	request := map[string]any{"model": model, "max_tokens": q.maxTokens, "system": q.system, "messages": turns}
	if len(tools) > 0 {
		request["tools"] = tools
	}
	return request
}

// messagesTurns puts the results of one assistant message into one user message.
func messagesTurns(messages []winnow.Message) []messagesTurn {
	var out []messagesTurn
	results := false // the last turn holds results
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == winnow.RoleTool:
			result := block{Type: "tool_result", ToolUseID: m.ToolCallID, Content: textOf(m), IsError: m.IsError}
			if results {
				out[len(out)-1].Content = append(out[len(out)-1].Content, result)
			} else {
				out = append(out, messagesTurn{winnow.RoleUser, []block{result}})
			}
			results = true
			continue
		case m.Role == winnow.RoleAssistant:
			turn := messagesTurn{Role: winnow.RoleAssistant}
			for _, p := range m.Parts {
				switch p.Kind {
				case winnow.KindText:
					turn.Content = append(turn.Content, block{Type: "text", Text: p.Text})
				case winnow.KindToolCall:
					turn.Content = append(turn.Content,
						block{Type: "tool_use", ID: p.ID, Name: p.Name, Input: p.Arguments})
				}
			}
			out = append(out, turn)
		default:
			out = append(out, messagesTurn{winnow.RoleUser, []block{{Type: "text", Text: textOf(m)}}})
		}
		results = false
	}
	return out
}

func (messagesAPI) response(body []byte) (winnow.Message, error) {
	var answer struct {
		ID         string  `json:"id"`
		Content    []block `json:"content"`
		StopReason string  `json:"stop_reason"`
		Usage      struct {
			Input      int `json:"input_tokens"`
			CacheRead  int `json:"cache_read_input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
			Output     int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return winnow.Message{}, fmt.Errorf("the answer cannot be read: %w", err)
	}
	u := answer.Usage
	m := winnow.Message{
		ID: answer.ID, Role: winnow.RoleAssistant, StopReason: answer.StopReason,
		Usage: &winnow.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output},
	}
	for _, b := range answer.Content {
		switch b.Type {
		case "text":
			m.Parts = append(m.Parts, winnow.Part{Text: b.Text})
		case "tool_use":
			m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: b.ID, Name: b.Name,
				Arguments: b.Input})
		}
	}
	return m, nil
}
