package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// wireMessage is a message as the API reads it.
type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

type wireBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Signature string           `json:"signature"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Input     json.RawMessage  `json:"input"`
	ToolUseID string           `json:"tool_use_id"`
	IsError   bool             `json:"is_error"`
	Content   *json.RawMessage `json:"content"`
}

var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// valid refuses what the Messages API refuses, by the rules that can be told without a model.
func valid(messages []sdk.MessageParam) error {
	b, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	var wire []wireMessage
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	v := validator{seen: map[string]bool{}}
	for i := range wire {
		if err := v.message(wire, i); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	return nil
}

type validator struct {
	seen map[string]bool // every call id of the request
	open map[string]bool // calls of the newest assistant message: whether they wait for a result
}

func (v *validator) message(wire []wireMessage, i int) error {
	m := &wire[i]
	switch {
	case i == 0 && m.Role != "user":
		return fmt.Errorf("first message must use the user role")
	case m.Role != "user" && m.Role != "assistant":
		return fmt.Errorf("role %q", m.Role)
	case len(m.Content) == 0:
		return fmt.Errorf("all messages must have non-empty content")
	}
	others, thinking, results := 0, false, 0
	open := v.open
	if m.Role == "assistant" {
		open = map[string]bool{}
	}
	for k := range m.Content {
		b := &m.Content[k]
		if err := v.block(b, m.Role, open); err != nil {
			return fmt.Errorf("content.%d: %w", k, err)
		}
		switch b.Type {
		case "tool_result":
			if others > 0 {
				return fmt.Errorf("content.%d: tool_result blocks come first", k)
			}
			results++
		case "thinking", "redacted_thinking":
			if k > 0 && !thinking {
				return fmt.Errorf("content.%d: the first block must be thinking", k)
			}
			thinking = true
			if k == len(m.Content)-1 {
				return fmt.Errorf("content.%d: the final block may not be thinking", k)
			}
		default:
			others++
		}
	}
	if m.Role == "user" {
		for id, waits := range v.open {
			if waits {
				return fmt.Errorf("tool_use %q was found without a tool_result immediately after", id)
			}
		}
		open = nil
	} else if last := m.Content[len(m.Content)-1]; i == len(wire)-1 && last.Type == "text" && strings.TrimRight(last.Text, " \n") != last.Text {
		return fmt.Errorf("final assistant content cannot end with trailing whitespace")
	}
	v.open = open
	return nil
}

func (v *validator) block(b *wireBlock, role string, open map[string]bool) error {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return fmt.Errorf("text content blocks must contain non-whitespace text")
		}
	case "thinking":
		if b.Signature == "" || role != "assistant" {
			return fmt.Errorf("signature: field required")
		}
	case "tool_use":
		switch {
		case role != "assistant":
			return fmt.Errorf("tool_use in a message of the user")
		case !callID.MatchString(b.ID):
			return fmt.Errorf("tool_use.id %q", b.ID)
		case v.seen[b.ID]:
			return fmt.Errorf("tool_use ids must be unique: %q", b.ID)
		case !callID.MatchString(b.Name):
			return fmt.Errorf("tool_use.name %q", b.Name)
		case len(b.Input) == 0 || b.Input[0] != '{':
			return fmt.Errorf("tool_use.input: should be a valid dictionary: %s", b.Input)
		}
		v.seen[b.ID], open[b.ID] = true, true
	case "tool_result":
		waits, known := open[b.ToolUseID]
		switch {
		case role != "user" || !known:
			return fmt.Errorf("unexpected tool_use_id %q", b.ToolUseID)
		case !waits:
			return fmt.Errorf("each tool_use must have a single result: %q", b.ToolUseID)
		}
		open[b.ToolUseID] = false
		return resultContentValid(b)
	case "":
		return fmt.Errorf("type: field required")
	}
	return nil
}

func resultContentValid(b *wireBlock) error {
	if b.Content == nil {
		return nil
	}
	var blocks []wireBlock
	if err := json.Unmarshal(*b.Content, &blocks); err != nil {
		return nil // a plain text
	}
	if len(blocks) == 0 {
		return fmt.Errorf("tool_result.content: empty list")
	}
	for _, c := range blocks {
		if c.Type == "text" && strings.TrimSpace(c.Text) == "" {
			return fmt.Errorf("text content blocks must contain non-whitespace text")
		}
		if b.IsError && c.Type != "text" {
			return fmt.Errorf("all content must be type text if is_error is true")
		}
	}
	return nil
}
