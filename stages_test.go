package winnow_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// old is a history with the given results as old ones: three newer assistant messages protect nothing of them.
func old(results ...winnow.Message) []winnow.Message {
	h := list(userSays("go"))
	for i, r := range results {
		id := "old_" + itoa(i)
		call := modelCalls(id)
		call.Parts[0].Name = r.ToolName
		r.ToolCallID = id
		h = append(h, call, r)
	}
	return append(h, modelSays("one"), modelSays("two"), modelSays("three"))
}

// always prunes whatever the size of the history.
func always(o winnow.PruneOptions) *winnow.PruneOptions {
	o.SoftTrimRatio, o.HardClearRatio = -1, -1
	if o.MinPrunableToolChars == 0 {
		o.MinPrunableToolChars = -1
	}
	return &o
}

const cleared = "[Old tool result content cleared]"

func TestPruneProtects(t *testing.T) {
	long := strings.Repeat("x", 5000)
	result := toolSays("r", long)
	image, opaque := withParts(result, imagePart()), withParts(result, winnow.Part{Kind: winnow.KindOpaque, Bytes: 10})
	clear := always(winnow.PruneOptions{})
	for _, tt := range []struct {
		name    string
		in      []winnow.Message
		opts    *winnow.PruneOptions
		changed []int
		reason  string
	}{
		{"old", old(result), clear, []int{2}, "an old result that is long"},
		{"short", old(toolSays("r", "ok")), clear, nil, "a placeholder would be longer"},
		{"newest three", list(userSays("go"), modelCalls("r"), result, modelSays("one"), modelSays("two")), clear, nil, "the third newest assistant message protects what follows it"},
		{"newest four", list(userSays("go"), modelCalls("r"), result, modelSays("one"), modelSays("two"), modelSays("three")), clear, []int{2}, "the call is the fourth"},
		{"keep one", list(userSays("go"), modelCalls("r"), result, modelSays("one")), always(winnow.PruneOptions{KeepLastAssistants: 1}), []int{2}, "fewer are protected"},
		{"keep none", list(userSays("go"), modelCalls("r"), result), always(winnow.PruneOptions{KeepLastAssistants: -1}), []int{2}, "none is protected"},
		{"too few assistants", list(userSays("go"), result, modelSays("one")), clear, nil, "fewer assistant messages than are protected: everything is"},
		{"before the first question", append(list(modelCalls("r"), result), old()...), clear, nil, "what the host put there, such as its identity files"},
		{"behind the host's message", append(list(hostSays("boot"), modelCalls("r"), result), old()...), clear, []int{2}, "a user message of the host is one"},
		{"no question", list(modelCalls("r"), result, modelSays("one"), modelSays("two"), modelSays("three")), clear, nil, "nothing comes after the first user message"},
		{"pinned", old(pinned(result)), clear, nil, "a pin survives every stage"},
		{"image", old(image), clear, nil, "its text may be about the image"},
		{"opaque", old(opaque), clear, nil, "nobody knows what would be lost"},
		{"long answer", append(list(userSays("go"), modelSays(long)), old()...), clear, nil, "only results are pruned"},
		{"allowed", old(result), always(winnow.PruneOptions{AllowTools: []string{"exec"}}), []int{2}, "the tool is on the list"},
		{"not allowed", old(result), always(winnow.PruneOptions{AllowTools: []string{"read"}}), nil, "the tool is not on the list"},
		{"allowed by pattern", old(result), always(winnow.PruneOptions{AllowTools: []string{"re*", " E*C "}}), []int{2}, "in any case, without the spaces around"},
		{"denied", old(result), always(winnow.PruneOptions{DenyTools: []string{"EXEC"}}), nil, "in any case"},
		{"deny wins", old(result), always(winnow.PruneOptions{AllowTools: []string{"exec"}, DenyTools: []string{"ex*"}}), nil, "over allow"},
		{"blank patterns", old(result), always(winnow.PruneOptions{AllowTools: []string{" ", ""}, DenyTools: []string{""}}), []int{2}, "a blank pattern matches nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := named(deepCopy(tt.in))
			got, edits := winnow.PruneContext(in, 1000, tt.opts)
			var changed []int
			for _, e := range edits {
				changed = append(changed, e.Index)
				assert.Equal(t, cleared, fullText(got[e.Index]))
			}
			assert.Equal(t, tt.changed, changed, tt.reason)
			assert.Equal(t, len(tt.changed) == 0, sharesMemory(in, got), "the same list exactly if nothing was done")
			checkStage(t, pruneStage("", 1000, tt.opts), in)
		})
	}
}

// A history that is small enough is returned as it is, and nothing is allocated for it.
func TestStagesAllocateNothingForNothing(t *testing.T) {
	h := transcript(2000)
	for _, tt := range []struct {
		stage stage
		most  float64 // allocations
	}{
		{pruneStage("roomy", 20_000_000, nil), 2}, {truncateStage("roomy", 200_000, nil), 1},
		{limitStage(0), 0}, {limitStage(1000), 0}, {limitStage(1_000_000), 0},
	} {
		got, edits := tt.stage.run(h)
		assert.True(t, sharesMemory(h, got), tt.stage.name)
		assert.Nil(t, edits, tt.stage.name)
		assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { tt.stage.run(h) }), tt.most, tt.stage.name)
	}
}

func TestPruneGolden(t *testing.T) {
	for _, name := range []string{"go-test.txt", "traceback.txt", "chinese.txt"} {
		h := old(toolSays("", readFile(t, "outputs", name)))
		got, edits := winnow.PruneContext(h, 100, &winnow.PruneOptions{SoftTrimMaxChars: 600, SoftTrimHeadChars: 200, SoftTrimTailChars: 200, NoHardClear: true})
		require.Len(t, edits, 1, name)
		golden(t, "prune-"+name, fullText(got[2]))
	}
}

func resultOf(m winnow.Message) []winnow.Message {
	m.ToolCallID = "a"
	return named(list(userSays("go"), modelCalls("a"), m, modelSays("done")))
}

func TestTruncateLimits(t *testing.T) {
	x := func(n int) winnow.Message { return toolSays("a", strings.Repeat("x", n)) }
	image := withParts(x(8000), imagePart()) // 1 200 tokens
	counted := x(10)
	counted.Parts[0].Tokens = 5_000
	for _, tt := range []struct {
		name   string
		result winnow.Message
		window int
		opts   *winnow.TruncateOptions
		cut    bool
		reason string
	}{
		{"no window", x(1_000_000), 0, nil, false, "nothing is known"},
		{"negative window", x(1_000_000), -5, nil, false, "nothing is known"},
		{"at the share", x(12_000), 10_000, nil, false, "3 000 tokens are 0.3 of 10 000"},
		{"above the share", x(12_001), 10_000, nil, true, "one token more"},
		{"at the characters", x(400_000), 10_000_000, nil, false, "400 000 characters"},
		{"above the characters", x(400_001), 10_000_000, nil, true, "one character more, whatever the window"},
		{"own share", x(12_001), 10_000, &winnow.TruncateOptions{MaxShare: 0.5}, false, "the host's own share"},
		{"own characters", x(8_001), 10_000, &winnow.TruncateOptions{MaxChars: 8_000}, true, "the host's own number"},
		{"share above one", x(50_000), 10_000, &winnow.TruncateOptions{MaxShare: 7}, true, "a result never has more than the window"},
		{"share that is not a number", x(12_001), 10_000, &winnow.TruncateOptions{MaxShare: math.NaN()}, true, "taken as the default"},
		{"small window", x(2_100), 100, nil, false, "what must be kept and the notice would be no shorter"},
		{"pinned", pinned(x(1_000_000)), 10_000, nil, false, "a pin survives every stage"},
		{"image", image, 10_000, nil, true, "an image counts, and the text beside it is cut"},
		{"image alone", toolSays("a"), 10, nil, false, "there is no text to cut"},
		{"counted by the host", counted, 10_000, nil, false, "what the host counts as much cannot get shorter than what must be kept"},
		{"own estimator", x(3_001), 10_000, &winnow.TruncateOptions{MinKeepChars: 100, Estimator: winnow.EstimatorFunc(chars)}, true, "a token a character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := &winnow.TruncateOptions{}
			if tt.opts != nil {
				*opts = *tt.opts
			}
			if opts.Estimator == nil {
				opts.Estimator = winnow.CharsPerToken(4)
			}
			in := resultOf(tt.result)
			got, edits := winnow.TruncateToolResults(in, tt.window, opts)
			assert.Equal(t, tt.cut, len(edits) == 1, tt.reason)
			assert.Equal(t, !tt.cut, sharesMemory(in, got), "the same list exactly if nothing was done")
			if tt.cut {
				assert.Equal(t, 2, edits[0].Index)
				assert.Less(t, edits[0].After, edits[0].Before)
				e := winnow.CharsPerToken(4)
				limit := int(float64(tt.window) * 0.3)
				if tt.opts == nil {
					assert.LessOrEqual(t, e.Estimate(got[2]), limit, "within the share")
				}
				assert.LessOrEqual(t, chars(got[2]), 400_000, "within the characters")
			}
			checkStage(t, truncateStage("", tt.window, tt.opts), in)
		})
	}
}

// budget cuts texts to the given number of characters of one token each.
func budget(n int, o winnow.TruncateOptions) (int, *winnow.TruncateOptions) {
	o.Estimator, o.MaxShare = winnow.EstimatorFunc(chars), 1
	return n, &o
}

// TestConformanceTruncate has what the reference does.
func TestTruncateHeadOnly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		texts  []string
		budget int
		opts   winnow.TruncateOptions
		want   []string
		reason string
	}{
		{"newline in the last fifth", []string{strings.Repeat("x", 85) + "\n" + strings.Repeat("y", 200)}, 101, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 85) + "#"}, "cut at the line end"},
		{"at least so much", []string{strings.Repeat("x", 200)}, 20, winnow.TruncateOptions{MinKeepChars: 50, Notice: "#"}, []string{strings.Repeat("x", 50) + "#"}, "even above the limit"},
		{"shared by length", []string{strings.Repeat("x", 300), strings.Repeat("y", 100)}, 200, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 149) + "#", strings.Repeat("y", 49) + "#"}, "150 and 50 of 200"},
		{"short text beside a long one", []string{strings.Repeat("x", 1000), "short"}, 200, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 198) + "#", "short"}, "a text below its floor stays whole"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.HeadOnly = true
			window, opts := budget(tt.budget, tt.opts)
			in := resultOf(toolSays("a", tt.texts...))
			got, _ := winnow.TruncateToolResults(in, window, opts)
			var texts []string
			for _, p := range got[2].Parts {
				texts = append(texts, p.Text)
			}
			assert.Equal(t, tt.want, texts, tt.reason)
			checkStage(t, truncateStage("", window, opts), in)
		})
	}
}

// Texts that a tool really printed, cut to different sizes.
func TestTruncateGolden(t *testing.T) {
	for _, tt := range []struct {
		file  string
		chars int
		has   []string
	}{
		{"go-test.txt", 1600, []string{"=== RUN   TestPrices\n", "--- FAIL: TestPrices/item_057", "panic: runtime error: index out of range", "FAIL\texample.com/cart"}},
		{"traceback.txt", 1200, []string{"order 1000", "KeyError: 'total'", "RuntimeError: import stopped"}},
		{"payload.json", 1000, []string{`"id": 0`, `"total": 412`}},
		{"chinese.txt", 1200, []string{"开始构建项目", "错误：模块“订单服务64”找不到类型定义", "构建完成：成功 119 个"}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			window, opts := budget(tt.chars, winnow.TruncateOptions{MinKeepChars: 100})
			in := resultOf(toolSays("a", readFile(t, "outputs", tt.file)))
			got, edits := winnow.TruncateToolResults(in, window, opts)
			require.Len(t, edits, 1)
			text := fullText(got[2])
			assert.LessOrEqual(t, utf8.RuneCountInString(text), tt.chars)
			for _, s := range tt.has {
				assert.Contains(t, text, s, "what a reader must not miss")
			}
			golden(t, "truncate-"+tt.file, text)
			checkStage(t, truncateStage("", window, opts), in)
		})
	}
}

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

func TestLimitHistoryTurns(t *testing.T) {
	q, a := userSays("question"), modelSays("answer")
	chat := list(q, a, q, a, q, a)
	for _, tt := range []struct {
		name   string
		in     []winnow.Message
		limit  int
		keep   []int // indexes of what is left
		reason string
	}{
		{"nothing", nil, 3, nil, "no history, no turns"},
		{"no limit", chat, 0, []int{0, 1, 2, 3, 4, 5}, "0 means no limit"},
		{"negative", chat, -2, []int{0, 1, 2, 3, 4, 5}, "a negative number means 0"},
		{"within", chat, 4, []int{0, 1, 2, 3, 4, 5}, "fewer turns than that"},
		{"just within", chat, 3, []int{0, 1, 2, 3, 4, 5}, "as many turns as that"},
		{"one too many", chat, 2, []int{2, 3, 4, 5}, "the oldest turn goes, question and answer"},
		{"one", chat, 1, []int{4, 5}, "the newest turn stays"},
		{"no user message", list(a, a, a), 1, []int{0, 1, 2}, "there is no turn to count"},
		{"an answer comes first", list(a, q, a, q), 1, []int{3}, "what is in front of the first turn is older than it"},
		{"an answer comes first, within", list(a, q, a), 1, []int{0, 1, 2}, "but is not dropped for itself"},
		{"injected", list(q, a, hostSays("cron"), a, q, a), 2, []int{0, 1, 2, 3, 4, 5}, "what the host says begins no turn"},
		{"injected goes with its turn", list(q, a, hostSays("cron"), a, q, a), 1, []int{4, 5}, "it belongs to the turn that it is in"},
		{"tool loop", list(q, modelCalls("a"), toolSays("a", "x"), a, q, modelCalls("b"), toolSays("b", "x")), 1, []int{4, 5, 6}, "calls and results go with their turn"},
		{"system", list(systemSays("be kind"), q, a, systemSays("now"), q, a), 1, []int{0, 3, 4, 5}, "system messages are never dropped"},
		{"summary", list(summarySays("so far"), q, a, q, a), 1, []int{0, 3, 4}, "it stands for older history"},
		{"summary begins no turn", list(summarySays("so far"), q, a), 1, []int{0, 1, 2}, "nobody asked it"},
		{"pinned question", list(pinned(q), a, q, a, q, a), 1, []int{0, 4, 5}, "a pin stays, alone"},
		{"pinned answer", list(q, pinned(a), q, a), 1, []int{0, 1, 2, 3}, "an answer without its question could come first"},
		{"pinned result", list(q, modelCalls("a", "b"), toolSays("a", "x"), pinned(toolSays("b", "y")), a, q, a), 1, []int{0, 1, 2, 3, 5, 6}, "it keeps its call, and that its other results"},
		{"pinned call", list(q, pinned(modelCalls("a")), toolSays("a", "x"), a, q), 1, []int{0, 1, 2, 4}, "a call keeps its results"},
		{"pinned result that is late", list(q, modelCalls("a"), modelCalls("b"), toolSays("b", "x"), pinned(toolSays("a", "y")), a, q), 1, []int{0, 1, 4, 6}, "the call that it answers is further up; others go"},
		{"pinned result behind the next question", list(q, modelCalls("a"), q, pinned(toolSays("a", "y")), a, q, a), 1, []int{0, 1, 3, 5, 6}, "it belongs to the question that its call belongs to"},
		{"pinned result two turns late", list(q, a, q, modelCalls("a"), q, a, q, pinned(toolSays("a", "y")), a, q), 1, []int{2, 3, 7, 9}, "however late"},
		{"pinned result within the limit", list(q, modelCalls("a"), q, pinned(toolSays("a", "y")), a), 1, []int{0, 1, 2, 3, 4}, "its call is not within it"},
		{"other results that are late", list(q, modelCalls("a", "b"), q, pinned(toolSays("a", "y")), a, toolSays("b", "z"), q), 1, []int{0, 1, 3, 5, 6}, "a call that is kept keeps all its results"},
		{"an id that is used again", list(q, modelCalls("a"), toolSays("a", "x"), q, modelCalls("a"), q, pinned(toolSays("a", "y")), q), 1, []int{3, 4, 6, 7}, "the newest call is meant"},
		{"pinned orphan", list(q, a, pinned(toolSays("ghost", "x")), q), 1, []int{0, 2, 3}, "a pin stays even where repair would drop it"},
		{"pinned behind the host", list(hostSays("boot"), pinned(a), q, a, q, a), 1, []int{0, 1, 4, 5}, "no person spoke before it, and it must not come first"},
		{"pinned behind a summary", list(summarySays("so far"), hostSays("boot"), pinned(a), q, a, q), 1, []int{0, 2, 5}, "a summary may come first"},
		{"pinned inside the limit", list(q, a, q, pinned(a)), 1, []int{2, 3}, "it is there anyway"},
		{"pinned system", list(pinned(systemSays("be kind")), q, a, q), 1, []int{0, 3}, "it needs no question"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := deepCopy(tt.in)
			named(in)
			var want []winnow.Message
			for _, i := range tt.keep {
				want = append(want, in[i])
			}
			got, edits := winnow.LimitHistoryTurns(in, tt.limit)
			sameMessages(t, want, got, tt.reason)
			require.Len(t, edits, len(in)-len(got), "an edit for each message that went")
			for _, e := range edits {
				assert.Equal(t, winnow.OpLimit, e.Op)
				assert.Equal(t, in[e.Index].ID, e.ID)
				assert.Equal(t, max(1, winnow.CharsPerToken(4).Estimate(in[e.Index])), e.Before)
				assert.Zero(t, e.After)
				assert.NotContains(t, tt.keep, e.Index)
			}
		})
	}
}
