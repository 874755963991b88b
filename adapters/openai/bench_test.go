package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
)

// conversation is a history of n messages of size bytes each: questions, calls and their results.
func conversation(n, size int) []message {
	line := "some line of a tool's output that has nothing in particular to say\n"
	text := strings.Repeat(line, size/len(line)+1)[:size]
	var out []message
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("call_%06d", i)
		if i%10 == 0 {
			out = append(out, sdk.UserMessage(text))
		}
		c := calls(call(id, "read", `{"path":"adapters/openai/import.go","offset":100,"limit":200}`))
		c.OfAssistant.Content.OfString = sdk.String(text)
		out = append(out, c, sdk.ToolMessage(text, id))
	}
	return out[:n]
}

// BenchmarkMarshal is what the SDK does with the messages of each request, for comparison.
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
