package jsontext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSize compares with package json, which writes <, > and & as escapes.
func TestSize(t *testing.T) {
	for _, s := range []string{
		"", "plain", "two\nlines\tand a tab\r\n", `"quoted" C:\path`, "\x1b[31mred\x1b[0m", "a < b && c > d",
		"<p>汉字 é 😀</p>", strings.Repeat("x\n", 1_000),
	} {
		want, err := json.Marshal(s)
		require.NoError(t, err)
		assert.Equal(t, len(want)-len(`""`), Size(s), "%q", s)
	}
}
