package transcript_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session/transcript"
)

// A harness's reminders may go, and the body of a skill is in force under its name.
func TestWhatAHarnessSays(t *testing.T) {
	for _, tt := range []struct {
		line      string
		transient bool
		inForce   []string
		why       string
	}{
		{claudeLine("user", "a", "", asks("<system-reminder>The list is empty.</system-reminder>")), true, nil,
			"a reminder of Claude Code"},
		{claudeLine("user", "a", "", asks("<local-command-stdout>ok</local-command-stdout>")), true, nil,
			"what a local command printed"},
		{claudeLine("user", "a", "", asks("<task-notification>done</task-notification>")), false, nil,
			"a task has ended"},
		{claudeLine("user", "a", "", `"isMeta":true,`+asks(`Base directory for this skill: /w/skills/Release\n\nRun all.`)),
			false, []string{"instructions release"}, "a skill"},
		{claudeLine("user", "a", "", asks(`Base directory for this skill: /w/skills/release\n\nRun all.`)), false, nil,
			"a person says so"},
		{codexLine("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`) +
			item("user", "<turn_aborted> by the user"), true, nil, "a turn of Codex that ended early"},
	} {
		parsed, err := transcript.Parse([]byte(tt.line))
		require.NoError(t, err, tt.why)
		m := parsed.Entries[len(parsed.Entries)-1].Message
		assert.Equal(t, tt.transient, m.Transient, tt.why)
		assert.Equal(t, tt.inForce, m.InForce, tt.why)
	}
}
