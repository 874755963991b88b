package winnowtest_test

import (
	"errors"
	"fmt"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// note is the message of a host that knows nothing but texts, calls and results.
type note struct {
	From, Text       string
	Call, Tool, Args string
	Trace            string // what only the host knows
}

func importNotes(notes []note) []winnow.Message {
	var out []winnow.Message
	for i := range notes {
		n := &notes[i]
		m := winnow.Message{Role: winnow.Role(n.From), Source: n}
		if n.Text != "" {
			m.Parts = []winnow.Part{{Text: n.Text, Source: n}}
		}
		isCall := n.From == "assistant" && n.Call != ""
		if isCall {
			m.Parts = []winnow.Part{{Kind: winnow.KindToolCall, ID: n.Call, Name: n.Tool, Arguments: []byte(n.Args), Source: n}}
		} else {
			m.ToolCallID, m.ToolName = n.Call, n.Tool
		}
		if last := len(out) - 1; isCall && last >= 0 && out[last].Role == winnow.RoleAssistant {
			out[last].Parts = append(out[last].Parts, m.Parts...) // parallel calls are one message
			out[last].Source = nil
			continue
		}
		out = append(out, m)
	}
	return out
}

func exportNotes(messages []winnow.Message) []note {
	var out []note
	for _, m := range messages {
		if own, ok := m.Source.(*note); ok {
			out = append(out, *own)
			continue
		}
		text := ""
		for _, p := range m.Parts {
			own, ok := p.Source.(*note)
			switch {
			case ok:
				out = append(out, *own)
			case p.Kind == winnow.KindToolCall:
				out = append(out, note{From: "assistant", Call: p.ID, Tool: p.Name, Args: string(p.Arguments)})
			case p.Kind == winnow.KindText && m.Role == winnow.RoleAssistant:
				out = append(out, note{From: "assistant", Text: p.Text})
			case p.Kind == winnow.KindText:
				text += p.Text
			}
		}
		if m.Role != winnow.RoleAssistant {
			out = append(out, note{From: string(m.Role), Text: text, Call: m.ToolCallID, Tool: m.ToolName})
		}
	}
	return out
}

// valid is what the host's provider checks.
func valid(notes []note) error {
	open := map[string]bool{}
	for i, n := range notes {
		switch {
		case n.From == "tool" && !open[n.Call]:
			return fmt.Errorf("note %d: no call %q", i, n.Call)
		case n.From == "tool":
			delete(open, n.Call)
		case n.Call != "":
			open[n.Call] = true
		case len(open) > 0:
			return fmt.Errorf("note %d: calls wait for their results", i)
		}
	}
	if len(open) > 0 {
		return errors.New("calls without results")
	}
	return nil
}

// An adapter for one's own messages is tested with all that real transcripts hold.
func Example() {
	// README
	adapter := winnowtest.Adapter[note]{Import: importNotes, Export: exportNotes, Valid: valid}
	for _, h := range winnowtest.Histories() {
		if err := adapter.CheckHistory(h.Messages); err != nil {
			fmt.Println(h.Name, err)
		}
	}
	// END
	err := adapter.CheckValues([]note{
		{From: "user", Text: "Look.", Trace: "t-1"},
		{From: "assistant", Tool: "read", Call: "a", Args: `{"path": "x"}`, Trace: "t-2"},
		{From: "tool", Tool: "read", Call: "a", Text: "found", Trace: "t-3"},
	})
	fmt.Println("own values:", err)
	// Output: own values: <nil>
}
