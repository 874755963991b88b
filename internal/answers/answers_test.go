package answers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/chunks"
)

func TestTheOldestAnswersGo(t *testing.T) {
	c := New()
	assert.True(t, c.IsEmpty())
	assert.True(t, (*Cache)(nil).IsEmpty())
	text := strings.Repeat("x", mostBytes/4)
	for key := range Key(6) {
		c.Put(key, text)
	}
	c.Put(5, "another one") // the first stays
	for key := range Key(6) {
		got, ok := c.Get(key)
		assert.Equal(t, key >= 2, ok, "answer %d", key)
		assert.True(t, !ok || got == text)
	}
	c.Put(7, strings.Repeat("y", 2*mostBytes))
	_, ok := c.Get(7)
	assert.True(t, ok, "the newest stays, whatever its size")
	assert.False(t, c.IsEmpty())
}

func TestSameRoom(t *testing.T) {
	c := New()
	assert.Equal(t, 500, c.SameRoom(500, 1_000))
	assert.Equal(t, 500, c.SameRoom(700, 1_000), "the first")
	assert.Equal(t, 300, c.SameRoom(300, 400), "there is no longer so much")
	assert.Equal(t, 300, c.SameRoom(600, 1_000), "what it answered is worth another use")
	assert.Equal(t, 700, c.SameRoom(700, 1_000), "what was said where there was hardly any room says too little")
}

func TestSameExcerpts(t *testing.T) {
	c := New()
	for _, tt := range []struct {
		try, want [2]int
		why       string
	}{
		{[2]int{450, 500}, [2]int{450, 500}, "the first"},
		{[2]int{400, 500}, [2]int{400, 500}, "the first got no answer, so there is no call to repeat"},
		{[2]int{150, 300}, [2]int{400, 500}, "the one that was answered"},
	} {
		older, prefix := c.SameExcerpts(tt.try[0], tt.try[1])
		assert.Equal(t, tt.want, [2]int{older, prefix}, tt.why)
		if tt.try[0] == 400 {
			c.Put(1, "an answer")
		}
	}
}

func TestPlans(t *testing.T) {
	c := New()
	for key := range Key(mostPlans + 1) {
		c.PutPlan(key, chunks.Plan{Limit: int(key)})
	}
	p, ok := c.Plan(mostPlans - 1)
	assert.True(t, ok)
	assert.Equal(t, mostPlans-1, p.Limit)
	_, ok = c.Plan(mostPlans)
	assert.False(t, ok, "there are enough")
}
