package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"
)

// conversation is a history of n items, of size bytes without the calls: questions, calls and their outputs.
func conversation(n, size int) []Item {
	line := "some line of a tool's output that has nothing in particular to say\n"
	text := strings.Repeat(line, size/len(line)+1)[:size]
	var out []Item
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("call_%06d", i)
		if i%10 == 0 {
			out = append(out, newMessage(sdk.EasyInputMessageRoleUser, text))
		}
		output := sdk.ResponseInputItemParamOfFunctionCallOutput(text)
		output.OfFunctionCallOutput.CallID = param.NewOpt(id)
		out = append(out, newMessage(sdk.EasyInputMessageRoleAssistant, text),
			sdk.ResponseInputItemParamOfFunctionCall(`{"path":"adapters/openai/import.go"}`, id, "read"),
			output)
	}
	return out[:n]
}

// asGiven returns items as the SDK makes them of an answer: the model's own as JSON.
func asGiven(b *testing.B, items []Item) []Item {
	given, err := throughJSON(items)
	if err != nil {
		b.Fatal(err)
	}
	for i := range items {
		if items[i].OfFunctionCallOutput != nil {
			given[i] = items[i]
		}
	}
	return given
}

// BenchmarkMarshal is what the SDK does with the items of each request, for comparison.
func BenchmarkMarshal(b *testing.B) {
	bench(b, func(items []Item) {
		if _, err := json.Marshal(items); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkImportExport(b *testing.B) {
	bench(b, func(items []Item) {
		if out := Export(Import(items)); len(out) != len(items) {
			b.Fatal(len(out))
		}
	})
}

func bench(b *testing.B, f func([]Item)) {
	typed := conversation(400, 2_000)
	for name, items := range map[string][]Item{"typed": typed, "given": asGiven(b, typed)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(items)
			}
		})
	}
}
