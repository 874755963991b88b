package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// The SDK lets a caller give a message, or a value in it, as JSON (param.Override). Its fields are then empty. Both
// forms are read with the same meaning, and unknown content of either is carried.

type (
	textParam     = sdk.ChatCompletionContentPartTextParam
	userPart      = sdk.ChatCompletionContentPartUnionParam
	assistantPart = sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion
	toolCall      = sdk.ChatCompletionMessageToolCallUnionParam
)

// isTyped reports whether a message is not given as JSON.
func isTyped(m *union) bool {
	switch {
	case m.OfUser != nil:
		return adapter.IsTyped(m.OfUser)
	case m.OfAssistant != nil:
		return adapter.IsTyped(m.OfAssistant)
	case m.OfTool != nil:
		return adapter.IsTyped(m.OfTool)
	case m.OfSystem != nil:
		return adapter.IsTyped(m.OfSystem)
	case m.OfDeveloper != nil:
		return adapter.IsTyped(m.OfDeveloper)
	}
	return m.OfFunction != nil && adapter.IsTyped(m.OfFunction)
}

// readMessage returns m with its fields set, or nil if that is impossible. The values in a message that is given as
// JSON are given as JSON too.
func readMessage(m *union) *union {
	if isTyped(m) {
		return m
	}
	raw := adapter.Raw(m)
	members := map[string][]byte{}
	jsontext.Members(raw, func(key string, value []byte) { members[key] = value })
	var out union
	content := members["content"]
	switch jsontext.Text(members["role"]) {
	case "system":
		out.OfSystem = &sdk.ChatCompletionSystemMessageParam{}
		out.OfSystem.Content.OfString, out.OfSystem.Content.OfArrayOfContentParts = optional(content),
			overrides[textParam](content)
	case "developer":
		out.OfDeveloper = &sdk.ChatCompletionDeveloperMessageParam{}
		out.OfDeveloper.Content.OfString, out.OfDeveloper.Content.OfArrayOfContentParts = optional(content),
			overrides[textParam](content)
	case "user":
		out.OfUser = &sdk.ChatCompletionUserMessageParam{}
		out.OfUser.Content.OfString, out.OfUser.Content.OfArrayOfContentParts = optional(content),
			overrides[userPart](content)
	case "assistant":
		out.OfAssistant = readAssistant(members)
	case "tool":
		out.OfTool = &sdk.ChatCompletionToolMessageParam{ToolCallID: jsontext.Text(members["tool_call_id"])}
		out.OfTool.Content.OfString, out.OfTool.Content.OfArrayOfContentParts = optional(content),
			overrides[textParam](content)
	case "function":
		out = sdk.ChatCompletionMessageParamOfFunction(jsontext.Text(content), jsontext.Text(members["name"]))
	default:
		return nil
	}
	return &out
}

func readAssistant(members map[string][]byte) *sdk.ChatCompletionAssistantMessageParam {
	a := &sdk.ChatCompletionAssistantMessageParam{Refusal: optional(members["refusal"]),
		Name: optional(members["name"])}
	a.Content.OfString, a.Content.OfArrayOfContentParts = optional(members["content"]),
		overrides[assistantPart](members["content"])
	a.ToolCalls = overrides[toolCall](members["tool_calls"])
	jsontext.Members(members["audio"], func(key string, value []byte) {
		if key == "id" {
			a.Audio.ID = jsontext.Text(value)
		}
	})
	if name, arguments, ok := readFunction(members["function_call"]); ok {
		setFunction(a, name, arguments)
	}
	extra := map[string]any{}
	for key, value := range members {
		switch key {
		case "role", "content", "refusal", "name", "audio", "tool_calls", "function_call":
		default:
			extra[key] = json.RawMessage(value)
		}
	}
	if len(extra) > 0 {
		a.SetExtraFields(extra)
	}
	return a
}

// readFunction reads {"name":…,"arguments":…}. ok is false if there is none.
func readFunction(raw []byte) (name, arguments string, ok bool) {
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "name":
			name, ok = jsontext.Text(value), true
		case "arguments", "input":
			arguments = jsontext.Text(value)
		}
	})
	return name, arguments, ok
}

// optional returns a text, which is unset if value is not a text.
func optional(value []byte) param.Opt[string] {
	if len(value) == 0 || value[0] != '"' {
		return param.Opt[string]{}
	}
	return param.NewOpt(jsontext.Text(value))
}

// overrides returns the elements of a list, each given as JSON.
func overrides[T param.ParamStruct, P param.InferPtr[T]](list []byte) []T {
	var out []T
	jsontext.Elements(list, func(raw []byte) { out = append(out, param.Override[T, P](json.RawMessage(raw))) })
	return out
}

// partOf returns the part for an element of a list of content that is given as JSON.
func partOf(raw []byte, source any) winnow.Part {
	var typ string
	var text, refusal, image, audio, file []byte
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "type":
			typ = jsontext.Text(value)
		case "text":
			text = value
		case "refusal":
			refusal = value
		case "image_url":
			image = value
		case "input_audio":
			audio = value
		case "file":
			file = value
		}
	})
	switch typ {
	case "text":
		return winnow.Part{Text: jsontext.Text(text), Source: source}
	case "refusal":
		return winnow.Part{Text: jsontext.Text(refusal), Source: source}
	case "image_url":
		return adapter.Media(winnow.KindImage, "", member(image, "url"), source)
	case "input_audio":
		return adapter.Media(winnow.KindOpaque, "audio/"+member(audio, "format"), member(audio, "data"), source)
	case "file":
		return adapter.Media(winnow.KindOpaque, "", member(file, "file_data"), source)
	}
	return winnow.Part{Kind: winnow.KindOpaque, Bytes: len(raw), Source: source}
}

// member returns a member of an object that is a text.
func member(object []byte, name string) (text string) {
	jsontext.Members(object, func(key string, value []byte) {
		if key == name {
			text = jsontext.Text(value)
		}
	})
	return text
}

// callOf returns the part for a call that is given as JSON.
func callOf(raw []byte, source *toolCall) winnow.Part {
	p := winnow.Part{Kind: winnow.KindToolCall, Source: source}
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "id":
			p.ID = jsontext.Text(value)
		case "function":
			name, arguments, _ := readFunction(value)
			p.Name, p.Arguments = name, []byte(arguments)
		case "custom":
			name, input, _ := readFunction(value)
			p.Name, p.Arguments, p.MediaType = name, jsontext.Quote(input), customCall
		case extraContent:
			p.Signature = thoughtSignature(value)
		}
	})
	return p
}

// extraContent is where Gemini puts the signature of its thoughts, on its servers that speak Chat Completions:
// {"google":{"thought_signature":…}}. Without it Gemini 3 refuses the call.
const extraContent = "extra_content"

func thoughtSignature(extra []byte) (signature string) {
	jsontext.Members(extra, func(key string, value []byte) {
		if s := member(value, "thought_signature"); key == "google" && s != "" {
			signature = googlePrefix + s
		}
	})
	return signature
}

// googlePrefix distinguishes such a signature from those of other adapters, which are not sent here.
const googlePrefix = "google:"

// withSignature returns the member extra_content with a signature.
func withSignature(signature string) map[string]any {
	return map[string]any{extraContent: map[string]any{"google": map[string]any{"thought_signature": signature}}}
}

// reasoningKeys are the fields in which servers return reasoning and accept it again.
var reasoningKeys = [...]string{"reasoning_content", "reasoning"}

// reasoningDetails is the field in which OpenRouter returns signed or encrypted reasoning as a list.
const reasoningDetails = "reasoning_details"

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
			if text := jsontext.Text(s); text != "" {
				return key, text
			}
		}
	}
	return "", ""
}

// extraJSON returns a member that the SDK does not know as JSON, nil if it is missing or null.
func extraJSON(extra map[string]any, key string) []byte {
	v, ok := extra[key]
	if !ok {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil || string(raw) == "null" {
		return nil
	}
	return raw
}
