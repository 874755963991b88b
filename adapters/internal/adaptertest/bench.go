package adaptertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// Benchmark imports and exports a history of 400 messages with 2 000 bytes each: questions, calls and their results.
// For comparison it also marshals that, which an SDK does at least for each request.
func Benchmark[T any](b *testing.B, a winnowtest.Adapter[T]) {
	text := strings.Repeat("some line of a tool's output that has nothing in particular to say\n", 30)[:2_000]
	var history []winnow.Message
	for i := 0; len(history) < 400; i++ {
		if i%10 == 0 {
			history = append(history, question(text))
		}
		call := callOf(fmt.Sprintf("call_%06d", i))
		call.Parts = append([]winnow.Part{{Text: text}}, call.Parts...)
		history = append(history, call, result(call.Parts[1].ID, text))
	}
	values := a.Export(history)
	b.Run("marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(values); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("import and export", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.Export(a.Import(values))
		}
	})
}
