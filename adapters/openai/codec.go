package openai

import (
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
			switch of := messages[0].Source.(type) {
			case *union:
				return []union{*of}, 1
			case hollow:
				return []union{*of.union}, 1
			}
			return nil, 0
		},
		Read: adapter.ReadExactly(param.Override[union]),
	}
}
