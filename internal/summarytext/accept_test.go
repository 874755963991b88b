package summarytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAccept(t *testing.T) {
	good := "## Goal\nBuild the parser.\n\n## Next Steps\n1. Test it."
	var prompt Prompt
	prompt.Begin()
	prompt.FromTool("bash", false, "", "")
	prompt.Text("out")
	prompt.End()
	prompt.Instruct("", "", "", 0)
	for _, tc := range []struct{ name, answer, want, reason string }{
		{"summary", good, good, ""},
		{"white space around it", "\n " + good + "\n\n", good, ""},
		{"reasoning first", "<think>\nlet me see\n</think>\n\n" + good, good, "servers put it before the answer"},
		{"only reasoning", "<think>let me see</think>", "", "empty"},
		{"endless reasoning", "<think>let me see", "", "within the reasoning"},
		{"empty", "", "", "empty"},
		{"blank", " \n\t\u00a0", "", "empty"},
		{"NUL", strings.Repeat("\x00", 1000), "", "empty"},
		{"invalid UTF-8", good + "\xff", good + "\uFFFD", ""},
		{"tool call", "<function_calls>\n<invoke name=\"bash\">", "", "tool call"},
		{"tool call of another model", "I will look.\n<tool_call>\n{\"name\": \"bash\"}\n</tool_call>", "", "tool call"},
		{"template tool call", "<|tool_calls_begin|>bash", "", "tool call"},
		{"JSON tool call", "```json\n{\"name\": \"bash\", \"arguments\": {}}\n```", "", "tool call"},
		{"about tool calls", good + "\nThe model wrote `<tool_call>` as text:\n```\n<tool_call>\n```", good + "\nThe model wrote `<tool_call>` as text:\n```\n<tool_call>\n```", ""},
		{"echo", prompt.String(), "", "repeats the prompt"},
		{"echo of the data", "<message from=\"tool\">\nout", "", "repeats the prompt"},
		{"echo of the system prompt", System, "", "repeats the prompt"},
		{"refusal", "I'm sorry, but I can't help with that.", "", "refused"},
		{"longer than MaxTokens", strings.Repeat("word ", 400), "", "are allowed"},
		{"longer than its input", strings.Repeat("word ", 400), "", "its input"},
		{"a little above MaxTokens", strings.Repeat("word ", 110), strings.TrimSpace(strings.Repeat("word ", 110)), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			input := 200
			room := 130
			switch tc.name {
			case "longer than MaxTokens":
				input = 10_000
			case "longer than its input":
				room = 1_000
			}
			got, refused := Accept(tc.answer, func(s string) int { return (len(s) + 3) / 4 }, room, input)
			assert.Equal(t, tc.want, got)
			if tc.want == "" {
				require.Contains(t, refused, tc.reason)
				return
			}
			assert.Empty(t, refused)
		})
	}
}
