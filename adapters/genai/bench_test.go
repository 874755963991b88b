package genai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "google.golang.org/genai"
)

// conversation is a history of n contents of size bytes each: questions, calls and their responses.
func conversation(n, size int, ids bool) []*sdk.Content {
	line := "some line of a tool's output that has nothing in particular to say\n"
	long := strings.Repeat(line, size/len(line)+1)[:size]
	var out []*sdk.Content
	for i := 0; len(out) < n; i++ {
		id := ""
		if ids {
			id = fmt.Sprintf("call_%06d", i)
		}
		if i%10 == 0 {
			out = append(out, user(text(long)))
		}
		out = append(out,
			model(text(long), call(id, "read", map[string]any{"path": "adapters/genai/import.go", "offset": 100.0, "limit": 200.0})),
			user(response(id, "read", output(long))))
	}
	return out[:n]
}

// BenchmarkMarshal is what the SDK does at least with the contents of each request, for comparison.
func BenchmarkMarshal(b *testing.B) {
	contents := conversation(400, 2_000, true)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(contents); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkImportExport(b *testing.B) {
	for name, ids := range map[string]bool{"ids": true, "none": false} {
		b.Run(name, func(b *testing.B) {
			contents := conversation(400, 2_000, ids)
			b.ReportAllocs()
			for b.Loop() {
				if out := Export(Import(contents)); len(out) != len(contents) {
					b.Fatal(len(out))
				}
			}
		})
	}
}
