package winnow

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strconv"
	"time"
)

// When a summarizer that failed is asked once more.

// retryPause is the pause before that, unless the error names one: half as long to half as long again, so that hosts
// that failed together do not come back together.
const retryPause = time.Second

// pauseAfter waits until a call that failed with err may be made once more. It reports whether that may help: not if
// the provider has to be left alone for longer than ctx lasts.
func pauseAfter(ctx context.Context, err error) bool {
	wait, isNamed := retryAfter(err)
	switch class := ClassifyError(err).Class; {
	case errors.Is(err, ErrIncomplete), errors.Is(err, context.DeadlineExceeded), class == ErrorOverflow,
		class == ErrorBytes: // it did not fail because of others
		return true
	case isNamed:
	case restsAfter(err):
		return false
	default:
		wait = retryPause/2 + rand.N(retryPause)
	}
	if until, ok := ctx.Deadline(); ok && time.Until(until) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter returns what the Retry-After of the response in an error says: the errors of most SDKs have a field with
// the response.
func retryAfter(err error) (wait time.Duration, ok bool) {
	switch e := err.(type) {
	case nil:
		return 0, false
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if wait, ok = retryAfter(one); ok {
				return wait, true
			}
		}
		return 0, false
	}
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			field := v.Field(i)
			if !field.CanInterface() {
				continue
			}
			if response, is := field.Interface().(*http.Response); is && response != nil {
				return readRetryAfter(response.Header)
			}
		}
	}
	return retryAfter(errors.Unwrap(err))
}

// readRetryAfter reads a number of seconds, or a date.
func readRetryAfter(h http.Header) (wait time.Duration, ok bool) {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(text)
	return max(0, time.Until(at)), err == nil
}
