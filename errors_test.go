package winnow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/overflow"
)

func TestErrorMatcherWins(t *testing.T) {
	mine := ErrorInfo{ErrorOverflow, 7, 6}
	matcher := ErrorMatcher(func(err error) (ErrorInfo, bool) {
		if strings.Contains(err.Error(), "panic") {
			panic("a user's bug")
		}
		return mine, strings.Contains(err.Error(), "house rule")
	})
	for _, c := range []struct {
		err     error
		matcher ErrorMatcher
		want    ErrorInfo
	}{
		{errors.New("house rule 5"), matcher, mine},
		{fmt.Errorf("house rule: %w", context.Canceled), matcher, mine}, // before everything else
		{errors.New("prompt is too long"), matcher, ErrorInfo{Class: ErrorOverflow}},
		{errors.New("panic: prompt is too long"), matcher, ErrorInfo{Class: ErrorOverflow}},
		{errors.New("prompt is too long"), nil, ErrorInfo{Class: ErrorOverflow}},
		{nil, matcher, ErrorInfo{}},
	} {
		assert.Equal(t, c.want, infoOf(diagnose(c.err, c.matcher)), "%v", c.err)
	}
}

// TestClassifyErrorOwn: the numbers of an error of this package are estimates; what the provider said is what it wraps.
func TestClassifyErrorOwn(t *testing.T) {
	tooLong := errors.New("prompt is too long: 250000 tokens > 200000 maximum")
	for _, c := range []struct {
		why  string
		err  error
		want ErrorInfo
	}{
		{"nothing", nil, ErrorInfo{}},
		{"alone", &OverflowError{Tokens: 5, Budget: 4}, ErrorInfo{Class: ErrorOverflow}},
		{"what it is", fmt.Errorf("x: %w", ErrOverflow), ErrorInfo{Class: ErrorOverflow}},
		{"around the provider's", fmt.Errorf("x: %w", &OverflowError{Tokens: 5, Budget: 4, Err: tooLong}), ErrorInfo{ErrorOverflow, 250000, 200000}},
		{"around another", &OverflowError{Err: errors.New("401 invalid API key")}, ErrorInfo{Class: ErrorAuth}},
	} {
		assert.Equal(t, c.want, ClassifyError(c.err), c.why)
	}
	assert.False(t, diagnose(&OverflowError{Err: tooLong}, nil).IsRecoverable(), "a run that gave up is begun again")
	assert.True(t, diagnose(fmt.Errorf("the answer says so: %w", ErrOverflow), nil).IsRecoverable(), "of an answer: a smaller request helps")
}

// TestErrorClasses: a class is one word in both packages.
func TestErrorClasses(t *testing.T) {
	for class, want := range map[overflow.Class]ErrorClass{
		overflow.ClassOther: ErrorOther, overflow.ClassOverflow: ErrorOverflow, overflow.ClassBytes: ErrorBytes,
		overflow.ClassRateLimit: ErrorRateLimit, overflow.ClassQuota: ErrorQuota, overflow.ClassAuth: ErrorAuth,
		overflow.ClassOverloaded: ErrorOverloaded, overflow.ClassTimeout: ErrorTimeout,
	} {
		assert.Equal(t, want, infoOf(overflow.Diagnosis{Class: class}).Class)
	}
}

func TestResponseOverflow(t *testing.T) {
	for _, c := range []struct {
		why    string
		stop   string
		usage  Usage
		window int
		want   bool
	}{
		{"the stop reason says it", "model_context_window_exceeded", Usage{}, 0, true},
		{"in capitals", "MODEL_CONTEXT_WINDOW_EXCEEDED", Usage{Output: 500}, 200_000, true},
		{"billed above the window", "stop", Usage{Input: 1000, CacheRead: 8000, Output: 20}, 8192, true},
		{"exactly the window", "stop", Usage{Input: 8192, Output: 20}, 8192, false},
		{"no answer at a full window", "length", Usage{Input: 8150}, 8192, true},
		{"Anthropic's word for length", "max_tokens", Usage{CacheRead: 8192}, 8192, true},
		{"Gemini's word for length", "MAX_TOKENS", Usage{Input: 8192}, 8192, true},
		{"cut by the answer cap", "length", Usage{Input: 1200, Output: 4096}, 8192, false},
		{"no answer, but room", "length", Usage{Input: 4000}, 8192, false},
		{"an empty answer that ended by itself", "stop", Usage{Input: 8190}, 8192, false},
		{"a window that nobody knows", "length", Usage{Input: 8192}, 0, false},
		{"negative counts", "length", Usage{Input: -5, Output: -5}, -1, false},
		{"absurd counts", "stop", Usage{Input: 1 << 62, CacheRead: 1 << 62, CacheWrite: 1 << 62}, 8192, true},
		{"a long stop reason", strings.Repeat("x", 1<<20) + "context window", Usage{}, 8192, false},
	} {
		assert.Equal(t, c.want, ResponseOverflow(c.stop, c.usage, c.window), c.why)
	}
}
