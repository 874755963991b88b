package resting

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOrder(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := New(3)
	assert.Equal(t, []int{0, 1, 2}, l.Order(now), "nobody rests")
	l.Rest(1, now.Add(time.Minute))
	assert.Equal(t, []int{0, 2}, l.Order(now), "one rests")
	assert.Equal(t, []int{0, 1, 2}, l.Order(now.Add(time.Minute)), "its rest is over")
	l.Rest(0, now.Add(time.Hour))
	l.Rest(2, now.Add(time.Second))
	assert.Equal(t, []int{2}, l.Order(now), "all rest: the one that is free soonest")
	l.Rest(1, time.Time{})
	assert.Equal(t, []int{1}, l.Order(now), "it has answered")
	assert.Empty(t, New(0).Order(now))
}
