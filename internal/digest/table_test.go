package digest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A text in which thousands of others are looked for is not read for each of them.
func TestSearched(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "src/file_%d.go ", i)
	}
	s := searched{text: b.String()}
	for i := range 2_000 {
		require.True(t, s.contains(fmt.Sprintf("file_%d.go", i*20)))
		require.False(t, s.contains(fmt.Sprintf("file_%d.c", i)))
	}
	assert.NotNil(t, s.index)
	assert.LessOrEqual(t, s.read, searchedWithoutIndex+len(s.text))
	short := searched{text: "src/a.go"}
	assert.True(t, short.contains("a.go"))
	assert.Nil(t, short.index, "for a few there is none")
}

// What is known without reading the text is what a reader finds.
func TestSearchedSaysWhatTheTextHolds(t *testing.T) {
	texts := []string{"", "ab", "abcd", "src/pkg/a.go:12 says ENOENT, see src/pkg/b.go", strings.Repeat("日本語 x ", 40)}
	found := 0
	for _, text := range texts {
		s := searched{text: text}
		for _, other := range texts {
			for from := range other {
				for to := from + 1; to <= min(len(other), from+12); to++ {
					want := strings.Contains(text, other[from:to])
					require.Equal(t, want, s.contains(other[from:to]), "%q in %q", other[from:to], text)
					if want {
						found++
					}
				}
			}
		}
	}
	assert.Greater(t, found, 500)
}
