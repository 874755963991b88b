package rewrite

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRuns(t *testing.T) {
	step := func(index, end, saving int) Part { return Part{Index: index, End: end, Saving: saving, Overdue: 2} }
	for _, tt := range []struct {
		name string
		list []Part
		want []Part
	}{
		{"none", nil, []Part{}},
		{"neighbours become one run", []Part{step(1, 3, 60), step(3, 5, 60)}, []Part{step(1, 5, 120)}},
		{"a gap divides them", []Part{step(1, 3, 100), step(4, 6, 100)}, []Part{step(1, 3, 100), step(4, 6, 100)}},
		{"what saves too little is left alone", []Part{step(1, 3, 40)}, []Part{}},
		{"a part that is edited in place stays as it is", []Part{{Index: 2, Saving: 5}, step(3, 5, 100)},
			[]Part{{Index: 2, Saving: 5}, step(3, 5, 100)}},
		{"a text of the host belongs to the work around it", []Part{step(1, 2, 80), step(2, 4, 80)}, []Part{step(1, 4, 160)}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Runs(tt.list, 100)) })
	}
}

// What was paid for two neighbours stays what it was once they are one run.
func TestRunsKeepWhatWasPaid(t *testing.T) {
	list := []Part{{Index: 1, End: 3, Saving: 300, Overdue: 9}, {Index: 3, End: 5, Saving: 100, Overdue: 1}}
	assert.Equal(t, []Part{{Index: 1, End: 5, Saving: 400, Overdue: 7}}, Runs(list, 100))
}

// What a run saves is shared out among the parts that it was made of, as they were estimated.
func TestTried(t *testing.T) {
	list := []Part{{Index: 1, Saving: 50}, {Index: 2, End: 4, Saving: 100}, {Index: 4, End: 6, Saving: 300}, {Index: 7, Saving: 9}}
	tried := Tried{}
	next := tried.Note(list, 0, &Part{Index: 1, Saving: 40})
	assert.Equal(t, 1, next)
	next = tried.Note(list, next, &Part{Index: 2, End: 6, Saving: 200})
	assert.Equal(t, 3, next)
	assert.Equal(t, Tried{1: 40, 2: 50, 4: 150}, tried)
}

// With the common prices, writing what is kept behind a part costs 1.15 a token, and carrying the part .1 a request.
func TestFrom(t *testing.T) {
	prices := Prices{Read: 0.1, Write: 1.25}
	tokens := []int{100, 1_000, 2_000}
	list := []Part{{Index: 1, Saving: 900}}
	assert.Equal(t, 1, prices.From(list, tokens, 0), "it was not carried yet")
	assert.Equal(t, 0, prices.From(list, tokens, 40), "it has cost as much as the rewrite does")
	next := prices.Next(list, tokens, 100)
	assert.Equal(t, 1, prices.From(list, tokens, next-1))
	assert.Equal(t, 0, prices.From(list, tokens, next))
	list[0].Overdue = -1000
	assert.Equal(t, 1, prices.From(list, tokens, 40), "it is needed for long")
}

func TestSearchIsDue(t *testing.T) {
	for _, tt := range []struct {
		search  Search
		answers int
		want    bool
		reason  string
	}{
		{Search{}, 0, true, "never before"},
		{Search{}, 9, true, "never before"},
		{Search{At: 5, Next: 9}, 5, false, "nothing happened"},
		{Search{At: 5, Next: 9}, 8, false, "not yet"},
		{Search{At: 5, Next: 9}, 9, true, "due"},
		{Search{At: 5, Next: 9}, 20, true, "overdue"},
		{Search{At: 5, Next: 9}, 4, true, "the history was rewound"},
	} {
		assert.Equal(t, tt.want, tt.search.IsDue(tt.answers), "%+v at %d: %s", tt.search, tt.answers, tt.reason)
	}
}
