package histories

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/winnowgo/winnow"
)

// Short constructors for messages.

// Text is a part of text.
func Text(s string) winnow.Part { return winnow.Part{Text: s} }

// Image is an image of 4 KB.
func Image() winnow.Part {
	return winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 4096}
}

// Think is thinking; a signature of "" leaves it unsigned.
func Think(s, signature string) winnow.Part {
	return winnow.Part{Kind: winnow.KindThinking, Text: s, Signature: signature}
}

// Call is a call of a tool that reads a file.
func Call(id, name string) winnow.Part {
	return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: name, Arguments: json.RawMessage(`{"path":"go.mod"}`)}
}

// System is a system message.
func System(s string) winnow.Message {
	return winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{Text(s)}}
}

// User is a request of a person.
func User(s string) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{Text(s)}}
}

// Summary stands for compacted history.
func Summary(s string) winnow.Message {
	m := User(s)
	m.Summary = true
	return m
}

// Model is a message of the model.
func Model(parts ...winnow.Part) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: parts}
}

// Calls is a message of the model with one call of exec for each id.
func Calls(ids ...string) winnow.Message {
	m := Model()
	for _, id := range ids {
		m.Parts = append(m.Parts, Call(id, "exec"))
	}
	return m
}

// Tool is a result of exec.
func Tool(id string, texts ...string) winnow.Message {
	m := winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "exec"}
	for _, s := range texts {
		m.Parts = append(m.Parts, Text(s))
	}
	return m
}

// Named gives every message the ID m0, m1, … and every message and part a Source with its position.
func Named(h []winnow.Message) []winnow.Message {
	for i := range h {
		h[i].ID = "m" + strconv.Itoa(i)
		h[i].Source = i
		for k := range h[i].Parts {
			h[i].Parts[k].Source = [2]int{i, k}
		}
	}
	return h
}

// Copy returns a copy that shares no writable memory with h.
func Copy(h []winnow.Message) []winnow.Message {
	out := slices.Clone(h)
	for i := range out {
		m := &out[i]
		m.Parts = slices.Clone(m.Parts)
		for k := range m.Parts {
			m.Parts[k].Arguments = slices.Clone(m.Parts[k].Arguments)
		}
		m.Details = slices.Clone(m.Details)
		if m.Usage != nil {
			u := *m.Usage
			m.Usage = &u
		}
	}
	return out
}
