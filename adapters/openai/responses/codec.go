package responses

import (
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what the SDK's items hold beyond winnow's form, such as the ids
// and the encrypted content of reasoning. Set it as Codec in the Options of package session.
func Codec() session.Codec {
	return &adapter.Sources[Item]{
		ID: "openai-responses", Import: Import, Export: Export, Values: wire.ValueOf(typed), Read: typed,
	}
}
