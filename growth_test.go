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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/count"
)

// How the time of an operation grows with its input, on inputs that are made to be slow. It is measured and reported
// on request; a test never fails because a machine is busy:
//
//	go test -run TestGrowth -growth -v -timeout 0 .
//	go test -run TestGrowth/pins -growth -v .
//
// An operation is run on 8 inputs of n, on 4 of 2n, on 2 of 4n and on one of 8n: the same work four times, in as much
// memory, and as long exposed to what else the machine does. The least of several such rounds counts, in the time of
// the processor. A row above 1.3 is one of three kinds:
//
//   - memory: a bare pass over the same input grows about as much, because it outgrows the processor's caches;
//   - a step: something sets in between n and 8n, and from 8n to 64n the time grows as the input does, or as a bare pass;
//   - superlinear: neither. This is a fault.
var growth = flag.Bool("growth", false, "measure how time grows with hostile inputs")

const (
	growthDoublings = 3 // from n to 8n
	growthFactor    = 1 << growthDoublings
	growthMost      = 1.3
	growthRounds    = 3
	// A small window, and the tokens that an input has at least: enough that it is compacted at n already.
	growthWindow = 2_000
	growthTokens = 4 * growthWindow
	// From here on the garbage collector may disturb a measurement.
	growthMemory = 3 << 30
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
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // its share depends on the heap, and the heap on the input
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(growthMemory))
	fillHeap()
	inputs, rows := growthInputs(), 0
	kinds := map[string]int{}
	for _, input := range sortedKeys(inputs) {
		t.Run(input, func(t *testing.T) {
			for _, name := range sortedKeys(growthOperations) {
				g := measureGrowth(inputs[input], growthOperations[name])
				rows++
				if g.kind != "" {
					kinds[g.kind]++
					t.Logf("%-28s × %-20s %v", input, name, g)
				}
			}
		})
	}
	t.Logf("%d inputs, %d rows; above %.1f × n: %v", len(inputs), rows, growthMost, kinds)
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// grown is how an operation grew.
type grown struct {
	n           int
	kind        string // "": by what its input grew
	took        rounds // from n to 8n
	bare        rounds // a bare pass, where it was measured
	later, afar rounds // both from 8n to 64n, where they were measured
}

func (g grown) String() string {
	text := fmt.Sprintf("%7d → %7d: %5.2f × n (%v), %8v: %s", g.n, growthFactor*g.n, g.took.ratio(), g.took, g.took[growthDoublings].Round(10*time.Microsecond), g.kind)
	if g.bare[0] > 0 {
		text += fmt.Sprintf("; a bare pass %.2f", g.bare.ratio())
	}
	if g.later[0] > 0 {
		text += fmt.Sprintf("; on to %d: %.2f (%v)", growthFactor*growthFactor*g.n, g.later.ratio(), g.later)
	}
	if g.afar[0] > 0 {
		text += fmt.Sprintf(", a bare pass %.2f", g.afar.ratio())
	}
	return text
}

// fillHeap has the runtime take memory from the system, and gives it back to the runtime: to be given a page by the
// system takes longer than most operations need to fill it.
func fillHeap() {
	const most = 512 << 20
	pages := make([]byte, most)
	for i := 0; i < most; i += 1 << 12 {
		pages[i] = 1
	}
	runtime.GC()
}

// rounds are the times of an operation on 8 inputs of n, on 4 of 2n, on 2 of 4n and on one of 8n.
type rounds [growthDoublings + 1]time.Duration

// ratio is by how much more than its input the time grew.
func (r *rounds) ratio() float64 { return float64(r[growthDoublings]) / float64(max(1, r[0])) }

// isAbove reports whether it grew by too much, and took long enough to say so.
func (r *rounds) isAbove() bool { return r.ratio() > growthMost && r[growthDoublings] >= growthLeast }

// String is by how much it grew in each doubling.
func (r rounds) String() string {
	if r[1] == 0 {
		return "-"
	}
	var text []string
	for k := range growthDoublings {
		text = append(text, fmt.Sprintf("%.2f", float64(r[k+1])/float64(max(1, r[k]))))
	}
	return strings.Join(text, " ")
}

// measure runs the rounds until the ratio is within the limit, or there were enough of them.
func (r *rounds) measure(input func(int) []Message, n int, operation func([]Message)) {
	for round := range growthRounds {
		for k := range r {
			isEnd := k == 0 || k == growthDoublings
			if round == 0 && !isEnd { // a plain operation is not looked at closely
				continue
			}
			inputs := make([][]Message, 1<<(growthDoublings-k))
			for i := range inputs {
				inputs[i] = input(n << k)
			}
			runtime.GC()
			operation(inputs[0]) // what the garbage collector took from pools is there again
			start := processorTime()
			for _, h := range inputs {
				operation(h)
			}
			if took := processorTime() - start; r[k] == 0 || took < r[k] {
				r[k] = took
			}
		}
		if !r.isAbove() {
			return
		}
	}
}

// measureGrowth begins at an n that gives the operation its work, and finds out what is the matter with what is above
// the limit.
func measureGrowth(input func(int) []Message, operation func([]Message)) (g grown) {
	const smallest, largest = 250, 4_000
	for g.n = smallest; g.n < largest && growthEstimate(input(g.n)) < growthTokens; {
		g.n *= 2
	}
	if g.took.measure(input, g.n, operation); !g.took.isAbove() {
		return g
	}
	g.bare.measure(input, g.n, barePass)
	if g.kind = "memory"; g.took.ratio() <= growthMost*max(1, g.bare.ratio()) {
		return g
	}
	g.later.measure(input, growthFactor*g.n, operation)
	if g.kind = "a step"; !g.later.isAbove() {
		return g
	}
	if g.afar.measure(input, growthFactor*g.n, barePass); g.later.ratio() > growthMost*max(1, g.afar.ratio()) {
		g.kind = "superlinear"
	}
	return g
}

// barePass is the least that an operation does that reads a history, pairs its calls, and returns another one or writes
// it: it copies the texts, finds calls and results by their ids, and joins all texts in memory that grows.
func barePass(h []Message) {
	out, ids, joined := slices.Clone(h), map[string]int{}, []byte(nil)
	for i := range out {
		m := &out[i]
		ids[m.ToolCallID]++
		m.Parts, m.Details = slices.Clone(m.Parts), slices.Clone(m.Details)
		for k := range m.Parts {
			p := &m.Parts[k]
			ids[p.ID]++
			p.Text, p.Signature, p.Arguments = strings.Clone(p.Text), strings.Clone(p.Signature), slices.Clone(p.Arguments)
			joined = append(append(joined, p.Text...), p.Arguments...)
		}
	}
	sink += len(joined) + len(ids)
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
		{"texts of one answer", 300_000, func(n int) {
			h := growthMessages["answer"](manyParts(n, growthParts["texts"]))
			for _, window := range []int{growthWindow, 1 << 30} {
				_, err := growthManager(window).Prepare(context.Background(), h)
				assert.NoError(t, err)
				_, err = growthManager(window).Compact(context.Background(), h, "")
				assert.NoError(t, err)
			}
		}},
		{"pinned results without a call", 120_000, func(n int) { keptBefore(orphans(n, true), 3*n, nil) }},
		{"pinned results of one message", 120_000, func(n int) { keptBefore(oneBatch(n, true), n+2, nil) }},
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
