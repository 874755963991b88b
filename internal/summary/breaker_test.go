package summary

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsOpen(t *testing.T) {
	for _, tt := range []struct {
		b      Breaker
		tokens int
		want   bool
		reason string
	}{
		{Breaker{}, 5_000, false, "nothing failed"},
		{Breaker{Failures: 1, Total: 5_000}, 5_000, false, "one failure proves little"},
		{Breaker{Failures: 2, Total: 5_000}, 5_000, true, "nothing has come since"},
		{Breaker{Failures: 2, Total: 5_000}, 5_999, true, "less than a tenth of the budget"},
		{Breaker{Failures: 2, Total: 5_000}, 6_000, false, "a tenth: it is asked once more"},
		{Breaker{Failures: 3, Refused: 2, Total: 5_000}, 6_000, false, "two answers were refused: as after errors"},
		{Breaker{Failures: 4, Refused: 4, Total: 5_000}, 8_999, true, "two more: it has to grow four times as much"},
		{Breaker{Failures: 4, Refused: 4, Total: 5_000}, 9_000, false, "and it has"},
		{Breaker{Failures: 99, Refused: 99, Total: 5_000}, 21_000, false, "it is never given up"},
	} {
		assert.Equal(t, tt.want, tt.b.IsOpen(tt.tokens, 10_000), tt.reason)
	}
	assert.Zero(t, Breaker{Total: 7}.Saved(), "without a failure nothing is worth keeping")
	assert.Equal(t, Breaker{Reason: "no gain"}, Breaker{Total: 7, Reason: "no gain"}.Saved(), "a recovery counts none")
}

func TestRestarted(t *testing.T) {
	b := Breaker{Failures: 6, Refused: 6, Total: 5_000}
	b.Restarted(7_000)
	assert.True(t, b.IsOpen(7_999, 10_000), "less than a tenth of the budget since the restart")
	assert.False(t, b.IsOpen(8_000, 10_000), "a tenth: the summarizer may be another one now")
	b.Digested(4_000)
	assert.True(t, b.IsOpen(3_999, 10_000), "a digest made the history smaller")
	assert.False(t, b.IsOpen(4_000, 10_000), "and what had come since the restart still counts")
	b = Breaker{Failures: 6, Total: 5_000}
	b.Restarted(5_500)
	assert.False(t, b.IsOpen(6_000, 10_000), "nothing was refused: a tenth since the failure is enough")
}
