package winnow_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

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

// trimmed is what the defaults make of a text of one line of n characters x.
func trimmed(n int) string {
	return fmt.Sprintf("%s\n...\n%s\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of %d chars.]", strings.Repeat("x", 1500), strings.Repeat("x", 1500), n)
}

func TestPruneProtects(t *testing.T) {
	long := strings.Repeat("x", 5000)
	result := toolSays("r", long)
	image := toolSays("r", long)
	image.Parts = append(image.Parts, imagePart())
	opaque := toolSays("r", long)
	opaque.Parts = append(opaque.Parts, winnow.Part{Kind: winnow.KindOpaque, Bytes: 10})
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

func TestPruneThresholds(t *testing.T) {
	// Four results of 10 000 characters. With one token a character the history has 40 000 and a few.
	h := old(toolSays("", strings.Repeat("x", 10_000)), toolSays("", strings.Repeat("x", 10_000)), toolSays("", strings.Repeat("x", 10_000)), toolSays("", strings.Repeat("x", 10_000)))
	text := winnow.EstimatorFunc(chars)
	size := 0
	for _, m := range h {
		size += chars(m)
	}
	after := size - 4*(10_000-len(trimmed(10_000))) // trimmed
	perClear := len(trimmed(10_000)) - len(cleared)
	for _, tt := range []struct {
		name           string
		window         int
		opts           winnow.PruneOptions
		trims, cleared int
		reason         string
	}{
		{"no window", 0, winnow.PruneOptions{}, 0, 0, "nothing is known"},
		{"negative window", -1, winnow.PruneOptions{}, 0, 0, "nothing is known"},
		{"large window", 10 * size, winnow.PruneOptions{}, 0, 0, "a tenth of the window"},
		{"just below", size*10/3 + 10, winnow.PruneOptions{}, 0, 0, "just below 0.3"},
		{"just above", size * 10 / 3, winnow.PruneOptions{}, 4, 0, "0.3 counts as above, and all are trimmed, whatever the ratio then is"},
		{"trimmed is enough", 2*after + 1, winnow.PruneOptions{MinPrunableToolChars: 1}, 4, 0, "below 0.5 after the trim"},
		{"one is cleared", 2 * after, winnow.PruneOptions{MinPrunableToolChars: 1}, 3, 1, "0.5 counts as above; the oldest goes, and that is enough"},
		{"two are cleared", 2 * (after - perClear), winnow.PruneOptions{MinPrunableToolChars: 1}, 2, 2, "one was not enough"},
		{"all are cleared", 10, winnow.PruneOptions{MinPrunableToolChars: 1}, 0, 4, "and it is still above"},
		{"not worth it", 10, winnow.PruneOptions{}, 4, 0, "50 000 characters would have to be there to clear"},
		{"just worth it", 10, winnow.PruneOptions{MinPrunableToolChars: 4 * len(trimmed(10_000))}, 0, 4, "counted after the trim"},
		{"just not worth it", 10, winnow.PruneOptions{MinPrunableToolChars: 4*len(trimmed(10_000)) + 1}, 4, 0, "one character is missing"},
		{"no clear", 10, winnow.PruneOptions{MinPrunableToolChars: 1, NoHardClear: true}, 4, 0, "never, if the host says so"},
		{"longer are trimmed", 10, winnow.PruneOptions{SoftTrimMaxChars: 10_000, NoHardClear: true}, 0, 0, "10 000 is not longer than 10 000"},
		{"shorter are trimmed", 10, winnow.PruneOptions{SoftTrimMaxChars: 9_999, NoHardClear: true}, 4, 0, "but than 9 999"},
		{"head and tail are all", 10, winnow.PruneOptions{SoftTrimHeadChars: 6_000, SoftTrimTailChars: 4_000, NoHardClear: true}, 0, 0, "nothing would be left out"},
		{"trimmed would be longer", 10, winnow.PruneOptions{SoftTrimHeadChars: 6_000, SoftTrimTailChars: 3_990, NoHardClear: true}, 0, 0, "the note has more characters than the middle"},
		{"ratios that are not numbers", size * 10 / 3, winnow.PruneOptions{SoftTrimRatio: math.NaN(), HardClearRatio: math.Inf(1)}, 4, 0, "taken as the defaults"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Estimator = text
			got, edits := winnow.PruneContext(h, tt.window, &tt.opts)
			count := map[winnow.Op]int{}
			for _, e := range edits {
				count[e.Op]++
				assert.Equal(t, chars(h[e.Index]), e.Before)
				assert.Equal(t, chars(got[e.Index]), e.After)
				assert.NotEmpty(t, e.Reason)
			}
			assert.Equal(t, tt.trims, count[winnow.OpTrim], "trimmed: %s", tt.reason)
			assert.Equal(t, tt.cleared, count[winnow.OpClear], "cleared: %s", tt.reason)
			for i, e := range edits {
				if e.Op == winnow.OpClear {
					assert.Less(t, i, tt.cleared, "the oldest are cleared")
				}
			}
		})
	}
}

func TestPruneTexts(t *testing.T) {
	small := winnow.PruneOptions{SoftTrimMaxChars: 20, SoftTrimHeadChars: 4, SoftTrimTailChars: 3, NoHardClear: true}
	note := func(n int) string {
		return fmt.Sprintf("\n\n[Tool result trimmed: kept first 4 chars and last 3 chars of %d chars.]", n)
	}
	emoji := strings.Repeat("👍", 100)
	for _, tt := range []struct {
		name   string
		opts   *winnow.PruneOptions
		parts  []string
		want   []string
		reason string
	}{
		{"defaults", always(winnow.PruneOptions{NoHardClear: true}), []string{strings.Repeat("x", 5000)}, []string{trimmed(5000)}, "1 500 characters of each end"},
		{"at the maximum", always(winnow.PruneOptions{NoHardClear: true}), []string{strings.Repeat("x", 4000)}, []string{strings.Repeat("x", 4000)}, "only longer ones"},
		{"several texts", always(small), []string{"abc", strings.Repeat("y", 90), "xyz"}, []string{"abc\n\n...\nxyz" + note(98)}, "joined by newlines, which count"},
		{"chinese", always(small), []string{"上下文窗口" + strings.Repeat("字", 90) + "管理完成"}, []string{"上下文窗\n...\n理完成" + note(99)}, "characters, not bytes"},
		{"emoji", always(small), []string{emoji}, []string{"👍👍👍👍\n...\n👍👍👍" + note(100)}, "no character is split"},
		{"no tail", always(winnow.PruneOptions{SoftTrimMaxChars: 20, SoftTrimHeadChars: 4, SoftTrimTailChars: -1, NoHardClear: true}), []string{strings.Repeat("x", 99)}, []string{"xxxx\n...\n\n\n[Tool result trimmed: kept first 4 chars and last 0 chars of 99 chars.]"}, "a negative number means 0"},
		{"placeholder", always(winnow.PruneOptions{Placeholder: "[gone]"}), []string{"something"}, []string{"[gone]"}, "the host's own"},
		{"blank placeholder", always(winnow.PruneOptions{Placeholder: " \n\u200b"}), []string{strings.Repeat("x", 99)}, []string{cleared}, "providers refuse blank text, and Restore an edit with one"},
		{"shorter than the placeholder", always(winnow.PruneOptions{}), []string{"something"}, []string{"something"}, "no message gets longer"},
		{"as long as the placeholder", always(winnow.PruneOptions{}), []string{strings.Repeat("x", len(cleared))}, []string{strings.Repeat("x", len(cleared))}, "nothing would be saved"},
		{"nothing", always(winnow.PruneOptions{}), nil, nil, "no text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := named(old(toolSays("", tt.parts...)))
			in[2].Details = []byte(`{"exitCode":0}`)
			got, edits := winnow.PruneContext(in, 1, tt.opts)
			var texts []string
			for _, p := range got[2].Parts {
				texts = append(texts, p.Text)
			}
			assert.Equal(t, tt.want, texts, tt.reason)
			if len(edits) > 0 {
				assert.Nil(t, got[2].Source, "the host's value says something else now")
				assert.Equal(t, in[2].Details, got[2].Details, "everything but the text stays")
				assert.Equal(t, in[2].ToolCallID, got[2].ToolCallID)
			}
			checkStage(t, pruneStage("", 1, tt.opts), in)
		})
	}
}

// A history that is small enough by its lengths is not read.
func TestPruneReadsNothingItNeedNot(t *testing.T) {
	h := transcript(2000, clean)
	got, edits := winnow.PruneContext(h, 20_000_000, nil)
	assert.True(t, sharesMemory(h, got))
	assert.Nil(t, edits)
	allocs := testing.AllocsPerRun(10, func() { winnow.PruneContext(h, 20_000_000, nil) })
	assert.LessOrEqual(t, allocs, 1.0, "nothing is allocated for what does not change")

	asked := 0
	counting := winnow.EstimatorFunc(func(m winnow.Message) int { asked++; return quarterOfText(m) })
	winnow.PruneContext(list(userSays("hi"), modelSays("ho")), 1, &winnow.PruneOptions{Estimator: counting})
	assert.Zero(t, asked, "without a result that could be pruned nobody needs to count")
}

func TestPruneGolden(t *testing.T) {
	for _, name := range []string{"go-test.txt", "traceback.txt", "chinese.txt"} {
		h := old(toolSays("", readFile(t, "outputs", name)))
		got, edits := winnow.PruneContext(h, 100, &winnow.PruneOptions{SoftTrimMaxChars: 600, SoftTrimHeadChars: 200, SoftTrimTailChars: 200, NoHardClear: true})
		require.Len(t, edits, 1, name)
		golden(t, "prune-"+name, fullText(got[2]))
	}
}
