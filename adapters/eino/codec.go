package eino

import (
	"encoding/json"

	"github.com/cloudwego/eino/schema"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what Eino's messages hold beyond winnow's form, such as Extra.
// Set it as Codec in the Options of package session. Extra comes back as encoding/json decodes it: numbers as float64,
// structs as maps.
func Codec() session.Codec {
	return &adapter.Sources[*schema.Message]{
		ID: "eino", Import: Import, Export: Export, NamesOfCalls: true,
		Values: func(messages []winnow.Message) ([]*schema.Message, int) {
			if of, ok := messages[0].Source.(*schema.Message); ok && of != nil {
				return []*schema.Message{of}, 1
			}
			return nil, 0
		},
		Read: func(text json.RawMessage) (*schema.Message, error) {
			var m schema.Message
			err := json.Unmarshal(text, &m)
			return &m, err
		},
	}
}
