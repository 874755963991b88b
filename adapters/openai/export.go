package openai

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in the SDK's form. Messages and parts that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
func Export(messages []winnow.Message) []sdk.ChatCompletionMessageParamUnion {
	return Rules{}.Export(messages)
}

// typed gives a message as JSON only if the SDK's types cannot hold it.
var typed = adapter.ReadExactly(param.Override[union])

// given returns the content that a host put into the Source of a part.
func given(source any) []byte {
	switch s := source.(type) {
	case *sdk.ChatCompletionContentPartUnionParam:
		return adapter.Raw(s)
	case *sdk.ChatCompletionContentPartTextParam:
		return adapter.Raw(s)
	}
	return nil
}
