package genai

import (
	"encoding/json"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what the SDK's contents hold beyond winnow's form, such as
// images, and calls without ids. Set it as Codec in the Options of package session.
func Codec() session.Codec {
	return &adapter.Sources[*sdk.Content]{
		ID: "genai", Import: Import, Export: Export, Made: isMade,
		Values: func(messages []winnow.Message) ([]*sdk.Content, int) {
			of, n := adapter.Whole[sdk.Content](messages)
			return []*sdk.Content{of}, n
		},
		Read: func(text json.RawMessage) (*sdk.Content, error) {
			var c sdk.Content
			err := json.Unmarshal(text, &c)
			return &c, err
		},
	}
}
