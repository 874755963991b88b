package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// What a conversation of Claude Code has in the role of the user, and whose it is.
func TestWhoseText(t *testing.T) {
	const (
		reminder = `{"type":"text","text":"<system-reminder>\nTodo list is empty.\n</system-reminder>"}`
		call     = `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}`
		result   = `{"type":"tool_result","tool_use_id":"c","content":"r"}`
		asked    = `{"role":"user","content":[` + reminder + `,{"type":"text","text":"Do it."}]}`
	)
	for _, tt := range []struct {
		name string
		list []string
		want string // the texts of people
	}{
		{"reminders beside results", []string{asked, call, `{"role":"user","content":[` + result + `,` + reminder + `]}`}, "Do it."},
		{"a text of an unknown form beside results", []string{asked, call, `{"role":"user","content":[` + result + `,{"type":"text","text":"5 tokens left"}]}`}, "Do it."},
		{"a message of its own between results", []string{asked, call, `{"role":"user","content":[` + result + `]}`, `{"role":"user","content":"Stop."}`}, "Do it. Stop."},
		{"nothing else is a request", []string{`{"role":"user","content":[` + reminder + `]}`, call, `{"role":"user","content":[` + result + `,{"type":"text","text":"Go on."}]}`}, "Go on."},
	} {
		h := Read(Messages{}, jsonedit.Value("["+strings.Join(tt.list, ",")+"]").Elements())
		var said []string
		for _, m := range h.Messages {
			if m.Role == winnow.RoleUser && !m.Injected {
				said = append(said, m.Parts[len(m.Parts)-1].Text)
			}
		}
		assert.Equal(t, tt.want, strings.Join(said, " "), tt.name)
	}
}

// System messages that the API does not show are not read. They stay as long as what is before them stays, and do not
// stand in front of a block of compaction.
func TestHiddenSystemMessages(t *testing.T) {
	const (
		note  = `{"role":"system","content":"Told.","clear_at":"next_user_message"}`
		tools = `{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","name":"x"}}]}`
		block = `{"role":"assistant","content":[{"type":"compaction","content":"So far.","tool_changes":[]},{"type":"text","text":"On."}]}`
		a, b  = `{"role":"user","content":"A"}`, `{"role":"assistant","content":"B"}`
		c     = `{"role":"user","content":"C"}`
	)
	for _, tt := range []struct {
		name string
		list []string
		read []string // the texts that count
		cut  int      // so many messages go
		want []string
	}{
		{"until the user goes on", []string{a, note, b, c, note}, []string{"A", "B", "C", "Told."}, 0, []string{a, note, b, c, note}},
		{"with what it followed", []string{a, note, b, c}, []string{"A", "B", "C"}, 2, []string{c}},
		{"it follows what stays", []string{a, b, c, note, b, c}, []string{"A", "B", "C", "B", "C"}, 2, []string{c, note, b, c}},
		{"before a compaction", []string{tools, a, tools, b, a, block, c}, []string{"A", "B", "A", "So far.", "C"}, 3, []string{block, c}},
		{"behind it", []string{a, block, a, tools, b}, []string{"A", "So far.", "A", "", "B"}, 1, []string{block, a, tools, b}},
	} {
		list := jsonedit.Value("[" + strings.Join(tt.list, ",") + "]")
		var read []string
		for _, m := range Read(Messages{}, list.Elements()).Messages {
			read = append(read, m.Parts[0].Text)
		}
		assert.Equal(t, tt.read, read, tt.name)
		got, _ := write(Messages{}, `{"messages":`+string(list)+`}`, func(m []winnow.Message) []winnow.Message { return m[tt.cut:] })
		assert.JSONEq(t, `{"messages":[`+strings.Join(tt.want, ",")+`]}`, got, tt.name)
	}
}
