package tokencount

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestImageTokens(t *testing.T) {
	for _, tt := range []struct {
		name          string
		width, height int
		want          [5]int // by area, by area of Claude 5, by tiles, by crops, by patches
		source        string
	}{
		{"not known", 0, 0, [5]int{1_200, 1_200, 1_200, 1_200, 1_200}, "the reference's count"},
		{"an icon", 64, 64, [5]int{6, 6, 255, 258, 9}, "one tile, and one crop, at least"},
		{"200 × 200", 200, 200, [5]int{54, 54, 255, 258, 64}, "Anthropic's table says about 54"},
		{"1 000 × 1 000", 1_000, 1_000, [5]int{1_334, 1_334, 765, 1_032, 1_280}, "Anthropic's table says about 1 334; OpenAI's 765 of 1 024 × 1 024"},
		{"1 092 × 1 092", 1_092, 1_092, [5]int{1_590, 1_590, 765, 1_032, 1_280}, "Anthropic's table says about 1 590"},
		{"2 048 × 4 096", 2_048, 4_096, [5]int{1_600, 4_424, 1_105, 258 * 16, 1_280}, "OpenAI's example: 1 105"},
		{"a screenshot", 1_920, 1_080, [5]int{1_600, 2_765, 1_105, 258 * 6, 1_280}, "Gemini has crops of 720 pixels: three by two"},
		{"960 × 540", 960, 540, [5]int{692, 692, 765, 258 * 6, 700}, "Gemini's example: six crops of 360 pixels"},
		{"a row of pixels", 1 << 24, 1, [5]int{1, 1, 765, 258 * 16, 1_280}, "nothing overflows"},
		{"too large for any number", math.MaxInt, math.MaxInt, [5]int{1_600, 4_784, 765, 258 * 16, 1_280}, "nothing overflows"},
	} {
		for rule, want := range tt.want {
			assert.Equal(t, want, Images(rule).Tokens(tt.width, tt.height), "%s, rule %d: %s", tt.name, rule, tt.source)
		}
	}
}
