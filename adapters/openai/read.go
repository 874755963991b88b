package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
)

// reasoningKeys are the fields in which servers give reasoning and take it back.
var reasoningKeys = [...]string{"reasoning_content", "reasoning"}

// readMessage returns m with its fields set, or nil if that is not possible. The SDK lets a caller give a
// message as JSON (param.Override); its fields are empty then.
func readMessage(m *sdk.ChatCompletionMessageParamUnion) *sdk.ChatCompletionMessageParamUnion {
	var s param.ParamStruct
	switch {
	case m.OfUser != nil:
		s = m.OfUser
	case m.OfAssistant != nil:
		s = m.OfAssistant
	case m.OfTool != nil:
		s = m.OfTool
	case m.OfSystem != nil:
		s = m.OfSystem
	case m.OfDeveloper != nil:
		s = m.OfDeveloper
	case m.OfFunction != nil:
		s = m.OfFunction
	default:
		s = m
	}
	if _, ok := s.Overrides(); !ok {
		return m
	}
	b, err := m.MarshalJSON()
	if err != nil {
		return nil
	}
	var decoded sdk.ChatCompletionMessageParamUnion
	if decoded.UnmarshalJSON(b) != nil {
		return nil
	}
	if a := decoded.OfAssistant; a != nil { // the SDK drops what it does not know
		var extra map[string]json.RawMessage
		_ = json.Unmarshal(b, &extra) // it was valid just now
		for _, key := range reasoningKeys {
			var text string
			if json.Unmarshal(extra[key], &text) == nil && text != "" {
				a.SetExtraFields(map[string]any{key: text})
				break
			}
		}
	}
	return &decoded
}

// reasoningOf returns the reasoning that a caller sends back, and the field that it is in.
func reasoningOf(a *sdk.ChatCompletionAssistantMessageParam) (key, text string) {
	extra := a.ExtraFields()
	if extra == nil {
		return "", ""
	}
	for _, key := range reasoningKeys {
		switch s := extra[key].(type) {
		case string:
			return key, s
		case json.RawMessage:
			var text string
			if json.Unmarshal(s, &text) == nil {
				return key, text
			}
		}
	}
	return "", ""
}
