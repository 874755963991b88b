package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/session"
)

type union = sdk.ChatCompletionMessageParamUnion

// Codec returns the codec with which a session stores what the SDK's messages hold beyond winnow's form, such as names
// and unknown members. Set it as Codec in the Options of package session.
func Codec() session.Codec {
	return &adapter.Sources[union]{
		ID: "openai", Import: Import, Export: Export, Made: isFunctionID,
		Values: func(messages []winnow.Message) ([]union, int) {
			if of, ok := messages[0].Source.(*union); ok && of != nil {
				return []union{*of}, 1
			}
			return nil, 0
		},
		Read: func(text json.RawMessage) (union, error) {
			return adapter.ReadExactly(text, func(b []byte, m *union) error { return json.Unmarshal(b, m) },
				func(text json.RawMessage) union { return param.Override[union](text) }), nil
		},
	}
}
