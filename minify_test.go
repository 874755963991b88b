package winnow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestMinify(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command string
		output  string
		change  func(*winnow.Message)
		options winnow.Options
		want    string // of the reason; "": the result is sent as it came
		sent    string // that is in it
	}{
		{"a viewed file", "cat -n a.go", viewedFile, nil, winnow.Options{}, "line numbers", "\nline b of the file\n"},
		{"a program", "git pull", progress, nil, winnow.Options{}, "escape sequences", "done\nerror: the remote hung up"},
		{"a file with progress in it", "cat log", progress, nil, winnow.Options{}, "", ""},
		{"an error", "git pull", progress, func(m *winnow.Message) { m.IsError = true }, winnow.Options{}, "", ""},
		{"a pin", "git pull", progress, func(m *winnow.Message) { m.Pinned = true }, winnow.Options{}, "", ""},
		{"a tool that the host protects", "git pull", progress, nil, winnow.Options{Tools: &winnow.ToolOptions{Keep: []string{"ba*"}}}, "", ""},
		{"a result without a name", "git pull", progress, func(m *winnow.Message) { m.ToolName = "" }, winnow.Options{}, "escape sequences", "done\n"},
		{"too little", "git pull", "\x1b[32mok\x1b[0m\n", nil, winnow.Options{}, "", ""},
		{"off", "git pull", progress, nil, winnow.Options{NoMinify: true}, "", ""},
		{"nothing is folded", "git pull", progress, nil, winnow.Options{FoldAbove: 1}, "escape sequences", "done\n"},
		{"with a picture", "git pull", progress, func(m *winnow.Message) {
			m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 900})
		}, winnow.Options{}, "escape sequences", "done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := append(list(userSays("begin")), callOf("c1", "bash", `{"command":"`+tt.command+`"}`, tt.output)...)
			if tt.change != nil {
				tt.change(&h[2])
			}
			m := newManager(t, 200_000, &tt.options)
			plan := m.Plan(h)
			r := prepare(t, m, h)
			assert.Equal(t, plan.Messages, r.Messages, "Plan says what Prepare does")
			if tt.want == "" {
				assert.Empty(t, r.Edits)
				assert.Equal(t, h, r.Messages)
				return
			}
			require.Len(t, r.Edits, 1)
			e := r.Edits[0]
			assert.Equal(t, winnow.OpMinify, e.Op)
			assert.Equal(t, 2, e.Index)
			assert.Less(t, e.After, e.Before)
			assert.True(t, strings.HasSuffix(e.Reason, ": "+tt.want), e.Reason)
			assert.Contains(t, r.Messages[2].Parts[0].Text, tt.sent)
			assert.Equal(t, h[2].Parts[1:], r.Messages[2].Parts[1:], "what is not text stays")
			assert.Equal(t, h, r.History, "the host's history stays whole")

			state := snapshotOf(t, m)
			assert.Less(t, len(state), 1_000, "it says how the text is made of the message's own")
			for _, m := range []*winnow.Manager{m, restarted(t, 200_000, &tt.options, state), restarted(t, 200_000, &winnow.Options{NoMinify: true}, state)} {
				next := prepare(t, m, append(slices.Clone(h), modelSays("so it is"), userSays("go on")))
				sameMessages(t, r.Messages, next.Messages[:3], "what was sent stays as it was sent")
				assert.Equal(t, 3, next.FirstChanged)
			}
			h[2].Pinned = true
			assert.Equal(t, tt.output, prepare(t, m, h).Messages[2].Parts[0].Text, "pinned later, it is sent whole from then on")
		})
	}
}

// What is too large is cut from what is left of it, so that more of it stays.
func TestMinifyBeforeCutting(t *testing.T) {
	m := newManager(t, 16_000, nil)
	h := append(list(userSays("begin")), callOf("c1", "bash", `{"command":"git pull"}`, strings.Repeat("\x1b[1;32m.\x1b[0m", 4_000))...)
	r := prepare(t, m, h)
	require.Len(t, r.Edits, 1)
	assert.Equal(t, winnow.OpMinify, r.Edits[0].Op, "it fits")

	long := progress + strings.Repeat("words of a report, ", 4_000)
	h = append(h, callOf("c2", "bash", `{"command":"git fetch"}`, long)...)
	r = prepare(t, m, h)
	require.Len(t, r.Edits, 2)
	assert.Equal(t, winnow.OpTruncate, r.Edits[1].Op)
	assert.NotContains(t, r.Messages[4].Parts[0].Text, "\x1b")
}

// Recorded sessions with all forms on: what is left of a result has the lines of a file byte for byte.
func TestMinifyRecorded(t *testing.T) {
	recordedSessions(t, sized(18, 12), func(t *testing.T, name string, h []winnow.Message) {
		m := newManager(t, 100_000_000, &winnow.Options{FoldAbove: 1, Compact: &winnow.CompactOptions{Off: true}, Truncate: &winnow.TruncateOptions{MaxShare: 1, MaxChars: 1 << 40}})
		r := prepare(t, m, h)
		for _, e := range r.Edits {
			if e.Op == winnow.OpMinify && strings.HasSuffix(e.Reason, ": line numbers") {
				at := slices.IndexFunc(r.Messages, func(m winnow.Message) bool { return m.ToolCallID == h[e.Index].ToolCallID && m.Role == winnow.RoleTool })
				requireSameLines(t, h[e.Index].Parts, r.Messages[at].Parts, name)
			}
		}
	})
}
