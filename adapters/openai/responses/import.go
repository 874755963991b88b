package responses

import (
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Item is an item of a request.
type Item = sdk.ResponseInputItemUnionParam

// Import returns items in winnow's form. The result points to the caller's items, which must not be changed while it is
// in use. Importing the same items again gives equal messages.
//
// A message of nothing but reminders of an agent is marked as no person's (Injected). Afterwards the host may mark
// others, messages that must survive (Pinned) and outputs that are errors (IsError), for which the API has no field.
func Import(items []Item) []winnow.Message {
	return wire.Import(wire.Responses{}, items, func(of *Item) []byte { return adapter.Raw(of) })
}
