package attempts

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSafely(t *testing.T) {
	boom := errors.New("boom")
	require.NoError(t, Safely("the host", func() error { return nil }))
	require.ErrorIs(t, Safely("the host", func() error { return boom }), boom)
	require.EqualError(t, Safely("the host", func() error { panic("lost") }), "the host panicked: lost")
}

func TestWithin(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name  string
		f     func(context.Context) (string, error)
		want  string
		err   error
		after time.Duration
	}{
		{"at once", func(context.Context) (string, error) { return "yes", nil }, "yes", nil, 0},
		{"an error", func(context.Context) (string, error) { return "", boom }, "", boom, 0},
		{"it stops when told", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, "", context.DeadlineExceeded, time.Minute},
		{"an answer that comes just too late", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "late", nil
		}, "late", nil, time.Minute},
		{"it does not stop", func(context.Context) (string, error) {
			time.Sleep(time.Hour)
			return "much too late", nil
		}, "", context.DeadlineExceeded, time.Minute + Lingering},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, err := Within(t.Context(), time.Minute, tc.f)
				require.ErrorIs(t, err, tc.err)
				assert.Equal(t, tc.want, got)
				assert.Equal(t, tc.after, time.Since(start))
				time.Sleep(2 * time.Hour) // until what did not stop has ended
			})
		})
	}
}

func TestWithinEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := Within(ctx, time.Minute, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 1, nil
		})
		require.ErrorIs(t, err, context.Canceled, "an answer that comes after the context has ended does not count")
	})
}

func TestWithinSurvivesGoexit(t *testing.T) {
	_, err := Within(t.Context(), time.Minute, func(context.Context) (int, error) {
		runtime.Goexit()
		return 1, nil
	})
	require.EqualError(t, err, "the call ended its goroutine")
}

func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPauses(nil)
		for _, want := range []time.Duration{500, 1_000, 2_000, 4_000, 5_000, 5_000} {
			want *= time.Millisecond
			start := time.Now()
			require.NoError(t, p.Wait(t.Context()))
			assert.InDelta(t, want, time.Since(start), pauseJitter*float64(want))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, p.Wait(ctx), context.Canceled)
	})
}
