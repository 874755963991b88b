package winnow_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

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
