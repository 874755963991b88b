package winnowtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

// Conversation is a history in the making: each method returns it with more messages. Messages have IDs, and calls too.
//
//	winnowtest.Conversation{}.Person("Fix the build.").Step("bash", `{"command":"go build"}`, "ok").Says("It builds.")
type Conversation []winnow.Message

// Person adds a message of a person.
func (h Conversation) Person(text string) Conversation {
	return h.add(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}})
}

// Says adds an answer of the model without calls.
func (h Conversation) Says(text string) Conversation {
	return h.add(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}})
}

// Step adds an answer that calls a tool, with arguments in JSON, and the result.
func (h Conversation) Step(tool, arguments, result string) Conversation {
	id := fmt.Sprint("call_", len(h))
	h = h.add(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{Call(id, tool, arguments)}})
	return h.add(Result(id, tool, result))
}

// Work adds turns of steps, whose results have about so many characters each, and differ: a long session.
func (h Conversation) Work(turns, steps, chars int) Conversation {
	for range turns {
		h = h.Person(fmt.Sprintf("Request %d: look at the next files.", len(h)))
		for range steps {
			file := fmt.Sprintf("src/file_%d.go", len(h))
			line := fmt.Sprintf("line of %s that says what it does\n", file)
			h = h.Step("read", fmt.Sprintf(`{"path":%q}`, file), strings.Repeat(line, 1+chars/len(line)))
		}
		h = h.Says(fmt.Sprintf("Done with request %d.", len(h)))
	}
	return h
}

func (h Conversation) add(m winnow.Message) Conversation {
	m.ID = fmt.Sprint("m", len(h))
	return append(h[:len(h):len(h)], m)
}

// Call returns the call of a tool, with arguments in JSON.
func Call(id, tool, arguments string) winnow.Part {
	return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: json.RawMessage(arguments)}
}

// Result returns the result of a call.
func Result(callID, tool, text string) winnow.Message {
	return winnow.Message{
		Role: winnow.RoleTool, ToolCallID: callID, ToolName: tool, Parts: []winnow.Part{{Text: text}},
	}
}
