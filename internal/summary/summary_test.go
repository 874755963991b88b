package summary

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIn(t *testing.T) {
	for budget, want := range map[int]int{0: 300, 1_000: 300, 8_000: 1_000, 100_000: 12_500, 1_000_000: 24_000} {
		assert.Equal(t, want, In(budget), "budget %d", budget)
	}
}

func TestBeside(t *testing.T) {
	for _, tt := range []struct {
		needed, budget, room, whole, least int
		want                               int
		reason                             string
	}{
		{1_000, 8_000, 7_000, 8_000, Least, 1_000, "there is room enough"},
		{6_000, 8_000, 7_000, 8_000, Least, 500, "half of what is left"},
		{6_600, 8_000, 7_000, 8_000, Least, 300, "a short summary before half of the rest"},
		{7_100, 8_000, 7_000, 8_000, Least, 300, "only the margin has no room"},
		{7_800, 8_000, 7_000, 8_000, Least, 200, "all that is left"},
		{7_960, 8_000, 7_000, 8_000, Least, 300, "too little for a summary that says something"},
		{7_960, 8_000, 7_000, 8_000, LeastWords, 40, "a few words of a digest"},
		{9_000, 8_000, 7_000, 8_000, LeastWords, 300, "what stays does not fit by itself"},
	} {
		assert.Equal(t, tt.want, Beside(tt.needed, tt.budget, tt.room, tt.whole, tt.least), tt.reason)
	}
}

func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		replaced      Replaced
		isAsked       bool
		limit, filled int
		ok            bool
		reason        string
	}{
		{Replaced{Sent: 20_000, History: 20_000}, false, 1_000, 1_000, true, "a long history"},
		{Replaced{Sent: 1_000, History: 1_000}, false, 860, 860, true, "less than what it stands for"},
		{Replaced{Sent: 250, History: 250}, false, 1_000, 1_000, false, "nothing is gained"},
		{Replaced{Sent: 250, History: 250}, true, 1_000, 1_000, true, "the host asked for it"},
		{Replaced{Sent: 250, History: 900}, true, 770, 770, true, "then the history counts"},
		{Replaced{Sent: 250, History: 250, Digested: 20_000}, false, 1_000, 1_000, true, "a digest stood for more"},
		{Replaced{Sent: 600, History: 600, Earlier: 500}, false, 1_000, 550, true, "the room of the earlier summary"},
	} {
		limit, filled, ok := tt.replaced.Limit(1_000, 40, 20, LeastGain, tt.isAsked)
		assert.Equal(t, []any{tt.limit, tt.filled, tt.ok}, []any{limit, filled, ok}, tt.reason)
	}
	limit, filled, ok := Replaced{Sent: 100, History: 100}.Limit(1_000, 40, 20, LeastWords, false)
	assert.Equal(t, []any{50, 50, true}, []any{limit, filled, ok}, "a digest may gain little")
	assert.Equal(t, 100, Replaced{Sent: 600, Earlier: 500}.News())
}

func TestText(t *testing.T) {
	assert.Equal(t, 500, Sections(1_000))
	for _, tt := range []struct{ sections, most, asked int }{
		{0, 1_000, 600}, {300, 700, 500}, {500, 500, 400}, {5_000, 500, 400},
	} {
		most, asked := Text(1_000, tt.sections)
		assert.Equal(t, []int{tt.most, tt.asked}, []int{most, asked}, "sections of %d tokens", tt.sections)
	}
}
