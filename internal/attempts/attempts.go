// Package attempts calls code of a host that may fail, panic or not return: within a time, and again after a pause.
package attempts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Safely calls f. A panic in f becomes its error, which says who panicked.
func Safely(who string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v", who, p)
		}
	}()
	return f()
}

// Lingering is how long [Within] waits for a function to return once it was told to stop. A function that honours its
// context then leaves no goroutine behind.
const Lingering = 50 * time.Millisecond

// outcome is what a function returned.
type outcome[T any] struct {
	value T
	err   error
}

// Within calls f in a goroutine of its own and returns what f returned. It returns when ctx or the time ends, even if f
// goes on: the goroutine ends when f returns.
func Within[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	var zero T
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan outcome[T], 1)
	go func() {
		o := outcome[T]{err: errors.New("the call ended its goroutine")} // with runtime.Goexit, as t.FailNow does
		defer func() { done <- o }()
		o.value, o.err = f(timed)
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-timed.Done():
	}
	late := time.NewTimer(Lingering)
	defer late.Stop()
	select {
	case o := <-done:
		if o.err == nil && ctx.Err() == nil {
			return o.value, nil // the answer came just too late, but it is paid for and complete
		}
	case <-late.C:
	}
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}
	return zero, fmt.Errorf("no answer within %s: %w", limit, timed.Err())
}

// The pauses between attempts are those of the reference system.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Second
	pauseJitter  = 0.2
)

// Pauses are the pauses between the attempts of one call. Each is twice as long as the one before it.
type Pauses struct {
	sleep func(context.Context, time.Duration) error
	next  backoff.ExponentialBackOff
}

// NewPauses returns the pauses of a call. sleep waits for a time or the end of its context; nil is a timer.
func NewPauses(sleep func(context.Context, time.Duration) error) *Pauses {
	if sleep == nil {
		sleep = sleepFor
	}
	return &Pauses{sleep: sleep, next: backoff.ExponentialBackOff{
		InitialInterval: firstPause, RandomizationFactor: pauseJitter, Multiplier: 2, MaxInterval: longestPause,
	}}
}

// Wait waits for the next pause. The error comes from ctx.
func (p *Pauses) Wait(ctx context.Context) error {
	if err := p.sleep(ctx, min(p.next.NextBackOff(), longestPause)); err != nil {
		return err
	}
	return ctx.Err()
}

// sleepFor waits for d or the end of ctx.
func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
