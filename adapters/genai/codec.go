package genai

import (
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what the SDK's contents hold beyond winnow's form, such as
// images, and calls without ids. Set it as Codec in the Options of package session.
func Codec() session.Codec {
	return &adapter.Sources[*sdk.Content]{
		ID: "genai", Import: Import, Export: Export, Made: wire.IsMade, Values: wire.ValueOf(typed), Read: typed,
	}
}
