package anthropic

import (
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// The SDK lets a caller give a message or a block as JSON (param.Override), and does so itself for blocks
// of types that it does not know. Their fields are empty then; to read them the JSON is decoded.

// readMessage returns m with its fields set, or nil if that is not possible.
func readMessage(m *sdk.MessageParam) *sdk.MessageParam {
	if _, ok := m.Overrides(); !ok {
		return m
	}
	var decoded sdk.MessageParam
	if !decode(m, &decoded) || decoded.Role == "" || len(decoded.Content) < blocksOf(m) {
		return nil
	}
	return &decoded
}

// blocksOf returns how many blocks m has in its JSON. The SDK drops a list with one that it does not know.
func blocksOf(m *sdk.MessageParam) int {
	var wire struct {
		Content []json.RawMessage `json:"content"`
	}
	b, err := m.MarshalJSON()
	if err != nil || json.Unmarshal(b, &wire) != nil { // a plain text, for one
		return 0
	}
	return len(wire.Content)
}

// readBlock returns b with its fields set, or nil if that is not possible.
func readBlock(b *sdk.ContentBlockParamUnion) *sdk.ContentBlockParamUnion {
	var s param.ParamStruct
	switch { // what is common, and what its fields are needed of
	case b.OfText != nil:
		s = b.OfText
	case b.OfToolUse != nil:
		s = b.OfToolUse
	case b.OfToolResult != nil:
		s = b.OfToolResult
	case b.OfThinking != nil:
		s = b.OfThinking
	case b.OfRedactedThinking != nil:
		s = b.OfRedactedThinking
	case b.OfImage != nil:
		s = b.OfImage
	case b.OfDocument != nil:
		s = b.OfDocument
	default:
		s = b
	}
	if _, ok := s.Overrides(); !ok {
		return b
	}
	var decoded sdk.ContentBlockParamUnion
	if !decode(b, &decoded) {
		return nil
	}
	return &decoded
}

// readResult returns the tool result that b is, or nil.
func readResult(b *sdk.ContentBlockParamUnion) *sdk.ToolResultBlockParam {
	if r := b.OfToolResult; r != nil {
		if _, ok := r.Overrides(); !ok {
			return r
		}
	} else if _, ok := b.Overrides(); !ok {
		return nil
	}
	if d := readBlock(b); d != nil {
		return d.OfToolResult
	}
	return nil
}

func decode(from json.Marshaler, to json.Unmarshaler) bool {
	b, err := from.MarshalJSON()
	return err == nil && to.UnmarshalJSON(b) == nil
}
