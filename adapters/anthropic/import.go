package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Import returns messages in winnow's form. A user message with tool results becomes one message for each result, and
// one for the rest. The result points to the caller's values, which must not be changed while it is in use. Importing
// the same values again gives equal messages.
//
// What stands beside results, or is nothing but reminders of an agent, is marked as no person's (Injected), unless
// nothing else could be the request. Afterwards the host may mark others, and messages that must survive (Pinned).
// [ImportSystem] imports the system prompt of [sdk.MessageNewParams].
func Import(messages []sdk.MessageParam) []winnow.Message {
	return wire.Import(wire.Messages{}, messages, func(of *sdk.MessageParam) []byte { return adapter.Raw(of) })
}

// ImportBeta is [Import] for messages of the beta API. System messages that the API does not show, because they were
// cleared or a block of compaction stands for them, do not count, and are sent as they came.
func ImportBeta(messages []sdk.BetaMessageParam) []winnow.Message {
	return wire.Import(wire.Messages{}, messages, func(of *sdk.BetaMessageParam) []byte { return adapter.Raw(of) })
}
