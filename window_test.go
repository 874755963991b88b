package winnow_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestResolveWindow(t *testing.T) {
	for _, tt := range []struct {
		config winnow.WindowConfig
		tokens int
		source string
		reason string
	}{
		{winnow.WindowConfig{}, 200_000, "default", "nothing is known"},
		{winnow.WindowConfig{Default: 8_000}, 8_000, "default", "the host's own default"},
		{winnow.WindowConfig{Model: 128_000, Default: 8_000}, 128_000, "model", "the model's metadata is better than a default"},
		{winnow.WindowConfig{Configured: 64_000, Model: 128_000}, 64_000, "configured", "the configuration wins"},
		{winnow.WindowConfig{Configured: 1_000_000, Model: 128_000}, 1_000_000, "configured", "even where it says more"},
		{winnow.WindowConfig{Model: 128_000, Cap: 100_000}, 100_000, "cap", "the cap is smaller"},
		{winnow.WindowConfig{Model: 128_000, Cap: 128_000}, 128_000, "model", "a cap that changes nothing is not the source"},
		{winnow.WindowConfig{Model: 128_000, Cap: 150_000}, 128_000, "model", "a cap never makes it larger"},
		{winnow.WindowConfig{Cap: 50_000}, 50_000, "cap", "it holds for the default too"},
		{winnow.WindowConfig{Configured: -1, Model: -1, Cap: -1, Default: -1}, 200_000, "default", "negative numbers mean not set"},
	} {
		tokens, source := winnow.ResolveWindow(tt.config)
		assert.Equal(t, tt.tokens, tokens, "%+v: %s", tt.config, tt.reason)
		assert.Equal(t, tt.source, source, "%+v: %s", tt.config, tt.reason)
	}
}

func TestCheckWindow(t *testing.T) {
	for _, tt := range []struct {
		tokens int
		want   winnow.WindowStatus
		reason string
	}{
		{math.MinInt, winnow.WindowOK, "an unknown window causes no warning"},
		{0, winnow.WindowOK, "an unknown window causes no warning"},
		{1, winnow.WindowBlock, "the smallest window that is known"},
		{15_999, winnow.WindowBlock, "just too small"},
		{16_000, winnow.WindowWarn, "just large enough to work"},
		{31_999, winnow.WindowWarn, "little history"},
		{32_000, winnow.WindowOK, "just large enough"},
		{math.MaxInt, winnow.WindowOK, "no upper end"},
	} {
		assert.Equal(t, tt.want, winnow.CheckWindow(tt.tokens), "%d: %s", tt.tokens, tt.reason)
	}
}
