package eino

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// conversation is a history of n messages of size bytes each: questions, calls and their results.
func conversation(n, size int) []*schema.Message {
	line := "some line of a tool's output that has nothing in particular to say\n"
	text := strings.Repeat(line, size/len(line)+1)[:size]
	var out []*schema.Message
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("call_%06d", i)
		if i%10 == 0 {
			out = append(out, schema.UserMessage(text))
		}
		out = append(out,
			schema.AssistantMessage(text, []schema.ToolCall{call(id, "read", `{"path":"adapters/eino/import.go","offset":100,"limit":200}`)}),
			schema.ToolMessage(text, id))
	}
	return out[:n]
}

// BenchmarkMarshal measures, for comparison, the least that a model does with the messages of each request.
func BenchmarkMarshal(b *testing.B) {
	messages := conversation(400, 2_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(messages); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkImportExport(b *testing.B) {
	messages := conversation(400, 2_000)
	b.ReportAllocs()
	for b.Loop() {
		if out := Export(Import(messages)); len(out) != len(messages) {
			b.Fatal(len(out))
		}
	}
}
