package excerpt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// byChars counts a token for each character.
func byChars(r *Result) int { return r.Chars }

// results returns results of these lengths. Each token has one character.
func results(lengths ...int) (list []Result) {
	for i, n := range lengths {
		list = append(list, Result{Index: i, Text: strings.Repeat("x", n), Tokens: n, Chars: n, Whole: n})
	}
	return list
}

func changes(list []Result) (c []Change) {
	for _, r := range list {
		c = append(c, r.Change)
	}
	return c
}

func TestApply(t *testing.T) {
	rules := Rules{
		Window: 10_000, TrimFrom: 0.3, ClearFrom: 0.5, TrimAbove: 1_000, Head: 100, Tail: 100, LeastToClear: 1_000,
		Placeholder: "[cleared]",
	}
	for _, tt := range []struct {
		name    string
		adapt   func(*Rules)
		lengths []int
		want    []Change
	}{
		{"below the share", nil, []int{2_999}, []Change{None}},
		{"at the share", nil, []int{3_000}, []Change{Trimmed}},
		{"a short one stays", nil, []int{3_000, 1_000}, []Change{Trimmed, None}},
		{"the oldest go until it is below", nil, []int{900, 900, 900, 900, 900, 900}, []Change{Cleared, None, None, None, None, None}},
		{"too little to clear", func(r *Rules) { r.LeastToClear = 10_000 }, []int{900, 900, 900, 900, 900, 900}, make([]Change, 6)},
		{"never cleared", func(r *Rules) { r.NeverClear = true }, []int{900, 900, 900, 900, 900, 900}, make([]Change, 6)},
		{"nothing between the ends", func(r *Rules) { r.Head, r.Tail = 2_000, 2_000 }, []int{3_500}, []Change{None}},
		{"no placeholder for what is shorter", nil, []int{9, 6_000}, []Change{None, Trimmed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := rules
			if tt.adapt != nil {
				tt.adapt(&rules)
			}
			list, total := results(tt.lengths...), 0
			for _, n := range tt.lengths {
				total += n
			}
			changed := rules.Apply(list, total, byChars)
			assert.Equal(t, tt.want, changes(list))
			for i := range list {
				if r := &list[i]; r.Change != None {
					changed--
					assert.Len(t, rules.Left(r), r.Chars, "the characters are known before the text is made")
					assert.NotEmpty(t, r.Reason())
				}
			}
			assert.Zero(t, changed)
		})
	}
}

// TestApplyNeedsFewerTokens: a change that saves no tokens is taken back.
func TestApplyNeedsFewerTokens(t *testing.T) {
	rules := Rules{Window: 100, TrimAbove: 1_000, Head: 10, Tail: 10, Placeholder: "[cleared]"}
	list := results(3_000)
	assert.Zero(t, rules.Apply(list, 3_000, func(*Result) int { return 3_000 }))
	assert.Equal(t, None, list[0].Change)
	assert.Equal(t, 3_000, list[0].Tokens)
}

// TestApplyTwice: what was trimmed is not trimmed again.
func TestApplyTwice(t *testing.T) {
	rules := Rules{Window: 100, TrimAbove: 100, Head: 60, Tail: 60, Placeholder: "[cleared]", NeverClear: true}
	list := results(3_000)
	assert.Equal(t, 1, rules.Apply(list, 3_000, byChars))
	again := []Result{{Text: rules.Left(&list[0]), Tokens: list[0].Chars, Chars: list[0].Chars, Whole: list[0].Chars}}
	assert.Zero(t, rules.Apply(again, list[0].Chars, byChars))
}
