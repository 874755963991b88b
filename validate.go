package winnow

import "fmt"

// InvalidMessageError says which message of a history no request can hold, and what is wrong with it.
type InvalidMessageError struct {
	Index int    // of the message in the list that was passed, from 0 on
	Field string // as in JSON: "role", "parts[0].kind", "toolCallId"
	Got   string // what the field holds
	Want  string // what it has to hold
}

// Error names all four. It quotes the beginning of what the field holds.
func (e *InvalidMessageError) Error() string {
	return fmt.Sprintf("invalid message %d: %s is %.80q, want %s", e.Index, e.Field, e.Got, e.Want)
}

// Validate returns an [*InvalidMessageError] for the first message with an unknown Role or Kind, nil if there is none.
// Prepare, Compact and Recover refuse the same messages. What [RepairToolPairing] mends is no error, such as a message
// without role and parts.
func Validate(history []Message) error {
	for i := range history {
		if e := faultOf(&history[i]); e != nil {
			e.Index = i
			return e
		}
	}
	return nil
}

// faultOf returns what is wrong with m, or nil.
func faultOf(m *Message) *InvalidMessageError {
	if e := roleFault(m.Role); e != nil && (m.Role != "" || len(m.Parts) > 0) {
		return e
	}
	for k := range m.Parts {
		switch m.Parts[k].Kind {
		case KindText, KindThinking, KindImage, KindToolCall, KindOpaque:
		default:
			return &InvalidMessageError{
				Field: fmt.Sprintf("parts[%d].kind", k), Got: string(m.Parts[k].Kind),
				Want: `"" (text), "thinking", "image", "toolCall" or "opaque"`,
			}
		}
	}
	return nil
}

// roleFault returns what is wrong with r, or nil. A typo would show only at the provider, or not at all.
func roleFault(r Role) *InvalidMessageError {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return nil
	}
	return &InvalidMessageError{Field: "role", Got: string(r), Want: `"system", "user", "assistant" or "tool"`}
}
