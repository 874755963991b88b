package winnow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Where the host wants all that fits, a request that no longer fits goes down to half of the room, the oldest first,
// and not further.
func TestAllThatFitsStays(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     winnow.Options
		lines int
	}{
		{"warm", winnow.Options{}, 80},
		{"with a summarizer", winnow.Options{Summarizer: says("## Goal\nto go on")}, 80},
		{"small results", winnow.Options{}, 10},
		{"no cache", winnow.Options{Cache: &winnow.CacheOptions{None: true}}, 80},
		{"recall", winnow.Options{Recall: true}, 80},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.o
			o.FoldAbove, o.Now = 1, newClock().Now
			m := newManager(t, 60_000, &o)
			h := list(userSays("Look through the files."))
			before := prepare(t, m, h)
			for i, epochs := 0, 0; epochs < 3; i++ {
				id := "call_" + itoa(i)
				h = named(append(h, modelCalls(id), toolSays(id, "file "+itoa(i)+"\n"+numbered(tt.lines))))
				r := prepare(t, m, h)
				require.Nil(t, r.Compaction)
				if r.Tokens > before.Tokens {
					require.Equal(t, len(before.Messages), r.FirstChanged, "nothing is rewritten as long as all fits")
				} else {
					epochs++
					require.Greater(t, before.Tokens, r.Budget*19/20)
					require.Greater(t, r.Tokens, r.Budget/3)
					require.Less(t, r.Tokens, r.Budget*3/4, "the next requests fit too")
					require.True(t, holds(r, &h[len(h)-5]), "the newest steps stay")
				}
				before = r
			}
		})
	}
}
