package openai

import (
	sdk "github.com/openai/openai-go/v3"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

type union = sdk.ChatCompletionMessageParamUnion

// Import returns messages in winnow's form, one for each. The result points to the caller's values, which must not be
// changed while it is in use. Importing the same values again gives equal messages.
//
// A message of nothing but reminders of an agent is marked as no person's (Injected). Afterwards the host may mark
// others, messages that must survive (Pinned) and results that are errors (IsError), for which the API has no field.
func Import(messages []sdk.ChatCompletionMessageParamUnion) []winnow.Message {
	return wire.Import(wire.Chat{}, messages, func(of *union) []byte { return adapter.Raw(of) })
}
