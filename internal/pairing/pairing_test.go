package pairing

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name    string
		calls   []Call
		results []Result
		want    []int32 // the result of each call
		sent    []string
	}{
		{"in order", []Call{{ID: "a", Message: 0}, {ID: "b", Message: 0}}, []Result{{CallID: "a", Message: 1}, {CallID: "b", Message: 2}}, []int32{0, 1}, []string{"a", "b"}},
		{"swapped", []Call{{ID: "a", Message: 0}, {ID: "b", Message: 0}}, []Result{{CallID: "b", Message: 1}, {CallID: "a", Message: 2}}, []int32{1, 0}, []string{"a", "b"}},
		{"an id again", []Call{{ID: "a", Message: 0}, {ID: "a", Message: 2}}, []Result{{CallID: "a", Message: 1}, {CallID: "a", Message: 3, Answers: 2}}, []int32{0, 1}, []string{"a", "a_2"}},
		{"one id twice, by the tool", []Call{{ID: "a", Name: "read"}, {ID: "a", Name: "write"}}, []Result{{CallID: "a", Tool: "write", Message: 1}, {CallID: "a", Tool: "read", Message: 2}}, []int32{1, 0}, []string{"a", "a_2"}},
		{"without ids, by the tool", []Call{{Name: "read"}, {Name: "write"}}, []Result{{Tool: "write", Message: 1}, {Message: 2}}, []int32{1, 0}, []string{"call_1", "call_2"}},
		{"late", []Call{{ID: "a", Message: 0}, {ID: "b", Message: 1}}, []Result{{CallID: "b", Message: 2, Answers: 1}, {CallID: "a", Message: 3, Answers: 1}}, []int32{1, 0}, []string{"a", "b"}},
		{"the real one behind a stand-in", []Call{{ID: "a"}}, []Result{{CallID: "a", Message: 1, StandIn: true}, {CallID: "a", Message: 2}}, []int32{1}, []string{"a"}},
		{"none", []Call{{ID: "a"}}, nil, []int32{-1}, []string{"a"}},
		{"before its call", []Call{{ID: "a", Message: 1}}, []Result{{CallID: "a", Message: 0, Answers: -1}}, []int32{-1}, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p Pairs
			for _, c := range tt.calls {
				p.Add(c)
			}
			for _, r := range tt.results {
				p.AddResult(r)
			}
			p.Match()
			p.Name()
			for s := range p.Calls {
				assert.Equal(t, tt.want[s], p.Calls[s].Result)
				assert.Equal(t, tt.sent[s], p.SentID(int32(s)))
			}
		})
	}
}

// The numbers of ids that share what is left of them are found without trying each again.
func TestNextIDTriesNoNumberTwice(t *testing.T) {
	const n = 3_000
	tries := 0
	used, serial := map[string]bool{}, map[string]int{}
	for i := range n {
		used[nextID(strings.Repeat("x", maxIDLength)+strconv.Itoa(i), serial, func(id string) bool { tries++; return !used[id] })] = true
	}
	assert.Len(t, used, n)
	assert.LessOrEqual(t, tries, n+n/10)
}
