package excerpt

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkErrorLines searches 400 KB for lines that report an error: text without a mark, and what agents read most,
// in which there is a mark in every second word. The floor is one pass of the standard library.
func BenchmarkErrorLines(b *testing.B) {
	for _, tt := range []struct{ name, line string }{
		{"prose", "line %d of the output, which says nothing that matters\n"},
		{"log", "2026-03-01T12:00:01Z [INFO] server/http.go:%d: GET /api/v1/items?id=7 took 12ms key=value status: 200\n"},
		{"code", "\tif err := f.exec(ctx, list[%d], k); err != nil {\n\t\treturn fmt.Errorf(\"FetchRequest: %%w\", err)\n\t}\n"},
		{"tests", "=== RUN   TestFoo%d\n--- PASS: TestFoo (0.00s)\n"},
	} {
		var text strings.Builder
		for i := 0; text.Len() < 400_000; i++ {
			fmt.Fprintf(&text, tt.line, i)
		}
		s := text.String()
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				errorLines(s, 3_000)
			}
		})
		b.Run(tt.name+", floor", func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				strings.IndexByte(s, 0)
			}
		})
	}
}
