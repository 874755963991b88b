package breaker

import (
	"math"
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
		{Breaker{Failures: -1, Total: math.MinInt}.Within(), math.MaxInt32, false, "whatever a file says"},
	} {
		assert.Equal(t, tt.want, tt.b.IsOpen(tt.tokens, 10_000), tt.reason)
	}
	assert.Zero(t, Breaker{Total: 7}.Saved(), "without a failure nothing is worth keeping")
}
