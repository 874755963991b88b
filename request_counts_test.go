package winnow_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func ExampleManager_Cold() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m, err := winnow.New(200_000, &winnow.Options{Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("before the first request:", m.Cold())
	_, err = m.Prepare(context.Background(), []winnow.Message{user("Hello")})
	fmt.Println("behind it:", m.Cold(), err)
	now = now.Add(6 * time.Minute)
	fmt.Println("six minutes later:", m.Cold())
	// Output:
	// before the first request: true
	// behind it: false <nil>
	// six minutes later: true
}

// Counts are the estimates of the messages that are sent, in every request, and stay so.
func TestRequestCounts(t *testing.T) {
	for seed := range uint64(40) {
		h := randomHistory(seed)
		c := newClock()
		m := newManager(t, 6_000, &winnow.Options{Estimator: byChars, Now: c.Now, HistoryTurns: int(seed % 3 * 4)})
		var requests []*winnow.Request
		var counts [][]int
		for n := 1; n <= len(h); n++ {
			c.pass(time.Duration(n%7) * time.Minute)
			plan := m.Plan(h[:n])
			r, err := m.Prepare(t.Context(), h[:n])
			if err != nil {
				continue
			}
			if plan.Compaction == nil && !plan.NeedsCompaction && r.Compaction == nil {
				assert.Equal(t, plan.Counts, r.Counts, "of Plan and of Prepare")
			}
			require.Len(t, r.Counts, len(r.Messages))
			for i := range r.Messages {
				require.Equal(t, byChars.Estimate(r.Messages[i]), r.Counts[i], "message %d of request %d", i, n)
			}
			requests, counts = append(requests, r), append(counts, slices.Clone(r.Counts))
		}
		for k, r := range requests {
			require.Equal(t, counts[k], r.Counts, "an earlier request stays as it was")
		}
	}
}
