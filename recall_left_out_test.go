package winnow_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A message shows its texts, its calls without the escapes of JSON, and what was thought; and says what it does not
// show.
func TestRecallShowsAll(t *testing.T) {
	m, _ := recallManager(t, 20_000, func(o *winnow.Options) { o.Compact = &winnow.CompactOptions{KeepRecent: 500} })
	history := workHistory(24, 60)
	history[1].Parts = append([]winnow.Part{
		{Kind: winnow.KindThinking, Text: "I think of zebras.", Signature: "c2ln"},
		{Kind: winnow.KindThinking, Signature: "encrypted"}, {Text: "I look."},
	}, history[1].Parts...)
	history[1].Parts[3].Arguments = json.RawMessage(`{"cmd":"grep \"title: \\\"\\\"\" ` +
		`a.md","script":"one\ntwo","path":"C:\\x"}`)
	history[2].Parts = append(history[2].Parts,
		winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Width: 20, Height: 10, Bytes: 9},
		winnow.Part{Kind: winnow.KindOpaque, MediaType: "application/pdf", Bytes: 7})
	_, err := m.Compact(t.Context(), history, "")
	require.NoError(t, err)
	got := lastText(callRecall(t, m, history, `{"handle":"`+winnow.HandleOf(m, history, 1)+`"}`))
	assert.Contains(t, got, "\nI look.\ncall of exec: {\"cmd\":\"grep \"title: \\\"\\\"\" "+
		"a.md\",\"script\":\none\ntwo\n,\"path\":\"C:\\x\"}\nthinking: I think of zebras.\n</recalled>")
	assert.Contains(t, lastText(callRecall(t, m, history, `{"words":"zebras"}`)), "I think of zebras")
	got = lastText(callRecall(t, m, history, `{"handle":"`+winnow.HandleOf(m, history, 2)+`"}`))
	assert.Contains(t, got, "[an image, 20×10 pixels: not text, so it is not quoted]\n[application/pdf, 7 bytes: "+
		"not text, so it is not shown]")
}

// What came behind the last request is whole in the next one.
func TestRecallOfWhatIsNew(t *testing.T) {
	m, history, _ := leftOutHistory(t, nil)
	history = goOn(history, 0)
	history[len(history)-1].Parts[0].Text = "a new result"
	answers := callRecall(t, m, history, `{"handle":"`+winnow.HandleOf(m, history, len(history)-1)+`"}`)
	assert.Contains(t, lastText(answers), "is not sent again")
}

// A summary has the handle of what it stands for.
func TestRecallOfASummary(t *testing.T) {
	m, _ := recallManager(t, 20_000, func(o *winnow.Options) { o.Compact = &winnow.CompactOptions{KeepRecent: 500} })
	history := workHistory(24, 60)
	_, err := m.Compact(t.Context(), history, "")
	require.NoError(t, err)
	r, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	listed := regexp.MustCompile(`\n</summary>\n\[recall (\d{9}) lists what this stands for\]$`)
	handle := ""
	for i := range r.Messages {
		if r.Messages[i].Summary {
			handle = listed.FindStringSubmatch(r.Messages[i].Parts[0].Text)[1]
		}
	}
	require.NotEmpty(t, handle)
	contents := lastText(callRecall(t, m, history, `{"handle":"`+handle+`"}`))
	entry := regexp.MustCompile(`(\d{8}) result of exec, 61 lines: line 1 of step 4: nothing ` +
		`happened\n`).FindStringSubmatch(contents)
	require.NotNil(t, entry, contents)
	assert.Contains(t, contents, `you, 1 lines: call of exec: {"cmd":"./run 4"}`)
	assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+entry[1]+`"}`)), "shard4 is 1004")
	assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+handle+`","words":"shard4"}`)),
		entry[1]+" result of exec, lines 30-43")
	assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+handle+`","pattern":"shard4"}`)),
		"32: the retry limit of shard4")

	more := append(history, workHistory(48, 60)[49:]...)
	_, err = m.Compact(t.Context(), more, "")
	require.NoError(t, err)
	assert.Contains(t, lastText(callRecall(t, m, more, `{"handle":"`+handle+`"}`)), entry[0],
		"an older summary's handle goes on to say the same")

	kept := r.History // of a host that keeps no more than it must
	answer := lastText(callRecall(t, m, kept, `{"handle":"`+entry[1]+`"}`))
	assert.Contains(t, answer, "nothing of this conversation has the handle")
	assert.Contains(t, lastText(callRecall(t, m, kept, `{"handle":"`+handle+`"}`)), "is in the history any more")
}

// A text of the host that a record stands for has a handle in it.
func TestRecallOfInjected(t *testing.T) {
	m := folding(t, winnow.Options{Recall: true})
	h := withInjected()
	text := strings.ReplaceAll(injectedText, "deploy_service", "release_service")
	h[4].Parts[0].Text = text
	r := prepare(t, m, h)
	texts := recordsIn(r.Messages)
	require.NotEmpty(t, texts)
	found := regexp.MustCompile(`\nInserted by the host, .*, recall (\d+)`).FindStringSubmatch(texts[0])
	require.NotNil(t, found, texts[0])
	answer := lastText(callRecall(t, m, h, `{"handle":"`+found[1]+`"}`))
	assert.Contains(t, answer, text)
	assert.Contains(t, answer, `from="the host"`)
	assert.Contains(t, lastText(callRecall(t, m, h, `{"words":"release_service"}`)), found[1])
}

// Long arguments of a call are shown with the line ends of their texts.
func TestRecallOfArguments(t *testing.T) {
	m, _ := recallManager(t, 20_000, nil)
	history := workHistory(12, 60)
	text := strings.Repeat("func f() { return }\n", 200) + "const retries = 17\n"
	arguments, err := json.Marshal(map[string]string{"path": "a.go", "content": text})
	require.NoError(t, err)
	history[1].Parts[0].Name, history[1].Parts[0].Arguments = "write", arguments
	_, err = m.Prepare(t.Context(), history)
	require.NoError(t, err)
	handle := winnow.HandleOf(m, history, 1)
	got := lastText(callRecall(t, m, history, `{"handle":"`+handle+`"}`))
	assert.Contains(t, got, `from="you"`)
	assert.Contains(t, got, "call of write: {\"content\":\nfunc f() { return }\nfunc f() { return }\n")
	got = lastText(callRecall(t, m, history, `{"handle":"`+handle+`","pattern":"retries"}`))
	assert.Contains(t, got, "202: const retries = 17")
}

// A list is of all that a summary stands for, also if the first kept message reads like an earlier one.
func TestRecallListsWhatASummaryStandsFor(t *testing.T) {
	for _, tt := range []struct {
		name string
		next func(history []winnow.Message, r *winnow.Request) []winnow.Message
		left int
	}{
		{"in its log", func(history []winnow.Message, _ *winnow.Request) []winnow.Message { return history }, 6},
		{"without the oldest", func(history []winnow.Message, _ *winnow.Request) []winnow.Message { return history[4:] }, 4},
		{"behind the summary", func(_ []winnow.Message, r *winnow.Request) []winnow.Message { return r.History }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := recallManager(t, 8_000, func(o *winnow.Options) {
				o.FoldAbove, o.Compact = 1, &winnow.CompactOptions{KeepRecent: 300}
			})
			var history []winnow.Message
			for i := range 6 {
				history = append(history, user("go on"), assistant(fmt.Sprintf("Step %d. %s", i, strings.Repeat("And so on. ", 100))))
			}
			history = append(history, user("go on"))
			r, err := m.Compact(t.Context(), history, "")
			require.NoError(t, err)
			handle := regexp.MustCompile(`recall (\d{9})`).FindStringSubmatch(joinedTexts(r.Messages))
			require.NotNil(t, handle)
			history = append(tt.next(history, r), assistant("Done."), user("go on"), assistant("Done again."), user("go on"))
			answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"handle":"`+handle[1]+`"}`))
			require.NoError(t, err)
			text := answer.Parts[0].Text
			assert.Equal(t, tt.left, strings.Count(text, " lines: Step "), text)
			assert.Equal(t, tt.left == 0, strings.Contains(text, "nothing of what it stood for"), text)
		})
	}
}

func joinedTexts(messages []winnow.Message) (text string) {
	for i := range messages {
		text += messageText(&messages[i])
	}
	return text
}

// goOn appends a step of the agent that has nothing to do with the others.
func goOn(history []winnow.Message, i int) []winnow.Message {
	id := "on_" + itoa(i)
	call := winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: "exec",
		Arguments: json.RawMessage(`{"cmd":"make step` + itoa(i) + `"}`)}
	return append(history, modelSends(call),
		winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "exec", Parts: []winnow.Part{{Text: "done"}}})
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
		return strings.ReplaceAll(string(text), tool, "")
	}
	assert.Equal(t, prepare("search"), strings.ReplaceAll(prepare("recall"), "ed handle=", "recalled handle="))
}

// With RecallImages, the answer that shows a result has its images, as the host gave them. Later they go like others,
// and come back by the handle of the original.
func TestRecallImages(t *testing.T) {
	t.Parallel()
	for _, isOn := range []bool{true, false} {
		c := newClock()
		m := newManager(t, 64_000, &winnow.Options{Recall: true, RecallImages: isOn, FoldAbove: -1, Estimator: picturesOf(1_400), Now: c.Now})
		h := list(screen(userSays("Book a flight.")))
		looks := func(id string) {
			step := callOf(id, "computer", `{"action":"look"}`, "looked at "+id)
			step[1] = screen(step[1])
			h = named(append(h, step...))
		}
		for k := range 20 {
			looks("look_" + itoa(k))
			c.pass(time.Hour)
			prepare(t, m, h)
		}
		arguments := `{"handle":"` + winnow.HandleOf(m, h, 2) + `"}`
		for round := range 2 {
			h = callRecall(t, m, h, arguments)
			answer := &h[len(h)-1]
			n, _ := imagesOf(h[len(h)-1:])
			assert.Contains(t, answer.Parts[0].Text, "looked at look_0")
			if !isOn {
				assert.Zero(t, n)
				break
			}
			require.Equal(t, 1, n, "round %d", round)
			assert.Equal(t, h[2].Parts[1].Source, answer.Parts[1].Source)
			h = named(h)
			r := prepare(t, m, h)
			assert.Equal(t, h[len(h)-1].Parts, r.Messages[len(r.Messages)-1].Parts, "it is sent")
			for k := range 8 {
				looks(itoa(round) + "_" + itoa(k))
				c.pass(time.Hour)
				r = prepare(t, m, h)
			}
			n, _ = imagesOf(r.Messages)
			assert.Equal(t, 4, n, "the newest three, and that of the newest turn")
		}
		for _, part := range []string{`"pattern":"look"`, `"words":"look"`, `"from":2`} {
			n, _ := imagesOf(callRecall(t, m, h, strings.Replace(arguments, "}", ","+part+"}", 1))[len(h):])
			assert.Zero(t, n, part)
		}
	}
}
