package responses

import (
	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Export returns messages as items of a request. Items and parts that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
func Export(messages []winnow.Message) []Item {
	return wire.Export(wire.Responses{}.Build(messages, content), typed)
}

// ExportMarked is [Export] for OpenAI's models from GPT-5.6 on, which read their cache only up to the end of an earlier
// request or a breakpoint. It sets one behind each record and summary, which stays when what follows is rewritten.
func ExportMarked(messages []winnow.Message) []Item {
	values := wire.Responses{}.Build(messages, content)
	wire.MarkMade(wire.Responses{}, values)
	return wire.Export(values, typed)
}

// typed gives an item as JSON only if the SDK's types cannot hold it.
var typed = adapter.ReadExactly(param.Override[Item])

// content returns the content that a host put into the Source of a part, in a message or in an output.
func content(source any) []byte {
	switch s := source.(type) {
	case *sdk.ResponseInputContentUnionParam:
		return adapter.Raw(s)
	case *sdk.ResponseFunctionCallOutputItemUnionParam:
		return adapter.Raw(s)
	}
	return nil
}
