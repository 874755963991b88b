package workfiles

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/toolcall"
)

func TestHolds(t *testing.T) {
	reads, edits := []Use{{1, false}}, []Use{{1, true}}
	rest := func(n int) [][]Use { return make([][]Use, n) }
	join := func(parts ...[][]Use) (all [][]Use) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, tt := range []struct {
		requests [][]Use // the newest first
		work     Work
		held     []int
		reason   string
	}{
		{[][]Use{reads, reads, reads}, Work{}, []int{0, 1}, "the newest two reads"},
		{[][]Use{edits, reads, edits, reads, edits, reads}, Work{}, []int{0, 1, 3},
			"what was written since the newest read, and the reads"},
		{join(rest(29), [][]Use{reads}), Work{}, []int{29}, "read thirty requests ago"},
		{join(rest(30), [][]Use{reads}), Work{}, nil, "read longer ago than that"},
		{join(rest(15), [][]Use{reads}), Work{Uncached: true}, nil, "half of that without a cache"},
		{join(rest(19), [][]Use{reads}), Work{OnlyLooks: true}, []int{19}, "nothing was changed yet"},
		{join(rest(20), [][]Use{reads}), Work{OnlyLooks: true}, nil, "the agent only looks"},
		{join(rest(9), [][]Use{reads}), Work{IsEarlier: true}, []int{9}, "read at the end of the turn before"},
		{join(rest(10), [][]Use{reads}), Work{IsEarlier: true}, nil, "read longer ago than that"},
		{[][]Use{edits, reads}, Work{IsEarlier: true}, nil, "what was changed in the turn before is done"},
		{join(rest(3), [][]Use{edits, reads}), Work{}, nil, "after an edit the work moves on soon"},
		{join(rest(2), [][]Use{edits, reads}), Work{}, []int{2, 3}, "not yet"},
		{[][]Use{{{1, false}, {2, false}}, {{2, false}}, {{2, false}, {3, false}}}, Work{}, []int{0, 1, 2}, "one of several files is enough"},
	} {
		w := tt.work
		var held []int
		for i, files := range tt.requests {
			w.Back()
			if w.Holds(files) {
				held = append(held, i)
			}
		}
		assert.Equal(t, tt.held, held, tt.reason)
	}
}

func TestOf(t *testing.T) {
	whole := Of(&toolcall.Common, "read", []byte(`{"path":"/srv/app/main.go"}`))
	assert.Len(t, whole, 1)
	assert.Equal(t, whole, Of(&toolcall.Common, "read", []byte(`{"path":"app\\main.go"}`)), "by the end of its path")
	assert.NotEqual(t, whole, Of(&toolcall.Common, "edit", []byte(`{"path":"main.go"}`)), "it is changed")
}
