package toolcall

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHolds(t *testing.T) {
	reads, edits := WorkFiles{{1, false}}, WorkFiles{{1, true}}
	rest := func(n int) []WorkFiles { return make([]WorkFiles, n) }
	join := func(parts ...[]WorkFiles) (all []WorkFiles) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, tt := range []struct {
		requests []WorkFiles // the newest first
		work     Work
		held     []int
		reason   string
	}{
		{[]WorkFiles{reads, reads, reads}, Work{}, []int{0, 1}, "the newest two reads"},
		{[]WorkFiles{edits, reads, edits, reads, edits, reads}, Work{}, []int{0, 1, 3},
			"what was written since the newest read, and the reads"},
		{join(rest(49), []WorkFiles{reads}), Work{}, []int{49}, "read fifty requests ago"},
		{join(rest(50), []WorkFiles{reads}), Work{}, nil, "read longer ago than that"},
		{join(rest(15), []WorkFiles{reads}), Work{Uncached: true}, nil, "for less long without a cache"},
		{join(rest(5), []WorkFiles{edits, reads}), Work{}, nil, "after an edit the work moves on soon"},
		{join(rest(4), []WorkFiles{edits, reads}), Work{}, []int{4, 5}, "not yet"},
		{[]WorkFiles{{{1, false}, {2, false}}, {{2, false}}, {{2, false}, {3, false}}}, Work{}, []int{0, 1, 2}, "one of several files is enough"},
	} {
		w := tt.work
		var held []int
		for i, files := range tt.requests {
			w.Back()
			if w.Holds(files, false) {
				held = append(held, i)
			}
		}
		assert.Equal(t, tt.held, held, tt.reason)
	}
}

// A short result is not the text of a file: it does not count as a read that is held.
func TestHoldsBehindAShortResult(t *testing.T) {
	reads := WorkFiles{{1, false}}
	var w Work
	var held []int
	for i, isShort := range []bool{true, false, true, true, false, false} {
		w.Back()
		if w.Holds(reads, isShort) {
			held = append(held, i)
		}
	}
	assert.Equal(t, []int{0, 1, 2, 3, 4}, held, "two whole ones, and the short ones before the second of them")
}

// A short result points at the newest whole one before it, and at no other.
func TestPointedAt(t *testing.T) {
	reads, edits, other := WorkFiles{{1, false}}, WorkFiles{{1, true}}, WorkFiles{{2, false}}
	type call struct {
		files   WorkFiles
		isShort bool
	}
	for _, tt := range []struct {
		calls  []call // the newest first
		want   []int
		reason string
	}{
		{[]call{{reads, true}, {reads, false}, {reads, false}}, []int{1}, "the newest whole one"},
		{[]call{{reads, true}, {reads, true}, {reads, false}}, []int{2}, "two short ones point at the same"},
		{[]call{{reads, true}, {other, false}, {edits, false}, {reads, false}}, []int{3}, "another file, or an edit, is not it"},
		{[]call{{reads, false}, {reads, false}}, nil, "nothing points"},
		{[]call{{reads, false}, {reads, true}, {reads, false}}, []int{2}, "a short one between whole ones points back"},
	} {
		var w Work
		var got []int
		for i, c := range tt.calls {
			w.Back()
			if w.PointedAt(c.files, c.isShort) {
				got = append(got, i)
			}
		}
		assert.Equal(t, tt.want, got, tt.reason)
	}
}

func TestWorkFiles(t *testing.T) {
	whole := Common.WorkFiles("read", []byte(`{"path":"/srv/app/main.go"}`))
	assert.Len(t, whole, 1)
	assert.Equal(t, whole, Common.WorkFiles("read", []byte(`{"path":"app\\main.go"}`)), "by the end of its path")
	assert.NotEqual(t, whole, Common.WorkFiles("edit", []byte(`{"path":"main.go"}`)), "it is changed")
}
