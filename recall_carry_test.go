package winnow_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// goOn appends a step of the agent that has nothing to do with the others.
func goOn(history []winnow.Message, i int) []winnow.Message {
	id := "on_" + itoa(i)
	call := winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "exec",
		Arguments: json.RawMessage(`{"cmd":"make step` + itoa(i) + `"}`)}
	return append(history, modelSends(call),
		winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "exec", Parts: []winnow.Part{{Text: "done"}}})
}

// carried returns for how many requests the last message of the history is sent whole, and what is sent then.
func carried(t *testing.T, m *winnow.Manager, history []winnow.Message) (requests int, after string) {
	t.Helper()
	at := len(history) - 1
	whole := history[at].Parts[0].Text
	for i := range 40 {
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		if text := r.Messages[at].Parts[0].Text; text != whole {
			return i, text
		}
		history = goOn(history, len(history))
	}
	return 40, ""
}

// An answer is carried as what was asked for again, and longer the more often that was; then its placeholder names the
// original, and not the answer.
func TestRecalledIsCarried(t *testing.T) {
	eager := func(o *winnow.Options) { o.Cache, o.Minify = &winnow.CacheOptions{None: true}, asTheyCame }
	var requests [3]int
	for times := range requests {
		m, history, handle := leftOutHistory(t, eager)
		history = callRecall(t, m, history, `{"handle":"`+handle+`"}`)
		for range times {
			for i := range 3 {
				history = goOn(history, len(history)+i)
			}
			history = callRecall(t, m, history, `{"handle":"`+handle+`","from":1}`)
		}
		after := ""
		requests[times], after = carried(t, m, history)
		found := handlePattern.FindStringSubmatch(after)
		require.NotNil(t, found, after)
		assert.Equal(t, handle, found[1])
	}
	m, history, _ := leftOutHistory(t, eager)
	history = goOn(history, 0)
	history[len(history)-1].Parts[0].Text = workHistory(1, 60)[2].Parts[0].Text
	usual, _ := carried(t, m, history)
	assert.Equal(t, [3]int{2 * usual, 4 * usual, 8 * usual}, requests)
}

// A search has no one original: what stays of its answer names none, and the call can be made again.
func TestRecalledSearchGoesStale(t *testing.T) {
	m, history, _ := leftOutHistory(t, func(o *winnow.Options) { o.Cache = &winnow.CacheOptions{None: true} })
	history = callRecall(t, m, history, `{"words":"retry limit"}`)
	_, after := carried(t, m, history)
	assert.NotContains(t, after, ", recall ")
	assert.Contains(t, after, "left out")
}

// What is whole in the request is asked for again as well, and so it stays there longer.
func TestPointedAtIsCarried(t *testing.T) {
	eager := func(o *winnow.Options) { o.Cache = &winnow.CacheOptions{None: true} }
	for _, isAsked := range []bool{false, true} {
		m, history, _ := leftOutHistory(t, eager)
		at := len(history) - 1
		whole := history[at].Parts[0].Text
		if isAsked {
			history = callRecall(t, m, history, `{"handle":"`+winnow.HandleOf(m, history, at)+`"}`)
			require.Contains(t, lastText(history), "is not sent again")
		}
		requests := 0
		for r := (*winnow.Request)(nil); r == nil || r.Messages[at].Parts[0].Text == whole; requests++ {
			var err error
			history = goOn(history, len(history))
			r, err = m.Prepare(t.Context(), history)
			require.NoError(t, err)
		}
		assert.Equal(t, isAsked, requests > 4, "%d requests", requests)
	}
}

// An answer is not cut when it is first sent, and neither makes it the other results of its step smaller.
func TestRecalledIsNotCutAtBirth(t *testing.T) {
	for _, isRecall := range []bool{true, false} {
		m, history, handle := leftOutHistory(t, func(o *winnow.Options) {
			o.Truncate = &winnow.TruncateOptions{MaxShare: 0.01, MinKeepChars: 100}
		})
		history = callRecall(t, m, history, `{"handle":"`+handle+`"}`)
		if !isRecall {
			history[len(history)-2].Parts[0].Name, history[len(history)-1].ToolName = "exec", "exec"
		}
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		assert.Equal(t, isRecall, r.Messages[len(r.Messages)-1].Parts[0].Text == lastText(history))
	}
}

// What a new result is sent without has a handle, where it is more than another way to write the same.
func TestMinifiedHasAHandle(t *testing.T) {
	m, _ := recallManager(t, 200_000, nil)
	data := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ0xq9", 50)
	var lines strings.Builder
	for i := range 200 {
		lines.WriteString("step " + itoa(i) + " of 200 is done\n")
	}
	history := []winnow.Message{userSays("Look.")}
	for i, text := range []string{"image: data:image/png;base64," + data + "\n", lines.String(),
		strings.Repeat("\x1b[32mok\x1b[0m ", 20) + "the end\n"} {
		history = goOn(history, i)
		history[len(history)-1].Parts[0].Text = text
	}
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	for i, lost := range map[int]string{2: "iVBORw0KGgo", 4: "step 93 of 200"} {
		sent := r.Messages[i].Parts[0].Text
		require.Less(t, len(sent), len(history[i].Parts[0].Text)/2)
		found := regexp.MustCompile(`\n\[recall (\d+) for all of it\]$`).FindStringSubmatch(sent)
		require.NotNil(t, found, sent)
		assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+found[1]+`"}`)), lost)
	}
	assert.NotContains(t, r.Messages[6].Parts[0].Text, "recall", "nothing is missing")

	state, err := m.Snapshot()
	require.NoError(t, err)
	again, _ := recallManager(t, 200_000, nil)
	require.NoError(t, again.Restore(state))
	next, err := again.Prepare(t.Context(), history)
	require.NoError(t, err)
	assert.Equal(t, r.Messages, next.Messages, "a note is sent again with the same bytes")
}

// With Recall off the tool's name means nothing.
func TestRecallOffLeavesOtherToolsAlone(t *testing.T) {
	prepare := func(tool string) string {
		history := workHistory(12, 60)
		for i := range history {
			if history[i].Role == winnow.RoleTool {
				history[i].ToolName = tool
				history[i-1].Parts[0].Name = tool
				history[i].Parts[0].Text = "<recalled handle=\"12345678\">\n" + history[i].Parts[0].Text
			}
		}
		m, _ := recallManager(t, 20_000, func(o *winnow.Options) { o.Recall = false })
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		text, err := json.Marshal(r.Messages)
		require.NoError(t, err)
		return strings.ReplaceAll(string(text), `"`+tool+`"`, "")
	}
	assert.Equal(t, prepare("search"), prepare("recall"))
}
