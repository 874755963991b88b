package winnow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/sections"
)

// stateWithSummary returns the snapshot of a manager that has compacted, and the history.
func stateWithSummary(t *testing.T) (map[string]any, []Message) {
	t.Helper()
	h := work(60)
	m := workManager(t, &outage{}, CompactOptions{})
	compact(t, m, h)
	state := snapshotOf(t, m)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(state, &fields))
	require.Contains(t, fields, "checkpoint")
	return fields, h
}

// A snapshot that would make a request which providers refuse is refused itself.
func TestRestoreRefusesWhatIsDamaged(t *testing.T) {
	edit := func(parts string) any {
		var e any
		require.NoError(t, json.Unmarshal([]byte(`{"`+strings.Repeat("a", 32)+`":{"key":"`+strings.Repeat("b",
			32)+`","parts":`+parts+`,"tokens":3,"op":"clear"}}`), &e))
		return e
	}
	for _, tc := range []struct {
		name   string
		damage func(state, checkpoint map[string]any)
	}{
		{"no text", func(_, c map[string]any) { delete(c, "text") }},
		{"a blank text", func(_, c map[string]any) { c["text"] = []byte(" ") }},
		{"half a text", func(_, c map[string]any) { c["text"] = []byte(sections.Begin + "## Go") }},
		{"another text", func(_, c map[string]any) { c["text"] = []byte("obey") }},
		{"bytes that are not text", func(_, c map[string]any) { c["text"] = []byte(sections.Begin + "\xff" + sections.End) }},
		{"no place", func(_, c map[string]any) { delete(c, "firstKept") }},
		{"the summary below a digest", func(_, c map[string]any) { c["healthy"] = map[string]any{"text": []byte("x")} }},
		{"an edit without parts", func(s, _ map[string]any) { s["edits"] = edit(`[]`) }},
		{"an edit without text", func(s, _ map[string]any) { s["edits"] = edit(`[{}]`) }},
		{"an edit of blanks", func(s, _ map[string]any) { s["edits"] = edit(`[{"text":"ICA="}]`) }},
		{"a call without id", func(s, _ map[string]any) { s["edits"] = edit(`[{"kind":"toolCall","name":"x"}]`) }},
		{"arguments that are not JSON", func(s, _ map[string]any) {
			s["edits"] = edit(`[{"kind":"toolCall","id":"c","name":"x","arguments":"ew=="}]`)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fields, h := stateWithSummary(t)
			tc.damage(fields, fields["checkpoint"].(map[string]any))
			state, err := json.Marshal(fields)
			require.NoError(t, err)
			m := workManager(t, &outage{}, CompactOptions{})
			require.Error(t, m.Restore(state))
			r := prepare(t, m, h)
			assert.Zero(t, countSummaries(r.Messages), "the manager is as it was")
		})
	}
	fields, _ := stateWithSummary(t)
	state, err := json.Marshal(fields)
	require.NoError(t, err)
	require.NoError(t, workManager(t, &outage{}, CompactOptions{}).Restore(state), "a sound state is restored")
}

// A snapshot keeps bytes that are not text, in parts and in what a summary carries.
func TestSnapshotKeepsBytes(t *testing.T) {
	parts := []Part{{Text: "a\xff"}, {Kind: KindThinking, Text: "b\xff", Signature: "s\xff"},
		{Kind: KindToolCall, ID: "c\xff", Name: "n\xff"}, {Kind: KindImage, MediaType: "m\xff"}}
	text, err := json.Marshal(saveParts(parts))
	require.NoError(t, err)
	var read []saved.Part
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, parts, partsOf(read))

	h := work(60)
	for i := range h {
		if h[i].Role == RoleTool {
			h[i].ToolName, h[i].IsError = "edit\xff", true
			h[i].Parts = []Part{{Text: fmt.Sprintf("failed \xff %d at src/\xff/file_%d.go 「\xffname%d」", i, i, i)}}
		}
	}
	h[0].Parts = []Part{{Text: "Never push \xff to main."}}
	same := answers("## Goal\nGo on.")
	m := workManager(t, same, CompactOptions{})
	compact(t, m, h)
	state := snapshotOf(t, m)
	other := workManager(t, same, CompactOptions{})
	require.NoError(t, other.Restore(state))
	assert.Equal(t, m.state.checkpoint.Carried, other.state.checkpoint.Carried)
	more := append(h[:len(h):len(h)], work(130)[121:]...)
	want := compact(t, m, more)
	got := compact(t, other, more)
	assert.Equal(t, want.Messages, got.Messages)
}

// A host that goes on from Request.History leaves edits behind. They do not stay for ever.
func TestSnapshotDoesNotGrow(t *testing.T) {
	m := newManager(t, 12_000, &Options{Estimator: CharsPerToken(4), Cache: &CacheOptions{None: true}, NoMinify: true, Summarizer: answers("## Goal\nGo on.")})
	h := []Message{userSays("Begin.")}
	most := 0
	for i := range 800 {
		id := fmt.Sprint("call_", i)
		h = append(h, assistantSays(strings.Repeat("I look at it. ", 60), toolCall(id, "exec", `{"cmd":"ls"}`)),
			resultOf(id, "exec", strings.Repeat(fmt.Sprintf("line %d of it\n", i), 120), false))
		h = prepare(t, m, h).History
		if i%100 == 99 {
			state := snapshotOf(t, m)
			if i < 200 {
				most = max(most, len(state))
			}
			require.LessOrEqual(t, len(state), 2*most+20_000, "after %d steps", i+1)
		}
	}
	t.Logf("%d edits, %d messages", len(m.state.edits), len(h))
	assert.LessOrEqual(t, len(m.state.edits), 2*len(h))
}

// editedWork is a conversation whose old results are sent edited, and a manager that has sent it.
func editedWork(t *testing.T) (*Manager, []Message) {
	t.Helper()
	m := newManager(t, 30_000, &Options{Estimator: CharsPerToken(4), Cache: &CacheOptions{None: true}, NoMinify: true, Summarizer: answers("## Goal\nGo on.")})
	s := newScript()
	for i := range 60 {
		s.inPlace(s.call("exec", `{"cmd":"ls"}`, strings.Repeat(fmt.Sprintf("line of /srv/app/file_%d.go\n", i), 200)))
	}
	prepare(t, m, s.history)
	size := 0
	for _, p := range m.state.edits {
		size += p.size()
	}
	require.Greater(t, size, mostGoneEdits, "there is something to forget")
	return m, s.history
}

// A host that begins anew leaves the edits of all its messages behind. They are counted in bytes: many short messages
// must not make it keep large edits of others.
func TestSnapshotForgetsLargeEdits(t *testing.T) {
	m, _ := editedWork(t)
	var other []Message
	for i := range 100 {
		other = append(other, userSays(fmt.Sprint("Question ", i)), assistantSays("Yes."))
	}
	prepare(t, m, append(other, userSays("And now?")))
	assert.Zero(t, len(m.state.edits), "edits")
}

// Records of messages that are gone, with nothing but their frames left, are many for their texts: they are counted as
// a snapshot has them.
func TestSnapshotForgetsRecords(t *testing.T) {
	m, h := editedWork(t)
	for i := range 300 {
		gone := key{1, byte(i), byte(i >> 8)}
		m.state.records = append(m.state.records, newRecord(&hasher{}, saved.Record{First: position{Key: gone, Index: i}, Count: 1, Last: gone, Run: gone, Text: "[Record of 1 earlier messages]"}))
	}
	prepare(t, m, append(h, userSays("Go on.")))
	assert.Greater(t, len(m.state.records), 20)
	text, err := json.Marshal(savedRecords(m.state.records))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(text), mostGoneEdits)
}
