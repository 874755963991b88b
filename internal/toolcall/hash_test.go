package toolcall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A call is told from another by its tool and its arguments; of long ones both ends and the length count.
func TestHash(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	call := func(name, arguments string) uint32 {
		return Hash(name, []byte(arguments))
	}
	seen := map[uint32]string{}
	for _, c := range [][2]string{
		{"a", ""}, {"a", "{}"}, {"a{", "}"}, {"a{}", ""}, {"b", "{}"}, {"", "a{}"}, {"a", `{"x":1}`}, {"a", `{"x":2}`},
		{"a", long}, {"a", long + "x"}, {"a", "y" + long[1:]}, {"a", long[1:] + "y"},
	} {
		h := call(c[0], c[1])
		require.NotContains(t, seen, h, "%.40q and %q", c, seen[h])
		seen[h] = c[0] + " " + c[1][:min(40, len(c[1]))]
		require.Equal(t, h, call(c[0], c[1]))
	}
}
