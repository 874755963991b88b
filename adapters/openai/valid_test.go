package openai

import (
	"encoding/json"
	"fmt"
	"regexp"

	sdk "github.com/openai/openai-go/v3"
)

// wireMessage is a message as the API reads it.
type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Refusal    string          `json:"refusal"`
	Audio      any             `json:"audio"`
	Function   any             `json:"function_call"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// valid refuses what Chat Completions refuses, by the rules that can be told without a model.
func valid(messages []sdk.ChatCompletionMessageParamUnion) error {
	b, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	var wire []wireMessage
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	open := map[string]bool{} // calls that wait for their result
	for i := range wire {
		m := &wire[i]
		if len(open) > 0 && m.Role != "tool" {
			return fmt.Errorf("messages[%d]: an assistant message with tool_calls must be followed by tool messages: %v", i, open)
		}
		if err := validMessage(m, open); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls without results: %v", open)
	}
	return nil
}

func validMessage(m *wireMessage, open map[string]bool) error {
	var parts []struct {
		Type string `json:"type"`
	}
	if len(m.Content) > 0 && m.Content[0] == '[' {
		if err := json.Unmarshal(m.Content, &parts); err != nil || len(parts) == 0 {
			return fmt.Errorf("content: %v, %d parts", err, len(parts))
		}
	}
	for _, p := range parts {
		if m.Role != "user" && p.Type != "text" && p.Type != "refusal" {
			return fmt.Errorf("%s is only allowed for messages with role user, not %s", p.Type, m.Role)
		}
	}
	switch m.Role {
	case "system", "developer", "user", "function":
		if len(m.Content) == 0 {
			return fmt.Errorf("content is missing")
		}
	case "tool":
		if len(m.Content) == 0 || !open[m.ToolCallID] {
			return fmt.Errorf("must be a response to a preceding message with tool_calls: %q", m.ToolCallID)
		}
		delete(open, m.ToolCallID)
	case "assistant":
		if len(m.Content) == 0 && len(m.ToolCalls) == 0 && m.Refusal == "" && m.Audio == nil && m.Function == nil {
			return fmt.Errorf("expected a string, got null")
		}
		for _, c := range m.ToolCalls {
			switch {
			case c.ID == "" || len(c.ID) > 40:
				return fmt.Errorf("tool_calls.id %q", c.ID)
			case open[c.ID]:
				return fmt.Errorf("tool_calls.id %q twice", c.ID)
			case c.Type == "function" && (!toolName.MatchString(c.Function.Name) || c.Function.Arguments == nil || !json.Valid([]byte(*c.Function.Arguments))):
				return fmt.Errorf("tool_calls.function %+v", c.Function)
			}
			open[c.ID] = true
		}
	default:
		return fmt.Errorf("role %q", m.Role)
	}
	return nil
}
