package summarytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnswer(t *testing.T) {
	for _, tc := range []struct{ in, summary, reason string }{
		{"## Goal\nShip it.", "## Goal\nShip it.", ""},
		{"<think>What now?</think>\n## Goal\nx", "## Goal\nx", ""},
		{"<think>What now?", "", "it ends within the reasoning"},
		{"\u200b \n", "", "it is empty"},
		{"I'll call it.\n<function_calls>", "", "it is a tool call"},
		{"```json\n[{\"name\": \"read\"}]\n```", "", "it is a tool call"},
		{"## Goal\n```\n<function_calls>\n```", "## Goal\n```\n<function_calls>\n```", ""},
		{"<conversation>\n...", "", "it repeats the prompt"},
		{Sections, "", "it repeats the prompt"},
		{"I’m sorry, I cannot help with that.", "", "the model refused"},
		{"I'm sorry is what the page says.\n## Goal\nx", "I'm sorry is what the page says.\n## Goal\nx", ""},
		{"I cannot say much. " + strings.Repeat("But there is this. ", 30), "I cannot say much. " + strings.Repeat("But there is this. ", 30), ""},
	} {
		summary, reason := Answer(tc.in)
		assert.Equal(t, tc.summary, summary, "%.60q", tc.in)
		assert.Equal(t, tc.reason, reason, "%.60q", tc.in)
	}
}
