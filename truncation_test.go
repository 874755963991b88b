package winnow_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func resultOf(m winnow.Message) []winnow.Message {
	m.ToolCallID = "a"
	return named(list(userSays("go"), modelCalls("a"), m, modelSays("done")))
}

func TestTruncateLimits(t *testing.T) {
	x := func(n int) winnow.Message { return toolSays("a", strings.Repeat("x", n)) }
	image := x(8000)
	image.Parts = append(image.Parts, imagePart()) // 1 200 tokens
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
			in := resultOf(tt.result)
			got, edits := winnow.TruncateToolResults(in, tt.window, tt.opts)
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

func TestTruncateOthersStay(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	call := callPart("a", "write")
	call.Arguments = []byte(`{"content":"` + long + `"}`)
	in := list(userSays(long), modelSends(textPart(long), call), toolSays("a", "ok"), modelSays(long))
	got, edits := winnow.TruncateToolResults(in, 1000, nil)
	assert.True(t, sharesMemory(in, got), "questions, answers and arguments are not cut")
	assert.Empty(t, edits)
}

// budget cuts texts to the given number of characters of one token each.
func budget(n int, o winnow.TruncateOptions) (int, *winnow.TruncateOptions) {
	o.Estimator, o.MaxShare = winnow.EstimatorFunc(chars), 1
	return n, &o
}

func TestTruncateHeadOnly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		texts  []string
		budget int
		opts   winnow.TruncateOptions
		want   []string
		reason string
	}{
		{"no newline", []string{strings.Repeat("x", 200)}, 100, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 99) + "#"}, "the notice is part of the budget"},
		{"newline in the last fifth", []string{strings.Repeat("x", 85) + "\n" + strings.Repeat("y", 200)}, 101, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 85) + "#"}, "cut at the line end"},
		{"newline just in the last fifth", []string{strings.Repeat("x", 81) + "\n" + strings.Repeat("y", 200)}, 101, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 81) + "#"}, "more than four fifths are kept"},
		{"newline before it", []string{strings.Repeat("x", 80) + "\n" + strings.Repeat("y", 200)}, 101, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 80) + "\n" + strings.Repeat("y", 19) + "#"}, "too much would go"},
		{"newline right behind", []string{strings.Repeat("x", 100) + "\n" + strings.Repeat("y", 200)}, 101, winnow.TruncateOptions{MinKeepChars: 10, Notice: "#"}, []string{strings.Repeat("x", 100) + "#"}, "all of the line is kept"},
		{"at least so much", []string{strings.Repeat("x", 200)}, 20, winnow.TruncateOptions{MinKeepChars: 50, Notice: "#"}, []string{strings.Repeat("x", 50) + "#"}, "even above the limit"},
		{"emoji", []string{strings.Repeat("👍", 200)}, 100, winnow.TruncateOptions{MinKeepChars: 10, Notice: "…"}, []string{strings.Repeat("👍", 99) + "…"}, "no character is split"},
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

func TestTruncateNotice(t *testing.T) {
	in := resultOf(toolSays("a", numbered(400)))
	got, _ := winnow.TruncateToolResults(in, 2000, nil)
	text := fullText(got[2])
	var missing, whole int
	at := strings.Index(text, "[Tool result cut: ")
	require.Positive(t, at, "the default notice")
	_, err := fmt.Sscanf(text[at:], "[Tool result cut: %d of %d characters", &missing, &whole)
	require.NoError(t, err)
	assert.Equal(t, utf8.RuneCountInString(numbered(400)), whole)
	kept := strings.TrimSuffix(text[:at], "\n\n")
	assert.Equal(t, whole-missing, utf8.RuneCountInString(kept), "it says how much was left out")
	assert.True(t, strings.HasPrefix(numbered(400), kept))
	assert.Nil(t, got[2].Source)
	assert.Nil(t, got[2].Parts[0].Source)
}

// A result that begins with white space would have nothing else left: providers refuse that.
func TestTruncateLeavesNoBlankResult(t *testing.T) {
	in := resultOf(toolSays("a", strings.Repeat("\n", 5_000)+numbered(400)))
	for _, notice := range []string{"", " ", "\n", "\u200b"} {
		for _, headOnly := range []bool{false, true} {
			o := &winnow.TruncateOptions{MinKeepChars: 1, Notice: notice, HeadOnly: headOnly}
			got, edits := winnow.TruncateToolResults(in, 1_000, o)
			require.Len(t, edits, 1)
			assert.Contains(t, fullText(got[2]), "Tool result cut", "%q, head only %v", notice, headOnly)
		}
	}
}

func TestTruncateKeepsOtherParts(t *testing.T) {
	m := toolSays("a", numbered(400))
	m.Parts = append(list(m)[0].Parts, imagePart(), textPart("short"))
	in := resultOf(m)
	got, edits := winnow.TruncateToolResults(in, 10_000, nil)
	require.Len(t, edits, 1)
	assert.Equal(t, in[2].Parts[1:], got[2].Parts[1:], "image and short text are as they were, with their Sources")
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

func TestTruncateReadsNothingItNeedNot(t *testing.T) {
	h := transcript(2000, clean)
	got, edits := winnow.TruncateToolResults(h, 200_000, nil)
	assert.True(t, sharesMemory(h, got))
	assert.Nil(t, edits)
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { winnow.TruncateToolResults(h, 200_000, nil) }), 1.0)
}

// A limit may be shorter than the notice in a cut text. Truncating the text again still changes nothing.
func TestTruncateWithTinyLimits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("x", 600), strings.Repeat("word error line\n", 60), strings.Repeat("é ", 400) + "\nexit code 1",
	} {
		for _, o := range []winnow.TruncateOptions{{}, {Notice: "#"}, {Notice: "#", HeadOnly: true}, {Notice: strings.Repeat("n", 50)}} {
			for _, o.MaxChars = range []int{1, 5, 20, 60, 150, 300} {
				for _, o.MinKeepChars = range []int{-1, 1, 5, 20, 150} {
					one, _ := winnow.TruncateToolResults([]winnow.Message{toolSays("c", text)}, 1_000, &o)
					two, edits := winnow.TruncateToolResults(one, 1_000, &o)
					require.Empty(t, edits, "%+v: %q", o, two[0].Parts[0].Text)
				}
			}
		}
	}
}
