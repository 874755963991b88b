package adapter

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestNoteWhose(t *testing.T) {
	const reminder = "<system-reminder>\nThe date has changed.\n</system-reminder>\n"
	for _, tt := range []struct {
		name     string
		texts    []string
		beside   bool
		injected bool
		reason   string
	}{
		{"a request", []string{"Go on."}, false, false, "a person's"},
		{"a reminder alone", []string{reminder}, false, true, ""},
		{"two in one text", []string{reminder + "<environment_context>x</environment_context>"}, false, true, ""},
		{"a reminder before a request", []string{reminder, "Go on."}, false, false, "the request is in the same message"},
		{"in one text", []string{reminder + "Go on."}, false, false, "likewise"},
		{"beside results", []string{"Tokens left: 5"}, true, true, "a form that nobody knows"},
		{"an interruption", []string{"[Request interrupted by user for tool use]", "Do that instead."}, true, false, "what stands behind it was typed"},
		{"an interruption alone", []string{"[Request interrupted by user for tool use]"}, true, true, ""},
		{"an element that is not closed", []string{"<system-reminder> is shown twice, why?"}, false, false, "somebody asks about one"},
		{"an element of another name", []string{"<task>Go on.</task>"}, false, false, "agents wrap requests so"},
	} {
		m := winnow.Message{Role: winnow.RoleUser}
		for _, text := range tt.texts {
			m.Parts = append(m.Parts, winnow.Part{Text: text})
		}
		NoteWhose(&m, tt.beside)
		assert.Equal(t, tt.injected, m.Injected, "%s: %s", tt.name, tt.reason)
	}
	only := []winnow.Message{{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "Do it."}}}, {Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: reminder}}}}
	EnsureRequest(only)
	assert.Equal(t, []bool{false, true}, []bool{only[0].Injected, only[1].Injected}, "nothing else could be the request")
}
