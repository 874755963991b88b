package winnow_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

func TestOverflowError(t *testing.T) {
	cause := errors.New("prompt is too long: 250000 tokens > 200000 maximum")
	bare := &winnow.OverflowError{Tokens: 250_000, Budget: 180_000, Overhead: 11_111, Pinned: 22_222, Summary: 3_333, Protected: 213_334}
	full := *bare
	full.Err = cause

	for _, number := range []string{"250000", "180000", "11111", "22222", "3333", "213334"} {
		assert.Contains(t, bare.Error(), number, "the message says what fills the window")
	}
	assert.NotContains(t, bare.Error(), cause.Error())
	assert.Contains(t, full.Error(), cause.Error(), "and what the provider said")

	for _, err := range []error{bare, &full, fmt.Errorf("turn 7: %w", &full)} {
		assert.ErrorIs(t, err, winnow.ErrOverflow)
		assert.NotErrorIs(t, err, winnow.ErrCompaction)
		assert.NotErrorIs(t, err, winnow.ErrIncomplete)
		var got *winnow.OverflowError
		if assert.ErrorAs(t, err, &got) {
			assert.Equal(t, 213_334, got.Protected)
		}
	}
	assert.NotErrorIs(t, bare, cause, "it was never sent")
	assert.ErrorIs(t, &full, cause, "the provider's error is in it")
	assert.Equal(t, []error{winnow.ErrOverflow}, bare.Unwrap(), "no nil among the causes")
}
