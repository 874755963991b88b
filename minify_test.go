package winnow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What tools print, each with one form of redundancy.
var (
	viewedFile = func() string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "%6d\tline %c of the file\n", i+1, 'a'+i%26)
		}
		return b.String()
	}()
	progress = func() string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "\x1b[32mreceiving objects: %d%%\x1b[0m\r", i)
		}
		return b.String() + "done\nerror: the remote hung up\n"
	}()
)

// shellCall is a call of bash with its result.
func shellCall(id, command, output string) []winnow.Message {
	m := modelSends(callPart(id, "bash"))
	m.Parts[0].Arguments = []byte(`{"command":"` + command + `"}`)
	r := toolSays(id, output)
	r.ToolName = "bash"
	return list(m, r)
}

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
		{"nothing is folded", "git pull", progress, nil, winnow.Options{FoldAbove: 1},
			"escape sequences", "done\n"},
		{"with a picture", "git pull", progress, func(m *winnow.Message) {
			m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 900})
		}, winnow.Options{}, "escape sequences", "done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := append(list(userSays("begin")), shellCall("c1", tt.command, tt.output)...)
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

			for _, m := range []*winnow.Manager{m, restoredManager(t, m, &tt.options), restoredManager(t, m, &winnow.Options{NoMinify: true})} {
				next := prepare(t, m, append(slices.Clone(h), modelSays("so it is"), userSays("go on")))
				sameMessages(t, r.Messages, next.Messages[:3], "what was sent stays as it was sent")
				assert.Equal(t, 3, next.FirstChanged)
			}
		})
	}
}

func restoredManager(t *testing.T, m *winnow.Manager, o *winnow.Options) *winnow.Manager {
	t.Helper()
	out := newManager(t, 200_000, o)
	require.NoError(t, out.Restore([]byte(snapshotOf(t, m))))
	return out
}

// A snapshot has no text of a result that was written shorter: it says how it is made of the message's own.
func TestMinifySnapshotIsSmall(t *testing.T) {
	m := newManager(t, 200_000, nil)
	h := list(userSays("begin"))
	for i := range 20 {
		h = append(h, shellCall("c"+itoa(i), "git pull", progress+itoa(i))...)
	}
	prepare(t, m, h)
	state := snapshotOf(t, m)
	assert.Less(t, len(state), 20*500)
	assert.NotContains(t, state, "hung up")
}

// What was sent before stays as it was sent: a manager that minifies goes on from one that did not.
func TestMinifyLeavesWhatWasSent(t *testing.T) {
	before := newManager(t, 200_000, &winnow.Options{NoMinify: true})
	h := append(list(userSays("begin")), shellCall("c1", "git pull", progress)...)
	prepare(t, before, h)
	m := restoredManager(t, before, nil)
	h = append(h, shellCall("c2", "git fetch", progress)...)
	r := prepare(t, m, h)
	assert.Equal(t, 3, r.FirstChanged)
	sameMessages(t, h[:4], r.Messages[:4], "it was sent so")
	assert.NotContains(t, r.Messages[4].Parts[0].Text, "\x1b")

	fork := restoredManager(t, m, nil)
	other := append(slices.Clone(h[:3]), shellCall("c3", "cat -n a.go", viewedFile)...)
	f := prepare(t, fork, other)
	assert.Equal(t, 3, f.FirstChanged)
	assert.NotContains(t, f.Messages[4].Parts[0].Text, "     2\t")
	back := prepare(t, fork, h)
	sameMessages(t, r.Messages, back.Messages, "a history that comes back is sent as it was")
}

// A result that is pinned later is sent whole from then on, and one that is let go stays so.
func TestMinifyPinnedLater(t *testing.T) {
	m := newManager(t, 200_000, nil)
	h := append(list(userSays("begin")), shellCall("c1", "git pull", progress)...)
	prepare(t, m, h)
	h = slices.Clone(h)
	h[2].Pinned = true
	assert.Equal(t, progress, prepare(t, m, h).Messages[2].Parts[0].Text)
}

// What is too large is cut from what is left of it, so that more of it stays.
func TestMinifyBeforeCutting(t *testing.T) {
	m := newManager(t, 16_000, nil)
	h := append(list(userSays("begin")), shellCall("c1", "git pull", strings.Repeat("\x1b[1;32m.\x1b[0m", 4_000))...)
	r := prepare(t, m, h)
	require.Len(t, r.Edits, 1)
	assert.Equal(t, winnow.OpMinify, r.Edits[0].Op, "it fits")

	long := progress + strings.Repeat("words of a report, ", 4_000)
	h = append(h, shellCall("c2", "git fetch", long)...)
	r = prepare(t, m, h)
	require.Len(t, r.Edits, 2)
	assert.Equal(t, winnow.OpTruncate, r.Edits[1].Op)
	assert.NotContains(t, r.Messages[4].Parts[0].Text, "\x1b")
}

// Recorded sessions with all forms on: what is left of a result has the lines of a file byte for byte.
func TestMinifyRecorded(t *testing.T) {
	recordedSessions(t, func(t *testing.T, name string, h []winnow.Message) {
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

// requireSameLines checks that each line of before stands in after, in order, with its number or without.
func requireSameLines(t *testing.T, before, after []winnow.Part, note string) {
	t.Helper()
	for k := range before {
		lines := strings.Split(after[k].Text, "\n")
		for want := range strings.SplitSeq(before[k].Text, "\n") {
			at := slices.IndexFunc(lines, func(l string) bool {
				return want == l || l != "[line numbers below 1000: only every 10th is shown]" && strings.HasSuffix(want, l)
			})
			require.GreaterOrEqual(t, at, 0, "%s: %q is gone", note, want)
			require.LessOrEqual(t, at, 1, "%s: before %q", note, want) // 1: a note
			lines = lines[at+1:]
		}
	}
}
