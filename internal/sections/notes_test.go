package sections

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A newer plan takes no room from notes: they are bounded where they are written.
func TestNotesComeFirst(t *testing.T) {
	tokens := func(s string) int { return len(s) }
	var q Quotes
	q.Note("goal", "ship on the ninth"+strings.Repeat(" and so on", 20))
	q.Plan("plan:todo", "step step")
	text := q.Section(tokens, q.NoteTokens(tokens))
	assert.Contains(t, text, "ship on the ninth")
	assert.NotContains(t, text, "step step")
}
