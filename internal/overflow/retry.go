package overflow

import (
	"net/http"
	"reflect"
	"strconv"
	"time"
)

// RetryAfter returns what the Retry-After of the response in an error says, if it has one: the errors of most SDKs have
// a field with the response.
func RetryAfter(err error) (wait time.Duration, ok bool) {
	walk(err, func(node error) {
		v := reflect.Indirect(reflect.ValueOf(node))
		if ok || v.Kind() != reflect.Struct {
			return
		}
		for i := range min(v.NumField(), maxErrorFields) {
			if field := v.Field(i); field.CanInterface() {
				if response, is := field.Interface().(*http.Response); is && response != nil {
					wait, ok = readRetryAfter(response.Header.Get("Retry-After"))
				}
			}
		}
	})
	return wait, ok
}

// readRetryAfter reads a number of seconds, or a date.
func readRetryAfter(text string) (wait time.Duration, ok bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(text)
	return max(0, time.Until(at)), err == nil
}
