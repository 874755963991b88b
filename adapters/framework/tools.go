package framework

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
)

// Tool is a tool of Winnow's that the framework runs as one of its own.
type Tool struct {
	winnow.Tool
	// Run answers a call. What went wrong is told to the model in the text. The error is that of ctx, or says that the
	// call belongs to no answer of a conversation.
	Run func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// refused begins the text of a note that does not count, and of a phase that did not end: most frameworks have no
// field for an error.
const refused = "Error: "

// Tools returns the tools that Options.Recall and Options.Notes offer.
func (c *Conversations) Tools() (tools []Tool) {
	if c.o.Recall {
		tools = append(tools, c.tool(winnow.RecallTool(), (*winnow.Manager).Recall))
	}
	if c.o.Notes {
		tools = append(tools, c.tool(winnow.NotesTool(), withoutContext((*winnow.Manager).TakeNote)),
			c.tool(winnow.CompactTool(), withoutContext((*winnow.Manager).EndPhase)))
	}
	return tools
}

// answers is a method of a manager that answers a call.
type answers func(*winnow.Manager, context.Context, []winnow.Message, json.RawMessage) (winnow.Message, error)

func withoutContext(answer func(*winnow.Manager, []winnow.Message, json.RawMessage) winnow.Message) answers {
	return func(m *winnow.Manager, _ context.Context, history []winnow.Message, args json.RawMessage) (
		winnow.Message, error) {
		return answer(m, history, args), nil
	}
}

func (c *Conversations) tool(t winnow.Tool, answer answers) Tool {
	return Tool{t, func(ctx context.Context, arguments json.RawMessage) (string, error) {
		v, history := c.caller(c.o.Key(ctx), t.Name, arguments)
		if v == nil {
			return "", fmt.Errorf("framework: %s: no answer of this conversation has the call", t.Name)
		}
		m, err := answer(v.manager, ctx, history, arguments)
		if err != nil {
			return "", err
		}
		text := m.Parts[0].Text
		if m.IsError && t.Name != winnow.RecallTool().Name { // what it refuses is known by its words
			text = refused + text
		}
		return text, nil
	}}
}

// caller returns the conversation whose model made a call, and its history with the answer that has it. A framework
// does not say which of an agent's conversations runs a tool.
func (c *Conversations) caller(key, tool string, arguments json.RawMessage) (*conversation, []winnow.Message) {
	list := c.threads.all()
	c.threads.mu.Lock()
	defer c.threads.mu.Unlock()
	for _, v := range list {
		if v.key != key || key == "" {
			continue
		}
		if slices.ContainsFunc(v.answer.Parts, func(p winnow.Part) bool {
			return p.Kind == winnow.KindToolCall && p.Name == tool && sameJSON(p.Arguments, arguments)
		}) {
			return v, append(slices.Clip(v.history), v.answer)
		}
	}
	return nil, nil
}

// sameJSON compares by meaning: a framework decodes the arguments of a call and encodes them again.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	a, errA := json.Marshal(x)
	b, errB := json.Marshal(y)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// withErrors returns history with the results marked that say that one of Winnow's tools refused: a note that was
// refused is none.
func withErrors(history []winnow.Message) []winnow.Message {
	names := []string{winnow.NotesTool().Name, winnow.CompactTool().Name}
	history = slices.Clone(history)
	for i := range history {
		m := &history[i]
		if m.Role == winnow.RoleTool && slices.Contains(names, m.ToolName) && len(m.Parts) == 1 &&
			strings.HasPrefix(m.Parts[0].Text, refused) {
			m.IsError = true
		}
	}
	return history
}
