package winnow

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/count"
)

// How the time of an operation grows with its input, on inputs that are made to be slow. It is measured and reported
// on request, in the time of the processor; a test never fails because a machine is busy:
//
//	go test -run TestGrowth -growth -v -timeout 0 .
//	go test -run TestGrowth/pins -growth -v .
//
// A row above 1.3 grew by more than its input did, from n to 8n. Its doublings say how: a square grows by 2 × n in each
// of them, a step at which something sets in by as much in one of them and by 1 in the others.
var growth = flag.Bool("growth", false, "measure how time grows with hostile inputs")

const (
	growthFactor = 8
	growthMost   = 1.3
	// A small window, and the tokens that an input has at least: enough that it is compacted at n already.
	growthWindow = 2_000
	growthTokens = 4 * growthWindow
	// What takes less cannot be measured.
	growthLeast = time.Millisecond
)

// growthOperations are what is measured. Each is made for one input and run on it once.
var growthOperations = map[string]func(h []Message){
	"RepairToolPairing":   func(h []Message) { RepairToolPairing(h) },
	"LimitHistoryTurns":   func(h []Message) { LimitHistoryTurns(h, 2) },
	"PruneContext":        func(h []Message) { PruneContext(h, 1_000, nil) },
	"TruncateToolResults": func(h []Message) { TruncateToolResults(h, 1_000, nil) },
	"Estimate": func(h []Message) {
		e := CharsPerToken(4)
		for i := range h {
			sink += e.Estimate(h[i])
		}
	},
	"Prepare":           func(h []Message) { _, _ = growthManager(1<<30).Prepare(context.Background(), h) },
	"Prepare, limited":  func(h []Message) { _, _ = growthManager(1<<30, limitedTurns).Prepare(context.Background(), h) },
	"Prepare, small":    func(h []Message) { _, _ = growthManager(growthWindow).Prepare(context.Background(), h) },
	"Prepare, again":    prepareAgain,
	"Plan":              func(h []Message) { growthManager(growthWindow).Plan(h) },
	"Compact":           func(h []Message) { _, _ = growthManager(1<<30).Compact(context.Background(), h, "") },
	"Recover":           recoverGrown,
	"Snapshot, Restore": snapshotGrown,
	"Digest":            func(h []Message) { _, _ = Digest().Summarize(context.Background(), SummaryRequest{Messages: h}) },
	"SummarizeInStages": func(h []Message) {
		_, _ = SummarizeInStages(context.Background(), h, &SummarizeOptions{Summarizer: Digest(), Window: 32_000})
	},
	"Prompt":        func(h []Message) { sink += len(SummaryRequest{Messages: h}.Prompt()) },
	"WriteMessages": func(h []Message) { _ = WriteMessages(new(bytes.Buffer), h) },
	"ClassifyError": func(h []Message) {
		for i := range h {
			ClassifyError(errors.New(joinedText(&h[i])))
		}
	},
}

func limitedTurns(o *Options) { o.HistoryTurns = 2 }

func growthManager(window int, set ...func(*Options)) *Manager {
	o := Options{Estimator: CharsPerToken(4), Compact: &CompactOptions{KeepRecent: growthWindow / 4}}
	for _, f := range set {
		f(&o)
	}
	m, err := New(window, &o)
	if err != nil {
		panic(err)
	}
	return m
}

func prepareAgain(h []Message) {
	m := growthManager(2 * growthWindow)
	for _, n := range []int{len(h) / 2, len(h) * 3 / 4, len(h)} {
		_, _ = m.Prepare(context.Background(), h[:n])
	}
}

func recoverGrown(h []Message) {
	m := growthManager(2 * growthWindow)
	_, _ = m.Prepare(context.Background(), h)
	_, _ = m.Recover(context.Background(), h, errors.New("prompt is too long: 3500 tokens > 3000 maximum"))
}

func snapshotGrown(h []Message) {
	m := growthManager(2 * growthWindow)
	_, _ = m.Prepare(context.Background(), h)
	if state, err := m.Snapshot(); err == nil {
		_ = growthManager(2 * growthWindow).Restore(state)
	}
}

func TestGrowth(t *testing.T) {
	if !*growth {
		t.Skip("measures on request: -growth")
	}
	inputs, rows, above := growthInputs(), 0, 0
	worst := ""
	most := 0.0
	for _, input := range sortedKeys(inputs) {
		t.Run(input, func(t *testing.T) {
			for _, name := range sortedKeys(growthOperations) {
				g := measureGrowth(inputs[input], growthOperations[name])
				rows++
				if g.isAbove() && g.ratio() > most {
					most, worst = g.ratio(), input+" × "+name
				}
				if g.isAbove() {
					above++
					t.Logf("%-28s × %-20s %v", input, name, g)
				}
			}
		})
	}
	t.Logf("%d inputs, %d rows, %d above %.1f × n; the most is %.2f: %s", len(inputs), rows, above, growthMost, most, worst)
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// grown is what an operation took at n, 2n, 4n and 8n.
type grown struct {
	n    int
	took [4]time.Duration
}

// ratio is by how much more than its input the time grew, from n to 8n.
func (g grown) ratio() float64 {
	return float64(g.took[len(g.took)-1]) / float64(growthFactor*max(1, g.took[0]))
}

// isAbove says that it grew by too much, and that it took long enough to say so.
func (g grown) isAbove() bool {
	return g.ratio() > growthMost && g.took[len(g.took)-1] >= growthLeast
}

func (g grown) String() string {
	text := fmt.Sprintf("%7d → %7d: %5.2f × n, %8v; doublings", g.n, growthFactor*g.n, g.ratio(), g.took[len(g.took)-1].Round(10*time.Microsecond))
	for k := 1; k < len(g.took); k++ {
		text += fmt.Sprintf(" %.2f", float64(g.took[k])/float64(2*max(1, g.took[k-1])))
	}
	return text
}

// measureGrowth begins at an n that gives the operation its work. What is above the limit is measured again, with its
// doublings: the least of several is what the machine can do.
func measureGrowth(input func(int) []Message, operation func([]Message)) (g grown) {
	const smallest, largest, tries = 250, 4_000, 4
	run := func(h []Message) time.Duration {
		runtime.GC()
		defer debug.SetGCPercent(debug.SetGCPercent(-1)) // its share depends on the heap, and the heap on the input
		start := processorTime()
		operation(h)
		return processorTime() - start
	}
	for g.n = smallest; g.n < largest && growthEstimate(input(g.n)) < growthTokens; {
		g.n *= 2
	}
	for try := range tries {
		for k := range g.took {
			if try == 0 && k > 0 && k < len(g.took)-1 {
				continue
			}
			h := input(g.n << k)
			for range 1 + 2*(len(g.took)-1-k)/3 {
				if d := run(h); g.took[k] == 0 || d < g.took[k] {
					g.took[k] = d
				}
			}
		}
		if !g.isAbove() {
			break
		}
	}
	return g
}

func growthEstimate(h []Message) (n int) {
	e := CharsPerToken(4)
	for i := range h {
		n = count.Add(n, e.Estimate(h[i]))
	}
	return n
}

// What once took time that grew with the square of the input ends at sizes at which it did not: it would take some
// minutes, and takes some tenths of a second. No machine is so busy that the one is taken for the other.
func TestHugeInputsEnd(t *testing.T) {
	const most = 30 * time.Second
	for _, tt := range []struct {
		name string
		n    int
		run  func(n int)
	}{
		{"thinking at the end of one message", 300_000, func(n int) {
			out, _ := RepairToolPairing(growthLists["thinking at the end"](n))
			assert.Len(t, out, 2)
		}},
		{"pinned results without a call", 120_000, func(n int) { keptBefore(orphans(n, true), 3*n) }},
		{"pinned results of one message", 120_000, func(n int) { keptBefore(oneBatch(n, true), n+2) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				tt.run(tt.n)
			}()
			select {
			case <-done:
			case <-time.After(most):
				t.Fatalf("it has not ended in %v", most)
			}
		})
	}
}

// The numbers of ids that share what is left of them are found without trying each again.
func TestNextIDTriesNoNumberTwice(t *testing.T) {
	const n = 3_000
	tries := 0
	used, serial := map[string]bool{}, map[string]int{}
	for i := range n {
		used[nextID(longID(i), serial, func(id string) bool { tries++; return !used[id] })] = true
	}
	assert.Len(t, used, n)
	assert.LessOrEqual(t, tries, n+n/10)
}
