package adaptertest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// converseBlock is a block of a message of Converse.
type converseBlock struct {
	Text    *string `json:"text"`
	ToolUse *struct {
		ID    string         `json:"toolUseId"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
		Type  string         `json:"type"`
	} `json:"toolUse"`
	ToolResult *struct {
		ID      string            `json:"toolUseId"`
		Content []json.RawMessage `json:"content"`
	} `json:"toolResult"`
}

var converseName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// ValidConverse returns an error for messages that Bedrock would refuse, as far as that can be told without a model.
func ValidConverse(b []byte) error {
	var messages []struct {
		Role    string          `json:"role"`
		Content []converseBlock `json:"content"`
	}
	if err := json.Unmarshal(b, &messages); err != nil {
		return err
	}
	var open []string // ids of the calls of the previous message
	own := served{}
	for i, m := range messages {
		isRepeated := i > 0 && m.Role == messages[i-1].Role
		isKnown := m.Role == "user" || m.Role == "assistant"
		if isRepeated || !isKnown || len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: role %q behind the same, or no content", i, m.Role)
		}
		calls, results, err := converseContent(m.Role, m.Content)
		if err == nil {
			err = own.converse(m.Role, m.Content)
		}
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if err := answersAll(open, results); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if err := answersAll(calls, calls); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		open = calls
	}
	return answersAll(open, nil)
}

// converse takes in a message: tools that the service runs itself.
func (s served) converse(role string, content []converseBlock) (err error) {
	for k := range content {
		b := &content[k]
		switch {
		case err != nil:
		case b.ToolUse != nil && b.ToolUse.Type == "server_tool_use":
			err = s.call(b.ToolUse.ID)
		case b.ToolResult != nil && role == "assistant":
			err = s.result(b.ToolResult.ID)
		case b.ToolResult == nil && role == "user":
			err = s.end()
		}
	}
	return err
}

// converseContent returns the ids of the calls that the host answers, and those of its results.
func converseContent(role string, content []converseBlock) (calls, results []string, err error) {
	for k := range content {
		b := &content[k]
		switch {
		case b.Text != nil && strings.TrimSpace(*b.Text) == "":
			return nil, nil, fmt.Errorf("the text field in the ContentBlock object at content.%d is blank", k)
		case b.ToolUse != nil && b.ToolUse.Type != "server_tool_use":
			if !converseName.MatchString(b.ToolUse.ID) || !converseName.MatchString(b.ToolUse.Name) ||
				b.ToolUse.Input == nil {
				return nil, nil, fmt.Errorf("content.%d.toolUse", k)
			}
			calls = append(calls, b.ToolUse.ID)
		case b.ToolResult != nil && role == "user":
			results = append(results, b.ToolResult.ID)
			if len(b.ToolResult.Content) == 0 || k >= len(results) {
				return nil, nil, fmt.Errorf("content.%d.toolResult: no content, or behind something else", k)
			}
		}
	}
	return calls, results, nil
}

// answersAll returns an error unless each call has exactly one result.
func answersAll(calls, results []string) error {
	waiting := map[string]bool{}
	for _, id := range calls {
		if waiting[id] {
			return fmt.Errorf("the toolUse blocks contain duplicate Ids: %s", id)
		}
		waiting[id] = true
	}
	for _, id := range results {
		if !waiting[id] {
			return fmt.Errorf("the number of toolResult blocks exceeds the number of toolUse blocks of previous "+
				"turn: %s", id)
		}
		delete(waiting, id)
	}
	if len(waiting) > 0 {
		return fmt.Errorf("expected toolResult blocks for %v", waiting)
	}
	return nil
}
