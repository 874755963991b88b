package winnowtest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

func sound() winnowtest.Adapter[note] {
	return winnowtest.Adapter[note]{Import: importNotes, Export: exportNotes, Valid: valid}
}

func TestRun(t *testing.T) {
	winnowtest.Run(t, sound(), winnowtest.Values[note]{Name: "one note", Values: []note{{From: "user", Text: "q", Trace: "t"}}})
}

// failures lists the checks that err names, over all histories.
func failures(a winnowtest.Adapter[note]) string {
	var found strings.Builder
	for _, h := range winnowtest.Histories() {
		if err := a.CheckHistory(h.Messages); err != nil {
			found.WriteString(err.Error() + "\n")
		}
	}
	return found.String()
}

// edited is the export of the example with another list of notes.
func edited(edit func(out []note) []note) func([]winnow.Message) []note {
	return func(m []winnow.Message) []note { return edit(exportNotes(m)) }
}

// imported is the import of the example, with changes of each message.
func imported(change func(m *winnow.Message)) func([]note) []winnow.Message {
	return func(notes []note) []winnow.Message {
		out := importNotes(notes)
		for i := range out {
			change(&out[i])
		}
		return out
	}
}

// A kit that finds nothing is worth nothing: each mistake that adapters make is made once.
func TestMistakesAreFound(t *testing.T) {
	seen := 0
	for _, tt := range []struct {
		name   string
		export func([]winnow.Message) []note
		imp    func([]note) []winnow.Message
		want   string
	}{
		{name: "loses a text", want: "nothing lost", export: edited(func(out []note) []note { return out[:max(0, len(out)-1)] })},
		{name: "loses arguments", want: "arguments is lost", export: edited(func(out []note) []note {
			for i := range out {
				out[i].Args = ""
			}
			return out
		})},
		{name: "forgets what the host knows", want: "untouched by a limit of two turns", export: edited(func(out []note) []note {
			for i := range out {
				out[i].Trace = strings.Repeat("x", len(out))
			}
			return out
		})},
		{name: "drops results", want: "valid after clearing", export: edited(func(out []note) []note {
			return slices.DeleteFunc(out, func(n note) bool { return n.From == "tool" && n.Text == "[cleared]" })
		})},
		{name: "writes its input", want: "history is not written", export: func(m []winnow.Message) []note {
			if len(m) > 0 {
				m[0].StopReason = "sent"
			}
			return exportNotes(m)
		}},
		{name: "makes values anew", want: "round trip: value 0 is changed", imp: imported(func(m *winnow.Message) {
			if m.Role == winnow.RoleUser {
				m.Source = &note{From: "user", Text: m.Parts[0].Text, Trace: "anew"}
			}
		})},
		{name: "names things by chance", want: "recognised again: message 0 of equal values is another", imp: imported(func(m *winnow.Message) {
			seen++
			m.ID = strings.Repeat("i", seen%1000)
		})},
		{name: "writes the host's values", want: "values are not written", imp: func(n []note) []winnow.Message {
			for i := range n {
				n[i].Text += "!"
			}
			return importNotes(n)
		}},
		{name: "leaves pairs apart", want: "imported as it is sent: the repair changes message", imp: imported(func(m *winnow.Message) { m.ToolCallID = "" })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := sound()
			if tt.export != nil {
				a.Export = tt.export
			} else {
				a.Import = tt.imp
			}
			assert.Contains(t, failures(a), tt.want)
		})
	}
	assert.Empty(t, failures(sound()))
}

func TestValuesThatCannotBeWritten(t *testing.T) {
	a := winnowtest.Adapter[func()]{
		Import: func(f []func()) []winnow.Message { return nil },
		Export: func(m []winnow.Message) []func() { return nil },
	}
	assert.ErrorContains(t, a.CheckValues([]func(){func() {}}), "value 0 cannot be written")
	assert.ErrorContains(t, a.CheckRoundTrip([]func(){func() {}}), "value 0 cannot be written")
}

// TestSoundAdapters are adapters that differ from the example where they may.
func TestSoundAdapters(t *testing.T) {
	a := sound()
	a.Import = imported(func(m *winnow.Message) { m.ToolName = "" })
	assert.Empty(t, failures(a), "a form in which results do not name their tools: an empty name is that of the call")
	a = sound()
	a.Valid = func(notes []note) error {
		if len(notes) == 0 {
			return errors.New("at least one message is required")
		}
		return valid(notes)
	}
	assert.Empty(t, failures(a), "a provider that refuses an empty list, which nobody sends")
}
