package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// session is a recording: steps that read, then a plan, a commit, passed and failed tests, and a second turn.
func session() []winnow.Message {
	var h []winnow.Message
	say := func(role winnow.Role, text string) {
		h = append(h, winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}})
	}
	step := func(tool, arguments, result string) {
		id := fmt.Sprint("c", len(h))
		h = append(h, winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "I do " + tool + "."},
			{Kind: winnow.KindToolCall, ID: id, Name: tool, Arguments: []byte(arguments)}}},
			winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: tool, Parts: []winnow.Part{{Text: result}}})
	}
	say(winnow.RoleUser, "Mend it.")
	for i := range 30 {
		step("exec", fmt.Sprintf(`{"command":"cat %d.log"}`, i), strings.Repeat(fmt.Sprintf("line %d of the log\n", i), 300))
	}
	step("todo_write", `{"todos":[{"content":"read","status":"completed"}]}`, "ok")
	step("exec", `{"command":"git add . && git commit -m x"}`, "1 file changed")
	step("exec", `{"command":"go test ./..."}`, "FAIL x")
	step("exec", `{"command":"go test ./..."}`, "ok x")
	say(winnow.RoleAssistant, "It is mended.")
	say(winnow.RoleUser, "Thanks, go on.")
	say(winnow.RoleAssistant, "What with?")
	return h
}

func TestPhases(t *testing.T) {
	for at, behind := range map[string]string{
		"plans": "todo_write", "commits": "git commit", "tests": "ok x", "turns": "ok x", "nothing": "",
	} {
		c, err := withPhases(session(), at, 64_000)
		require.NoError(t, err)
		want := 1
		if at == "nothing" {
			want = 0
		}
		assert.Equal(t, want, c.ended, at)
		assert.Len(t, c.history, len(session())+3*want)
		for i := range c.history {
			if p := c.history[i].Parts[0]; p.Kind == winnow.KindToolCall && p.Name == winnow.NotesTool().Name {
				before := c.history[i-1].Parts[0].Text + string(c.history[i-2].Parts[1].Arguments) + c.history[i-2].Parts[1].Name
				assert.Contains(t, before, behind, at)
				assert.False(t, c.history[i+1].IsError)
			}
		}
		dir := t.TempDir()
		require.NoError(t, write(filepath.Join(dir, "s.jsonl.gz"), c.history))
		s, _, err := recording.OpenFile(filepath.Join(dir, "s.jsonl.gz"))
		require.NoError(t, err)
		assert.Len(t, s.Messages, len(c.history))
		again := t.TempDir()
		require.NoError(t, run(dir, again, at, 64_000))
	}
	assert.Error(t, run(t.TempDir(), t.TempDir(), "turns", 64_000), "no sessions")
}
