package winnow_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// What the stages cost, next to what it costs to read the text once: the last columns of
//
//	go test -run '^$' -bench 'Pass|Repair|Limit|Prune|Truncate'
//
// say how many passes over the text an operation takes, by utf8.RuneCountInString (runepass/op) or by the
// estimator that the stage is given (estpass/op). See transcript_test.go for the transcript: for each 2 000
// messages 600 tool results, 5 MB of text.

var benchSizes = []int{2_000, 20_000}

var sink int

// pass reads every text of a history once.
type pass struct {
	unit string
	read func(h []winnow.Message)
}

var runePass = pass{"runepass/op", func(h []winnow.Message) {
	for i := range h {
		for k := range h[i].Parts {
			sink += utf8.RuneCountInString(h[i].Parts[k].Text)
		}
	}
}}

func estimatorPass(e winnow.Estimator) pass {
	return pass{"estpass/op", func(h []winnow.Message) {
		for i := range h {
			sink += e.Estimate(h[i])
		}
	}}
}

// bench runs f on a transcript of each size, and says how many passes it takes.
func bench(b *testing.B, kind transcriptKind, p pass, f func(h []winnow.Message)) {
	b.Helper()
	for _, n := range benchSizes {
		h := transcript(n, kind)
		b.Run(itoa(n), func(b *testing.B) {
			passes := ratio(func() { f(h) }, func() { p.read(h) })
			b.ReportAllocs()
			for b.Loop() {
				f(h)
			}
			b.ReportMetric(passes, p.unit)
		})
	}
}

// ratio returns what f costs in times of what base costs: the lower quartile of one by that of the other. They
// take turns, so that a machine that is busy for a while slows down both.
func ratio(f, base func()) float64 {
	const rounds, least = 12, 200 * time.Millisecond
	measure := func(f func(), times int) time.Duration {
		start := time.Now()
		for range times {
			f()
		}
		return time.Since(start)
	}
	times := max(1, int(measure(base, 1)/(10*(measure(f, 1)+1)))) // so that a quick f is not lost in the clock's ticks
	var ours, theirs []time.Duration
	for start := time.Now(); len(ours) < rounds || time.Since(start) < least; {
		theirs = append(theirs, measure(base, 1))
		ours = append(ours, measure(f, times)/time.Duration(times))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	return float64(ours[len(ours)/4]) / float64(theirs[len(theirs)/4])
}

// estimators are those that stages are run with: their default, and the manager's.
func estimators(b *testing.B, run func(b *testing.B, e winnow.Estimator)) {
	tokens, err := winnow.NewEstimator("")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("chars", func(b *testing.B) { run(b, winnow.CharsPerToken(4)) })
	b.Run("tokens", func(b *testing.B) { run(b, tokens) })
}

func BenchmarkPass(b *testing.B) {
	b.Run("runes", func(b *testing.B) { bench(b, clean, runePass, runePass.read) })
	estimators(b, func(b *testing.B, e winnow.Estimator) { bench(b, clean, runePass, estimatorPass(e).read) })
}

func BenchmarkRepairToolPairing(b *testing.B) {
	run := func(h []winnow.Message) { winnow.RepairToolPairing(h) }
	b.Run("clean", func(b *testing.B) { bench(b, clean, runePass, run) })
	b.Run("dirty", func(b *testing.B) { bench(b, dirty, runePass, run) })
	b.Run("dirty mixed scripts", func(b *testing.B) { bench(b, dirtyMixedScripts, runePass, run) })
}

func BenchmarkLimitHistoryTurns(b *testing.B) {
	limit := func(turns func(h []winnow.Message) int) func(b *testing.B) {
		return func(b *testing.B) {
			bench(b, clean, runePass, func(h []winnow.Message) { winnow.LimitHistoryTurns(h, turns(h)) })
		}
	}
	b.Run("within", limit(func([]winnow.Message) int { return 1_000_000 }))
	b.Run("counted", limit(func(h []winnow.Message) int { return len(h) / 2 })) // a limit that is not reached, of which the length says nothing
	b.Run("above", limit(func([]winnow.Message) int { return 100 }))
}

func BenchmarkPruneContext(b *testing.B) {
	prune := func(window int) func(b *testing.B, e winnow.Estimator) { // tokens for each message
		return func(b *testing.B, e winnow.Estimator) {
			o := &winnow.PruneOptions{Estimator: e}
			bench(b, clean, estimatorPass(e), func(h []winnow.Message) { winnow.PruneContext(h, len(h)*window, o) })
		}
	}
	b.Run("clearing", func(b *testing.B) { estimators(b, prune(100)) }) // trims what is long and clears most
	b.Run("mixed scripts", func(b *testing.B) {                         // the same where a fifth is not ASCII
		chars := winnow.CharsPerToken(4)
		o := &winnow.PruneOptions{Estimator: chars}
		bench(b, mixedScripts, estimatorPass(chars), func(h []winnow.Message) { winnow.PruneContext(h, len(h)*100, o) })
	})
	b.Run("trimming", func(b *testing.B) { estimators(b, prune(1_200)) })
	b.Run("idle", func(b *testing.B) { estimators(b, prune(3_000)) }) // all has to be read to know that nothing is to be done
	b.Run("small", func(b *testing.B) { estimators(b, prune(100_000)) })
}

func BenchmarkTruncateToolResults(b *testing.B) {
	truncate := func(window int) func(b *testing.B, e winnow.Estimator) {
		return func(b *testing.B, e winnow.Estimator) {
			o := &winnow.TruncateOptions{Estimator: e}
			bench(b, clean, estimatorPass(e), func(h []winnow.Message) { winnow.TruncateToolResults(h, window, o) })
		}
	}
	b.Run("many", func(b *testing.B) { estimators(b, truncate(8_000)) })    // cuts every third result
	b.Run("few", func(b *testing.B) { estimators(b, truncate(32_000)) })    // cuts one in a hundred
	b.Run("small", func(b *testing.B) { estimators(b, truncate(200_000)) }) // none is long enough
}

// BenchmarkTruncateResult cuts one result of 400 KB to 16 KB: the head, the end, and lines that report an error.
func BenchmarkTruncateResult(b *testing.B) {
	for _, tt := range []struct{ name, line string }{
		{"prose", "line %d of the output, which says nothing that matters\n"},
		{"log", "2026-03-01T12:00:01Z [INFO] server/http.go:%d: GET /api/v1/items?id=7 took 12ms key=value status: 200\n"},
		{"code", "\tif err := f.exec(ctx, list[%d], k); err != nil {\n\t\treturn fmt.Errorf(\"FetchRequest: %w\", err)\n\t}\n"},
		{"tests", "=== RUN   TestFoo%d\n--- PASS: TestFoo (0.00s)\n"},
		{"one error again", "retrying\nERROR connection refused\n"},
		{"failing tests", "=== RUN   TestFoo%d\n    foo_test.go:12: expected 1, got 2\n--- FAIL: TestFoo%d (0.00s)\n"},
	} {
		var text strings.Builder
		for i := 0; text.Len() < 400_000; i++ {
			text.WriteString(strings.ReplaceAll(tt.line, "%d", itoa(i)))
		}
		h := []winnow.Message{
			{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "run it"}}},
			{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "c", Name: "exec"}}},
			{Role: winnow.RoleTool, ToolCallID: "c", Parts: []winnow.Part{{Text: text.String()}}},
		}
		o := &winnow.TruncateOptions{Estimator: winnow.CharsPerToken(4), MaxChars: 16_000}
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				winnow.TruncateToolResults(h, 1_000_000, o)
			}
		})
	}
}
