package overflow

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// refused is an error as SDKs make them.
type refused struct {
	Response *http.Response
	inner    error
}

func (e *refused) Error() string { return "refused" }
func (e *refused) Unwrap() error { return e.inner }

func TestRetryAfter(t *testing.T) {
	after := func(text string) error {
		return &refused{Response: &http.Response{Header: http.Header{"Retry-After": {text}}}}
	}
	loop := &refused{}
	loop.inner = fmt.Errorf("again: %w", loop)
	for _, tt := range []struct {
		err    error
		want   time.Duration
		ok     bool
		reason string
	}{
		{after("20"), 20 * time.Second, true, "seconds"},
		{after("0.5"), 500 * time.Millisecond, true, "some servers send parts of one"},
		{after(time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)), 0, true, "a date that has passed"},
		{after("-1"), 0, false, "no time at all"},
		{after(""), 0, false, "the response does not say"},
		{fmt.Errorf("call: %w", errors.Join(errors.New("first"), after("3"))), 3 * time.Second, true, "within others"},
		{errors.New("429"), 0, false, "no response"},
		{loop, 0, false, "a chain that leads back to itself ends"},
		{nil, 0, false, "no error"},
	} {
		wait, ok := RetryAfter(tt.err)
		assert.Equal(t, tt.want, wait, tt.reason)
		assert.Equal(t, tt.ok, ok, tt.reason)
	}
}
