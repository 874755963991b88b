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
