package overflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOfRequest: waiting does not help against a rate limit that one request exceeds.
func TestOfRequest(t *testing.T) {
	rate := Diagnosis{Class: ClassRateLimit, Rate: 10_000}
	assert.Equal(t, rate, rate.OfRequest(10_000), "the request is within the limit")
	assert.Equal(t, Diagnosis{Class: ClassOverflow, Limit: 10_000}, rate.OfRequest(10_001))
	unknown := Diagnosis{Class: ClassRateLimit}
	assert.Equal(t, unknown, unknown.OfRequest(10_001), "the provider did not name the limit")
}

func TestIsRecoverable(t *testing.T) {
	for _, d := range []Diagnosis{{Class: ClassOverflow}, {Class: ClassBytes}} {
		assert.True(t, d.IsRecoverable(), d.Class)
		d.Final = true
		assert.False(t, d.IsRecoverable(), "all that could be tried was")
	}
	assert.False(t, Diagnosis{Class: ClassRateLimit}.IsRecoverable())
}
