package adapter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCallIDs(t *testing.T) {
	strict := IDRule{MaxLength: 64, Byte: Letters, Request: true}
	lax := IDRule{MaxLength: 40}
	long := strings.Repeat("x", 65)
	for _, tt := range []struct {
		name   string
		rule   IDRule
		turns  [][2][]string // calls and results
		want   []string      // the ids of all, in that order
		reason string
	}{
		{"valid", strict, [][2][]string{{{"a", "b"}, {"a", "b"}}, {{"c"}, {"c"}}}, []string{"a", "b", "a", "b", "c", "c"}, "never touched"},
		{"any order", strict, [][2][]string{{{"a", "b"}, {"b", "a"}}}, []string{"a", "b", "b", "a"}, "results need not come in call order"},
		{"characters", strict, [][2][]string{{{"a:0"}, {"a:0"}}}, []string{HashID("a:0"), HashID("a:0")}, "call and result alike"},
		{"length", strict, [][2][]string{{{long}, {long}}}, []string{HashID(long), HashID(long)}, "hashed, not cut: ids may differ at the end only"},
		{"other characters", lax, [][2][]string{{{"a:0"}, {"a:0"}}}, []string{"a:0", "a:0"}, "accepted there"},
		{"reused", strict, [][2][]string{{{"a"}, {"a"}}, {{"a"}, {"a"}}}, []string{"a", "a", HashID("a\x002"), HashID("a\x002")}, "the first use keeps it"},
		{"reused where it may be", lax, [][2][]string{{{"a"}, {"a"}}, {{"a"}, {"a"}}}, []string{"a", "a", "a", "a"}, "unique in a message is enough"},
		{"twice in a message", lax, [][2][]string{{{"a", "a"}, {"a", "a"}}}, []string{"a", HashID("a\x002"), "a", HashID("a\x002")}, "paired in order"},
		{"empty", strict, [][2][]string{{{"", ""}, {"", ""}}}, []string{HashID("\x00empty 1"), HashID("\x00empty 2"), HashID("\x00empty 1"), HashID("\x00empty 2")}, "paired in order"},
		{"orphan", strict, [][2][]string{{{"a"}, {"b", "c:1", "a", "a"}}}, []string{"a", "b", HashID("c:1"), "a", "a"}, "nothing is known of its call"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ids := CallIDs{Rule: tt.rule}
			var got []string
			for _, turn := range tt.turns {
				ids.Message()
				for _, id := range turn[0] {
					got = append(got, ids.Call(id))
				}
				for _, id := range turn[1] {
					sent, _ := ids.Result(id)
					got = append(got, sent)
				}
			}
			assert.Equal(t, tt.want, got, tt.reason)
		})
	}
}

// TestManyCalls has more calls in a message than are looked through one by one.
func TestManyCalls(t *testing.T) {
	for _, rule := range []IDRule{{MaxLength: 64, Byte: Letters, Request: true}, {MaxLength: 40}} {
		ids := CallIDs{Rule: rule}
		for turn := range 3 {
			ids.Message()
			sent := map[string]bool{}
			var order []string
			for n := range 100 {
				id := ids.Call(fmt.Sprintf("call_%d", n%50))
				assert.False(t, sent[id], "turn %d: %s", turn, id)
				sent[id] = true
				order = append(order, id)
			}
			for n := range 100 {
				id, call := ids.Result(fmt.Sprintf("call_%d", 49-n%50))
				want := n/50*50 + 49 - n%50
				assert.Equal(t, want, call)
				assert.Equal(t, order[want], id)
			}
			_, call := ids.Result("call_1")
			assert.Equal(t, -1, call, "all are answered")
		}
	}
}

// TestCallIDsAreUnique has ids that would collide if they were cut or cleaned.
func TestCallIDsAreUnique(t *testing.T) {
	ids := CallIDs{Rule: IDRule{MaxLength: 40, Byte: Letters, Request: true}}
	seen := map[string]bool{}
	ids.Message()
	for n := range 3_000 {
		id := ids.Call(strings.Repeat("x", 50) + fmt.Sprint(n%1000) + []string{":", "/", "."}[n%3])
		assert.False(t, seen[id], id)
		assert.True(t, ids.Rule.accepts(id), id)
		seen[id] = true
	}
}
