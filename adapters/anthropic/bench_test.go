package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// conversation is a history of n messages of size bytes each: a question, calls and their results.
func conversation(n, size int) []sdk.MessageParam {
	line := "some line of a tool's output that has nothing in particular to say\n"
	text := strings.Repeat(line, size/len(line)+1)[:size]
	var out []sdk.MessageParam
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("toolu_%06d", i)
		if i%10 == 0 {
			out = append(out, sdk.NewUserMessage(sdk.NewTextBlock(text)))
		}
		input := json.RawMessage(`{"path":"adapters/anthropic/import.go","offset":100,"limit":200}`)
		out = append(out,
			sdk.NewAssistantMessage(sdk.NewTextBlock(text), sdk.NewToolUseBlock(id, input, "read")),
			sdk.NewUserMessage(sdk.NewToolResultBlock(id, text, false)))
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
