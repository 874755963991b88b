package winnow

import (
	"context"
	"sync"

	"github.com/winnowgo/winnow/internal/count"
)

// What summaries cost. A summarizer reports what its answers were billed for through its context, so that its method
// need not return more than a text.

// ReportUsage is for a [Summarizer]: it reports the usage of an answer, even of one that is then rejected. ctx is the
// context that Summarize got, or one derived from it. [Summary.Usage] and [Compaction.Usage] are the sums. With any
// other context it does nothing.
func ReportUsage(ctx context.Context, u Usage) {
	if m, ok := ctx.Value(meterKey{}).(*usageMeter); ok {
		m.add(u)
	}
}

type meterKey struct{}

// usageMeter adds up what calls were billed for. A call that was given up may still report, from a goroutine of its
// own.
type usageMeter struct {
	mu  sync.Mutex
	sum Usage
}

func (m *usageMeter) add(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum = m.sum.plus(u)
}

func (m *usageMeter) total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum
}

// plus adds two usages. Negative counts are taken as 0.
func (u Usage) plus(v Usage) Usage {
	return Usage{
		Input:      count.Add(max(0, u.Input), max(0, v.Input)),
		CacheRead:  count.Add(max(0, u.CacheRead), max(0, v.CacheRead)),
		CacheWrite: count.Add(max(0, u.CacheWrite), max(0, v.CacheWrite)),
		Output:     count.Add(max(0, u.Output), max(0, v.Output)),
	}
}
