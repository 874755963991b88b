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
			p.Name(&Given{})
			for s := range p.Calls {
				assert.Equal(t, tt.want[s], p.Calls[s].Result)
				assert.Equal(t, tt.sent[s], p.SentID(int32(s)))
			}
		})
	}
}

// What a call was named stays its name when the transcript grows, or loses its beginning.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given Given
		ids   string // of calls, one in each message
		want  string
	}{
		{"an id that is valid and unique is never touched", Given{}, "a a a_2 b", "a a_3 a_2 b"},
		{"nothing is used again", Given{}, "a b", "a b"},
		{"behind a summary", Given{Names: map[string][]string{"a": {"a_5", "a_6"}}}, "a a b a a", "a_5 a_6 b a a_7"},
		{"the host goes on with the names", Given{Names: map[string][]string{"a": {"a_5", "a_6"}}}, "a_5 a_6 a a", "a_5 a_6 a a_2"},
		{"the beginning is whole", Given{From: 2, Names: map[string][]string{"a": {"a_3", "a_4"}}, Count: true}, "a a a a a b", "a a_2 a_3 a_4 a_5 b"},
		{"of the beginning, the end is there", Given{From: 1, Names: map[string][]string{"a": {"a_3", "a_4"}}, Count: true}, "a a a a b", "a a_3 a_4 a_5 b"},
		{"nothing is left of the beginning", Given{Names: map[string][]string{"a": {"a_3"}}, Count: true}, "a a", "a_3 a_4"},
		{"the beginning has a name that is kept for another", Given{From: 2, Names: map[string][]string{"a": {"a_2"}}, Count: true}, "a a a", "a a_3 a_2"},
		{"a number without end", Given{Names: map[string][]string{"a": {"a_9223372036854775807"}}}, "a a a", "a_9223372036854775807 a a_2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p Pairs
			for i, id := range strings.Fields(tt.ids) {
				p.Add(Call{ID: id, Message: int32(i)})
			}
			p.Match()
			p.Name(&tt.given)
			var sent []string
			for s := range p.Calls {
				sent = append(sent, p.SentID(int32(s)))
			}
			assert.Equal(t, tt.want, strings.Join(sent, " "))
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
