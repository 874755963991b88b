package winnow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/markup"
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
	history[1].Parts[3].Arguments = json.RawMessage(`{"cmd":"grep \"title: \\\"\\\"\" a.md","script":"one\ntwo","path":"C:\\x"}`)
	history[2].Parts = append(history[2].Parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Width: 20, Height: 10, Bytes: 9},
		winnow.Part{Kind: winnow.KindOpaque, MediaType: "application/pdf", Bytes: 7})
	compact(t, m, history)
	got := lastText(callRecall(t, m, history, `{"handle":"`+winnow.HandleOf(m, history, 1)+`"}`))
	assert.Contains(t, got, "\nI look.\ncall of exec: {\"cmd\":\"grep \"title: \\\"\\\"\" "+
		"a.md\",\"script\":\none\ntwo\n,\"path\":\"C:\\x\"}\nthinking: I think of zebras.\n</recalled>")
	assert.Contains(t, lastText(callRecall(t, m, history, `{"words":"zebras"}`)), "I think of zebras")
	got = lastText(callRecall(t, m, history, `{"handle":"`+winnow.HandleOf(m, history, 2)+`"}`))
	assert.Contains(t, got, "[an image, 20×10 pixels: not text, so it is not quoted]\n[application/pdf, 7 bytes: "+"not text, so it is not shown]")
}

// A summary has the handle of what it stands for.
func TestRecallOfASummary(t *testing.T) {
	m, _ := recallManager(t, 20_000, func(o *winnow.Options) { o.Compact = &winnow.CompactOptions{KeepRecent: 500} })
	history := workHistory(24, 60)
	compact(t, m, history)
	r := prepare(t, m, history)
	listed := regexp.MustCompile(`\n</summary>\n\[Details are left out of this summary: recall (\d{9}) lists what this stands for\]$`)
	handle := listed.FindStringSubmatch(fullText(r.Messages[summaryAt(r.Messages)]))[1]
	contents := lastText(callRecall(t, m, history, `{"handle":"`+handle+`"}`))
	entry := regexp.MustCompile(`(\d{8}) result of exec, 61 lines: line 1 of step 4: nothing happened\n`).FindStringSubmatch(contents)
	require.NotNil(t, entry, contents)
	assert.Contains(t, contents, `you, 1 lines: call of exec: {"cmd":"./run 4"}`)
	assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+entry[1]+`"}`)), "shard4 is 1004")
	assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+handle+`","words":"shard4"}`)), entry[1]+" result of exec, lines 30-43")
	assert.Contains(t, lastText(callRecall(t, m, history, `{"handle":"`+handle+`","pattern":"shard4"}`)), "32: the retry limit of shard4")

	more := append(history, workHistory(48, 60)[49:]...)
	compact(t, m, more)
	assert.Contains(t, lastText(callRecall(t, m, more, `{"handle":"`+handle+`"}`)), entry[0], "an older summary's handle goes on to say the same")

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
			r := compact(t, m, history)
			handle := regexp.MustCompile(`recall (\d{9})`).FindStringSubmatch(toldIn(r))
			require.NotNil(t, handle)
			history = append(tt.next(history, r), assistant("Done."), user("go on"), assistant("Done again."), user("go on"))
			text := lastText(callRecall(t, m, history, `{"handle":"`+handle[1]+`"}`))
			assert.Equal(t, tt.left, strings.Count(text, " lines: Step "), text)
			assert.Equal(t, tt.left == 0, strings.Contains(text, "nothing of what it stood for"), text)
		})
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
		r := prepare(t, m, history)
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
		r := prepare(t, m, history)
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

// A record names the handle of each image that comes back, beside a text that stands whole in it.
func TestRecordsNameImages(t *testing.T) {
	t.Parallel()
	for _, isOn := range []bool{true, false} {
		m := newManager(t, 64_000, &winnow.Options{Recall: true, RecallImages: isOn})
		h := list(userSays("Look at each page."))
		for k := range 40 {
			step := callOf("look_"+itoa(k), "computer", `{"action":"look"}`, "page "+itoa(k))
			step[1] = screen(step[1])
			h = named(append(h, step...))
			prepare(t, m, h)
		}
		text := ""
		for _, x := range prepare(t, m, h).Messages {
			text += x.Parts[0].Text + "\n"
		}
		require.Contains(t, text, "page 0 / [Image left out", "a record")
		assert.Equal(t, isOn, strings.Contains(text, "recall "+winnow.HandleOf(m, h, 2)+"]"))
	}
}

// What holds for every recall, over random histories.

// markedHistory is a random history in which each message that has a text has a word of its own in it, in the middle.
func markedHistory(seed uint64) (history []winnow.Message, words []string) {
	history = randomHistory(seed)
	words = make([]string, len(history))
	for i := range history {
		m := &history[i]
		m.Pinned = false
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != winnow.KindText || strings.TrimSpace(p.Text) == "" {
				continue
			}
			words[i] = fmt.Sprintf("mark%dx%d", seed, i)
			middle := len(p.Text) / 2
			for middle > 0 && p.Text[middle]&0xC0 == 0x80 {
				middle--
			}
			m.Parts = append([]winnow.Part(nil), m.Parts...)
			m.Parts[k].Text = p.Text[:middle] + " " + words[i] + " " + p.Text[middle:]
			m.Parts[k].Source, m.Source = nil, nil
			break
		}
	}
	return history, words
}

// shows reports whether a request shows all texts and arguments of a message, somewhere.
func shows(r []winnow.Message, m *winnow.Message) bool {
	for i := range m.Parts {
		p := &m.Parts[i]
		found := false
		for k := range r {
			for _, q := range r[k].Parts {
				switch p.Kind {
				case winnow.KindText:
					found = found || strings.TrimSpace(p.Text) == "" || q.Kind == winnow.KindText && strings.Contains(q.Text, p.Text)
				case winnow.KindToolCall:
					found = found || q.Name == p.Name && string(q.Arguments) == string(p.Arguments)
				default:
					found = true
				}
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// plain is a text as it can be compared with what was quoted page by page: escaped, without line ends.
func plain(s string) string {
	return strings.NewReplacer("\n", "", "&lt;", "<", "&#91;", "[").Replace(markup.Escape(s))
}

var (
	nextLine   = regexp.MustCompile(`give from (\d+)\.\]$`)
	rangeShown = regexp.MustCompile(`^<recalled handle="(\d+)"[^>]*>\n`)
)

// recallAll asks for a message until all of it was shown.
func recallAll(t *testing.T, m *winnow.Manager, history []winnow.Message, handle string) string {
	t.Helper()
	var b strings.Builder
	from := "1"
	for range 1_000 {
		answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"handle":"`+handle+`","from":`+from+`}`))
		require.NoError(t, err)
		text := answer.Parts[0].Text
		require.False(t, answer.IsError, "%s", text)
		head := rangeShown.FindString(text)
		require.NotEmpty(t, head, "%s", text)
		require.Contains(t, text, "\n</recalled>\n")
		b.WriteString(text[len(head):strings.LastIndex(text, "\n</recalled>\n")])
		next := nextLine.FindStringSubmatch(text)
		if next == nil {
			return b.String()
		}
		from = next[1]
	}
	t.Fatal("it never ends")
	return ""
}

// recallWorld is a conversation in which everything is asked for.
type recallWorld struct {
	t       *testing.T
	seed    uint64
	options *winnow.Options
	window  int
	handles map[string]string // what each handle stands for
	asked   int
}

func (w *recallWorld) manager() *winnow.Manager { return newManager(w.t, w.window, w.options) }

// check asks for each message that the request does not show, by its word and by its handle. A repaired history has no
// handles for what the repair changed.
func (w *recallWorld) check(m *winnow.Manager, history []winnow.Message, words []string, r *winnow.Request, most int) {
	t := w.t
	for i := range history {
		if words[i] == "" || shows(r.Messages, &history[i]) {
			continue
		}
		if most--; most < 0 {
			return
		}
		w.asked++
		answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"words":"`+words[i]+`"}`))
		require.NoError(t, err)
		text := answer.Parts[0].Text
		require.False(t, answer.IsError, "seed %d, message %d: %s", w.seed, i, text)
		require.Contains(t, text, words[i], "seed %d, message %d of %d: %s", w.seed, i, len(history), text)
		found := regexp.MustCompile(`(?m)^(\d+) [^\n]*, lines \d+-\d+ of \d+:$`).FindStringSubmatch(text)
		require.NotNil(t, found, "%s", text)
		handle := found[1]
		shown := plain(recallAll(t, m, history, handle))
		for _, p := range history[i].Parts {
			if p.Kind == winnow.KindText {
				require.Contains(t, shown, plain(p.Text), "seed %d, message %d, handle %s", w.seed, i, handle)
			}
		}
		is := fmt.Sprint(words[i])
		if before, known := w.handles[handle]; known {
			require.Equal(t, before, is, "seed %d: a handle never means another message", w.seed)
		}
		w.handles[handle] = is
	}
	for i := range r.Messages { // what a placeholder names is there
		for _, found := range handlePattern.FindAllStringSubmatch(messageText(&r.Messages[i]), -1) {
			answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"handle":"`+found[1]+`"}`))
			require.NoError(t, err)
			require.False(t, answer.IsError, "seed %d: %s of %s", w.seed, answer.Parts[0].Text, messageText(&r.Messages[i]))
		}
	}
}

// useIDsAgain gives the calls of history ids that many answers share: one or, if kind is 2, none. Their results follow.
func useIDsAgain(history []winnow.Message, kind int) {
	if kind == 0 {
		return
	}
	again := map[string]string{}
	for i := range history {
		m := &history[i]
		n := 0
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
				id := ""
				if kind == 1 {
					id = fmt.Sprint("call_", n)
				}
				again[p.ID], p.ID = id, id
				n++
			}
		}
		if id, known := again[m.ToolCallID]; known {
			m.ToolCallID = id
		}
	}
}

// TestRecallGivesAllBack: for every message that is not whole in a request, search and handle give back its texts: in
// the manager that left it out, in one that was restored, in one that begins anew, after a rewind and in a fork.
func TestRecallGivesAllBack(t *testing.T) {
	t.Parallel()
	asked, summaries := 0, 0
	n := count(25, 40)
	for seed := range uint64(n) {
		dice := rand.New(rand.NewPCG(seed, 17))
		history, words := markedHistory(seed)
		w := &recallWorld{t: t, seed: seed, window: 2_000 + dice.IntN(10_000), handles: map[string]string{}, options: &winnow.Options{Recall: true}}
		w.options.FoldAbove = []float64{0, -1, 0.05, 1}[dice.IntN(4)]
		if dice.IntN(3) == 0 {
			w.options.HistoryTurns = 1 + dice.IntN(3)
		}
		if dice.IntN(3) == 0 {
			w.options.Cache = &winnow.CacheOptions{None: true}
		}
		if seed%2 == 1 {
			w.options.Thinking = winnow.ThinkingBound
		}
		useIDsAgain(history, int(seed%3)) // 0: it has its own
		m := w.manager()
		// ask prepares h and, unless what fills the window cannot be shrunk, asks for up to most messages.
		ask := func(m *winnow.Manager, h []winnow.Message, words []string, most int) *winnow.Request {
			r, err := m.Prepare(t.Context(), h)
			if err != nil {
				return nil
			}
			if summaryAt(r.Messages) >= 0 {
				summaries++
			}
			w.check(m, h, words, r, most)
			return r
		}
		for end := 1; end < len(history); end++ {
			if history[end].Role == winnow.RoleAssistant && dice.IntN(3) == 0 {
				ask(m, history[:end], words, 3)
			}
		}
		all := len(history)
		r := ask(m, history, words, all)
		restored := restarted(t, w.window, w.options, snapshotOf(t, m))
		if r != nil {
			w.check(restored, history, words, r, all)
		}
		rewound := history[:1+dice.IntN(all)]
		ask(restored, rewound, words, all)
		fork := append(slices.Clip(rewound), userSays("Another way: "+strings.Repeat("on and on ", 50)))
		ask(m, fork, append(slices.Clip(words[:len(rewound)]), ""), all)
		ask(w.manager(), history, words, all)
		asked += w.asked
	}
	t.Logf("%d histories, %d recalls, %d summaries", n, asked, summaries)
	assert.Greater(t, asked, n, "hardly anything was left out: the test says nothing")
	assert.Greater(t, summaries, n/4)
}

// An image is left out while it is new, because the request does not fit. What stands for its step then is in the next
// request too, and the model finds what that leaves out.
func TestRecordOfAStepWithAnImage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		for _, window := range []int{3_000, 4_000, 6_000} {
			for _, every := range []int{2, 6, 14, 40} {
				m, _ := recallManager(t, window, func(o *winnow.Options) { o.Summarizer = fails(errDown) })
				h := workHistory(20, 8)
				for i := 2; i < len(h); i += every {
					h[i] = withParts(h[i], winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Width: 1_000, Height: 1_000})
				}
				for n := 3; n <= len(h); n += 2 {
					sent := prepare(t, m, h[:n])
					again := m.Plan(h[:n])
					require.Equal(t, len(again.Messages), again.FirstChanged, "window %d, every %d, %d messages", window, every, n)
					for k := 2; k < n; k += 2 {
						if !strings.Contains(toldIn(sent), "shard"+itoa(k/2-1)+" is") {
							found := callRecall(t, m, h[:n], `{"words":"shard`+itoa(k/2-1)+`"}`)
							require.Contains(t, lastText(found), "shard"+itoa(k/2-1)+" is", "window %d, every %d, %d messages", window, every, n)
						}
					}
				}
			}
		}
	})
}
