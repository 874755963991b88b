package tokencount

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLengthTokens(t *testing.T) {
	for _, tt := range []struct {
		reason         string
		family         string
		pages, seconds int
		isVideo        bool
		want           int
	}{
		{"measured as 23 236", "claude-next", 10, 0, false, 23_300},
		{"measured as 20 979", "claude4", 10, 0, false, 21_000},
		{"measured as 5 601", "gemini", 10, 0, false, 5_600},
		{"a minute, as documented", "gemini", 0, 60, false, 1_920},
		{"a token for 100 ms", "o200k", 0, 60, false, 600},
		{"a video", "gemini", 0, 10, true, 3_000},
		{"nothing", "gemini", 0, 0, true, 0},
		{"less than nothing", "", -5, math.MinInt, false, 0},
		{"more than there is", "", math.MaxInt, math.MaxInt, true, math.MaxInt32},
	} {
		s, ok := Of(tt.family)
		require.True(t, ok)
		assert.Equal(t, tt.want, s.Length.Tokens(tt.pages, tt.seconds, tt.isVideo), tt.reason)
	}
}
