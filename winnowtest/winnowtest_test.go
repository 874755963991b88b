package winnowtest_test

import (
	"errors"
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

// A kit that finds nothing is worth nothing: each mistake that adapters make is made once.
func TestMistakesAreFound(t *testing.T) {
	seen := 0
	for _, tt := range []struct {
		name  string
		spoil func(a *winnowtest.Adapter[note])
		want  string
	}{
		{"loses a text", func(a *winnowtest.Adapter[note]) {
			a.Export = func(m []winnow.Message) []note {
				out := exportNotes(m)
				return out[:max(0, len(out)-1)]
			}
		}, "nothing lost"},
		{"loses arguments", func(a *winnowtest.Adapter[note]) {
			a.Export = func(m []winnow.Message) []note {
				out := exportNotes(m)
				for i := range out {
					out[i].Args = ""
				}
				return out
			}
		}, "arguments is lost"},
		{"forgets what the host knows", func(a *winnowtest.Adapter[note]) {
			a.Export = func(m []winnow.Message) []note {
				out := exportNotes(m)
				for i := range out {
					out[i].Trace = strings.Repeat("x", len(out))
				}
				return out
			}
		}, "untouched by a limit of two turns"},
		{"makes values anew", func(a *winnowtest.Adapter[note]) {
			a.Import = func(n []note) []winnow.Message {
				out := importNotes(n)
				for i := range out {
					if out[i].Role == winnow.RoleUser {
						out[i].Source = &note{From: "user", Text: out[i].Parts[0].Text, Trace: "anew"}
					}
				}
				return out
			}
		}, "round trip: value 0 is changed"},
		{"drops results", func(a *winnowtest.Adapter[note]) {
			a.Export = func(m []winnow.Message) []note {
				var out []note
				for _, n := range exportNotes(m) {
					if n.From != "tool" || n.Text != "[cleared]" {
						out = append(out, n)
					}
				}
				return out
			}
		}, "valid after clearing"},
		{"names things by chance", func(a *winnowtest.Adapter[note]) {
			a.Import = func(n []note) []winnow.Message {
				out := importNotes(n)
				for i := range out {
					seen++
					out[i].ID = strings.Repeat("i", seen%1000)
				}
				return out
			}
		}, "recognised again: message 0 of equal values is another"},
		{"writes its input", func(a *winnowtest.Adapter[note]) {
			a.Export = func(m []winnow.Message) []note {
				if len(m) > 0 {
					m[0].StopReason = "sent"
				}
				return exportNotes(m)
			}
		}, "history is not written"},
		{"writes the host's values", func(a *winnowtest.Adapter[note]) {
			a.Import = func(n []note) []winnow.Message {
				for i := range n {
					n[i].Text += "!"
				}
				return importNotes(n)
			}
		}, "values are not written"},
		{"leaves pairs apart", func(a *winnowtest.Adapter[note]) {
			a.Import = func(n []note) []winnow.Message {
				out := importNotes(n)
				for i := range out {
					out[i].ToolCallID = ""
				}
				return out
			}
		}, "imported as it is sent: the repair changes message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := sound()
			tt.spoil(&a)
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
	for _, tt := range []struct {
		name string
		vary func(a *winnowtest.Adapter[note])
	}{
		{"a form in which results do not name their tools: an empty name is that of the call", func(a *winnowtest.Adapter[note]) {
			a.Import = func(notes []note) []winnow.Message {
				out := importNotes(notes)
				for i := range out {
					out[i].ToolName = ""
				}
				return out
			}
		}},
		{"a provider that refuses an empty list, which nobody sends", func(a *winnowtest.Adapter[note]) {
			a.Valid = func(notes []note) error {
				if len(notes) == 0 {
					return errors.New("at least one message is required")
				}
				return valid(notes)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := sound()
			tt.vary(&a)
			assert.Empty(t, failures(a))
		})
	}
}
