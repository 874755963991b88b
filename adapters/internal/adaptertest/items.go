package adaptertest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// wireItem is an item in the form that the API reads.
type wireItem struct {
	Type      string           `json:"type"`
	Role      string           `json:"role"`
	ID        string           `json:"id"`
	CallID    string           `json:"call_id"`
	Name      string           `json:"name"`
	Arguments json.RawMessage  `json:"arguments"`
	Output    *json.RawMessage `json:"output"`
	Content   json.RawMessage  `json:"content"`
	Approves  string           `json:"approval_request_id"`
	Encrypted string           `json:"encrypted_content"`
}

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// ValidItems returns an error for an input that the Responses API would refuse, as far as that can be told without a
// model. An id with "of" names the item of reasoning that the item was made with: "msg_1 of rs_1".
func ValidItems(b []byte) error {
	var wire []wireItem
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	v := itemValidator{calls: map[string]string{}, reasoned: map[string]bool{}, own: served{}}
	for i := range wire {
		if err := v.item(wire, i); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	for id, state := range v.calls {
		if state != "done" {
			return fmt.Errorf("no tool output found for call %s", id)
		}
	}
	return nil
}

type itemValidator struct {
	calls    map[string]string // type of the output that a call waits for, or "done"
	reasoned map[string]bool
	own      served
}

func (v *itemValidator) item(wire []wireItem, i int) error {
	it := &wire[i]
	if _, of, ok := strings.Cut(it.ID, " of "); ok && !v.reasoned[of] {
		return fmt.Errorf("item %q was provided without its required reasoning item", it.ID)
	}
	switch {
	case it.Type == "message", it.Type == "" && it.Role != "":
		if len(it.Content) == 0 || string(it.Content) == "[]" {
			return fmt.Errorf("no content")
		}
		if it.Role != "user" && strings.Contains(string(it.Content), `"input_image"`) {
			return fmt.Errorf("images in a message of role %s", it.Role)
		}
		if it.Role == "user" {
			return v.own.end()
		}
	case it.Type == "mcp_approval_request":
		return v.own.call(it.ID)
	case it.Type == "mcp_approval_response":
		return v.own.result(it.Approves)
	case it.Type == "program", it.Type == "tool_search_call":
		return v.own.call(it.CallID)
	case it.Type == "program_output", it.Type == "tool_search_output":
		return v.own.result(it.CallID)
	case it.Type == "reasoning":
		if i+1 == len(wire) || !strings.HasSuffix(wire[i+1].ID, " of "+it.ID) {
			return fmt.Errorf("item %q of type reasoning was provided without its required following item", it.ID)
		}
		v.reasoned[it.ID] = true
	case isItemCall(it.Type):
		switch {
		case it.CallID == "" || len(it.CallID) > 64:
			return fmt.Errorf("call_id %q", it.CallID)
		case v.calls[it.CallID] != "":
			return fmt.Errorf("call_id %q twice", it.CallID)
		case it.Type == "function_call" && !functionName.MatchString(it.Name):
			return fmt.Errorf("name %q", it.Name)
		}
		v.calls[it.CallID] = it.Type + "_output"
	case strings.HasSuffix(it.Type, "_output"):
		if it.CallID == "" {
			it.CallID = it.ID
		}
		if v.calls[it.CallID] != it.Type || it.Output == nil {
			return fmt.Errorf("no tool call found for %s with call_id %q", it.Type, it.CallID)
		}
		v.calls[it.CallID] = "done"
	case it.Type == "compaction" && it.Encrypted == "":
		return fmt.Errorf("no encrypted_content")
	case it.Type == "compaction": // nothing before it is read
		v.calls, v.reasoned = map[string]string{}, map[string]bool{}
	case it.Type == "":
		return fmt.Errorf("no type")
	}
	return nil
}

// isItemCall reports whether an item is a call that the host answers.
func isItemCall(typ string) bool {
	switch typ {
	case "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call":
		return true
	}
	return false
}
