package digest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/tokencount"
)

// newestOfAll is newestFirst, with a look at all items.
func newestOfAll(items []string, room, full int) (out []string) {
	items = unique(items)
	for i := len(items) - 1; i >= 0 && room > 12; i-- {
		most := 30
		if age := len(items) - 1 - i; age < full {
			most = max(30, room/(min(full, len(items))-age+1)*2)
		}
		if s := tokencount.Clip(items[i], min(most, room-2)); s != "" {
			room -= tokencount.Cautious(s) + 2
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// What a digest says of failures is the same whether only the newest texts are read or all.
func TestNewestFailures(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	read, all := 0, 0
	for range 2_000 {
		var notes []string
		for k := range r.IntN(200) {
			f := failure{tool: "exec", text: fmt.Sprintf("line\nerror: %d\n", r.IntN(1+k))}
			switch r.IntN(5) {
			case 0:
				f.file = "a.go"
			case 1:
				f.text = strings.Repeat("失败 ", r.IntN(400))
			case 2:
				f.text = []string{"", "\n", "no", "\x1b\x00\xff"}[r.IntN(4)]
			}
			notes = append(notes, f.note())
		}
		all += len(notes)
		room, full := r.IntN(300), r.IntN(10)
		note := func(i int) string { read++; return notes[i] }
		require.Equal(t, newestOfAll(notes, room, full), newestOf(len(notes), note, room, full))
	}
	require.Less(t, read, all/2, "notes")
}
