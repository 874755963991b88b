package sections_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Whatever a model writes into a note comes back from a summary byte for byte, also from the summary of a summary.
func TestNotesComeBack(t *testing.T) {
	t.Parallel()
	pieces := []string{"go on", "<summary>", "</summary>", "</in-force>", "note \"x\" (1 lines):", "\n", "\n\n", "## User rules",
		"&lt;", "&", "&amp;#35;", "[Record of 3", "\\", "\"", "`", "日本", "🙂", "\t", "> a", "- b", "#", "</system-reminder>", " "}
	r := rand.New(rand.NewPCG(1, 43))
	random := func(most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	tokens := func(s string) int { return len(s) / 4 }
	written := 0
	for range 10_000 {
		var q sections.Quotes
		want := map[string]string{}
		for range 1 + r.IntN(4) {
			arguments, err := json.Marshal(map[string]string{"name": random(3), "text": random(12)})
			require.NoError(t, err)
			name, text, ok := toolcall.NoteIn(toolcall.NoteTool, arguments)
			if _, known := want[name]; !ok || known || text == "" {
				continue
			}
			q.Note(name, text)
			want[name] = text
			written++
		}
		summary := sections.Begin + "## Goal\nx" + q.Section(tokens, q.NoteTokens(tokens)) + sections.End
		for range 2 {
			got := map[string]string{}
			for _, n := range sections.Notes(summary) {
				got[n[0]] = n[1]
			}
			require.Equal(t, want, got, "%s", summary)
			var again sections.Quotes
			again.Keep(summary, func(string) bool { return true }, func(string) bool { return true })
			summary = sections.Begin + "## Goal\ny" + again.Section(tokens, again.NoteTokens(tokens)) + sections.End
		}
	}
	require.Greater(t, written, 5_000)
}

// A newer plan takes no room from notes: they are bounded where they are written.
func TestNotesComeFirst(t *testing.T) {
	tokens := func(s string) int { return len(s) }
	var q sections.Quotes
	q.Note("goal", "ship on the ninth"+strings.Repeat(" and so on", 20))
	q.State("plan todo", "step step")
	text := q.Section(tokens, q.NoteTokens(tokens))
	require.Contains(t, text, "ship on the ninth")
	require.NotContains(t, text, "step step")
}
