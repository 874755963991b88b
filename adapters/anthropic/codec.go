package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what the SDK's messages hold beyond winnow's form, such as cache
// markers and citations. Set it as Codec in the Options of package session.
func Codec() session.Codec {
	return &adapter.Sources[sdk.MessageParam]{
		ID: "anthropic", Import: Import, Export: Export, Values: wire.ValueOf(typed), Read: typed,
	}
}
