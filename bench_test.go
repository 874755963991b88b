package winnow_test

import (
	"testing"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// What the stages cost, next to what it costs to read the text once. See transcript_test.go for the
// transcript: for each 2 000 messages 600 tool results, 5 MB of text.

var benchSizes = []int{2_000, 20_000}

var sink int

// bench runs f on a transcript of each size.
func bench(b *testing.B, kind transcriptKind, f func(h []winnow.Message)) {
	b.Helper()
	for _, n := range benchSizes {
		h := transcript(n, kind)
		b.Run(itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(h)
			}
		})
	}
}

func BenchmarkRuneCount(b *testing.B) {
	bench(b, clean, func(h []winnow.Message) {
		for i := range h {
			for k := range h[i].Parts {
				sink += utf8.RuneCountInString(h[i].Parts[k].Text)
			}
		}
	})
}

func BenchmarkCharsPerToken(b *testing.B) {
	e := winnow.CharsPerToken(4)
	bench(b, clean, func(h []winnow.Message) {
		for i := range h {
			sink += e.Estimate(h[i])
		}
	})
}

func BenchmarkRepairToolPairing(b *testing.B) {
	b.Run("clean", func(b *testing.B) {
		bench(b, clean, func(h []winnow.Message) { winnow.RepairToolPairing(h) })
	})
	b.Run("dirty", func(b *testing.B) {
		bench(b, dirty, func(h []winnow.Message) { winnow.RepairToolPairing(h) })
	})
}

func BenchmarkLimitHistoryTurns(b *testing.B) {
	b.Run("within", func(b *testing.B) {
		bench(b, clean, func(h []winnow.Message) { winnow.LimitHistoryTurns(h, 1_000_000) })
	})
	b.Run("counted", func(b *testing.B) { // a limit that is not reached, of which the length says nothing
		bench(b, clean, func(h []winnow.Message) { winnow.LimitHistoryTurns(h, len(h)/2) })
	})
	b.Run("above", func(b *testing.B) {
		bench(b, clean, func(h []winnow.Message) { winnow.LimitHistoryTurns(h, 100) })
	})
}

func BenchmarkPruneContext(b *testing.B) {
	b.Run("acting", func(b *testing.B) { // trims what is long and clears the oldest half
		bench(b, clean, func(h []winnow.Message) { winnow.PruneContext(h, len(h)*100, nil) })
	})
	b.Run("idle", func(b *testing.B) { // all has to be read to know that nothing is to be done
		unbounded := &winnow.PruneOptions{Estimator: winnow.EstimatorFunc(winnow.CharsPerToken(4).Estimate)}
		bench(b, clean, func(h []winnow.Message) { winnow.PruneContext(h, len(h)*10_000, unbounded) })
	})
	b.Run("small", func(b *testing.B) { // lengths alone say that it fits
		bench(b, clean, func(h []winnow.Message) { winnow.PruneContext(h, len(h)*10_000, nil) })
	})
}

func BenchmarkTruncateToolResults(b *testing.B) {
	b.Run("acting", func(b *testing.B) { // cuts the results above 2 400 tokens
		bench(b, clean, func(h []winnow.Message) { winnow.TruncateToolResults(h, 8_000, nil) })
	})
	b.Run("idle", func(b *testing.B) {
		unbounded := &winnow.TruncateOptions{Estimator: winnow.EstimatorFunc(winnow.CharsPerToken(4).Estimate)}
		bench(b, clean, func(h []winnow.Message) { winnow.TruncateToolResults(h, 200_000, unbounded) })
	})
	b.Run("small", func(b *testing.B) {
		bench(b, clean, func(h []winnow.Message) { winnow.TruncateToolResults(h, 200_000, nil) })
	})
}
