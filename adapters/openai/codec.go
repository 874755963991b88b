package openai

import (
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/wire"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what the SDK's messages hold beyond winnow's form, such as names
// and unknown members. Set it as Codec in the Options of package session.
func Codec() session.Codec {
	return &adapter.Sources[union]{
		ID: "openai", Import: Import, Export: Export, Made: wire.IsFunctionID, Values: wire.ValueOf(typed), Read: typed,
	}
}
