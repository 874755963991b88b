package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/tidwall/sjson"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Export returns messages in the SDK's form. Messages and parts that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
func Export(messages []winnow.Message) []sdk.ChatCompletionMessageParamUnion {
	return Rules{}.Export(messages)
}

// maxCallID is the longest id of a call, in characters.
const maxCallID = 40

// exporter makes the SDK's messages.
type exporter struct {
	out    []union
	ids    adapter.CallIDs
	images []userPart // of results

	alternate bool // images of results are already in messages
}

// between adds the messages between two assistant messages, results first.
func (e *exporter) between(run []winnow.Message) {
	results := 0
	for i := range run {
		if run[i].Role == winnow.RoleTool {
			e.result(&run[i])
			results++
		}
	}
	if len(e.images) > 0 {
		e.out = append(e.out, sdk.UserMessage(e.images))
		e.images = nil
	}
	if results == len(run) {
		return
	}
	for i := range run {
		switch m := &run[i]; m.Role {
		case winnow.RoleTool:
		case winnow.RoleSystem:
			e.system(m)
		default:
			e.user(m)
		}
	}
}

// own returns the caller's message for m, or nil if it is to be built anew.
func own(m *winnow.Message) *union {
	p, _ := m.Source.(*union)
	return p
}

func (e *exporter) system(m *winnow.Message) {
	text, list := textContent(m)
	switch p := own(m); {
	case p != nil:
		e.out = append(e.out, *p)
	case list != nil:
		e.out = append(e.out, sdk.SystemMessage(list))
	case text != "":
		e.out = append(e.out, sdk.SystemMessage(text))
	}
}

// textContent returns the content of a message that holds only text: a list, or a text that is new and alone, because
// every server takes a string.
func textContent(m *winnow.Message) (text string, list []textParam) {
	isNew := true
	for k := range m.Parts {
		p := &m.Parts[k]
		if !adapter.IsShown(p) {
			continue
		}
		if source, ok := p.Source.(*textParam); ok {
			list, isNew = append(list, *source), false
		} else {
			list = append(list, textParam{Text: adapter.TextOf(p)})
		}
	}
	if len(list) == 1 && isNew {
		return list[0].Text, nil
	}
	return "", list
}

func (e *exporter) user(m *winnow.Message) {
	if p := own(m); p != nil {
		e.out = append(e.out, *p)
		return
	}
	parts := make([]userPart, 0, len(m.Parts))
	plain := true // only new texts
	for k := range m.Parts {
		p := &m.Parts[k]
		if !adapter.IsShown(p) {
			continue
		}
		if source, ok := p.Source.(*userPart); ok {
			parts, plain = append(parts, *source), false
		} else {
			parts = append(parts, sdk.TextContentPart(adapter.TextOf(p)))
		}
	}
	var out union
	switch {
	case len(parts) == 0:
		return
	case len(parts) == 1 && plain: // every server takes a string
		out = sdk.UserMessage(parts[0].OfText.Text)
	default:
		out = sdk.UserMessage(parts)
	}
	if m.Speaker != "" {
		out.OfUser.Name = param.NewOpt(strings.Map(nameRune, m.Speaker))
	}
	e.out = append(e.out, out)
}

// nameRune returns r as the API takes it in the name of a person: without white space and the marks of a template.
func nameRune(r rune) rune {
	if unicode.IsSpace(r) || strings.ContainsRune(`<|\/>`, r) {
		return '_'
	}
	return r
}

// result adds a result. It may not hold images, which are kept for later.
func (e *exporter) result(m *winnow.Message) {
	id, _ := e.ids.Result(m.ToolCallID)
	if p := own(m); p != nil {
		e.ownResult(p, id)
		return
	}
	for k := range m.Parts {
		if image := imageOf(&m.Parts[k]); image != nil && !e.alternate {
			e.images = append(e.images, *image)
		}
	}
	if isFunctionID(m.ToolCallID) {
		e.out = append(e.out, sdk.ChatCompletionMessageParamOfFunction(adapter.Text(m.Parts), m.ToolName))
		return
	}
	if text, list := textContent(m); list != nil {
		e.out = append(e.out, sdk.ToolMessage(list, id))
	} else {
		e.out = append(e.out, sdk.ToolMessage(text, id)) // the field must be there, if only empty
	}
}

// imageOf returns the caller's value of an image, or nil.
func imageOf(p *winnow.Part) *userPart {
	if source, ok := p.Source.(*userPart); ok && source.OfImageURL != nil {
		return source
	}
	return nil
}

// ownResult adds a result of the caller with the id of its call.
func (e *exporter) ownResult(p *union, id string) {
	if read := readMessage(p); read != nil && read.OfTool != nil && read.OfTool.ToolCallID != id {
		e.out = append(e.out, edited[union](p, "tool_call_id", id))
	} else {
		e.out = append(e.out, *p)
	}
}

func (e *exporter) assistant(m *winnow.Message) {
	sent, stay := e.ids.Name(m)
	switch p := own(m); {
	case p != nil && !stay:
		e.out = append(e.out, withCallIDs(m, p, sent))
	case p == nil:
		if a := build(m, sent); !isEmpty(&a) {
			e.out = append(e.out, union{OfAssistant: &a})
		}
	case len(m.Parts) > 0 || hasEmptyContent(p): // the API refuses it without content and calls
		e.out = append(e.out, *p)
	}
}

// isEmpty reports whether a has neither content nor calls.
func isEmpty(a *sdk.ChatCompletionAssistantMessageParam) bool {
	hasContent := !param.IsOmitted(a.Content) || !param.IsOmitted(a.Refusal) || !param.IsOmitted(a.Audio)
	return !hasContent && len(a.ToolCalls) == 0 && !hasFunction(a)
}

// hasEmptyContent reports whether a message of the model has content without text, which models return and the API
// accepts.
func hasEmptyContent(p *union) bool {
	read := readMessage(p)
	if read == nil || read.OfAssistant == nil {
		return false
	}
	c := &read.OfAssistant.Content
	return c.OfString.Valid() || len(c.OfArrayOfContentParts) > 0
}

// withCallIDs returns the caller's message for m with the ids to send for its calls.
func withCallIDs(m *winnow.Message, own *union, sent []string) union {
	raw := adapter.Raw(own)
	call, at := 0, 0
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		if p.MediaType != functionCall {
			if id := sent[call]; id != p.ID {
				raw = edit(raw, "tool_calls."+strconv.Itoa(at)+".id", id)
			}
			at++
		}
		call++
	}
	return param.Override[union](raw)
}

// edited returns a value as JSON, with another text at a path.
func edited[T param.ParamStruct, P param.InferPtr[T]](v adapter.Param, path, text string) T {
	return param.Override[T, P](edit(adapter.Raw(v), path, text))
}

func edit(raw json.RawMessage, path, text string) json.RawMessage {
	out, err := sjson.SetBytes(slices.Clone(raw), path, text)
	if err != nil { // the paths are ours
		return raw
	}
	return out
}

// build builds an assistant message that cannot be sent unchanged.
func build(m *winnow.Message, sent []string) sdk.ChatCompletionAssistantMessageParam {
	var a sdk.ChatCompletionAssistantMessageParam
	call := 0
	var texts []assistantPart
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind == winnow.KindToolCall {
			addCall(&a, p, sent[call])
			call++
		} else {
			texts = content(&a, texts, p)
		}
	}
	switch {
	case len(texts) == 1 && texts[0].OfText != nil: // every server takes a string
		a.Content.OfString = param.NewOpt(texts[0].OfText.Text)
	case len(texts) > 0:
		a.Content.OfArrayOfContentParts = texts
	}
	return a
}

// content adds p to texts, or to its own field of a.
func content(a *sdk.ChatCompletionAssistantMessageParam, texts []assistantPart, p *winnow.Part) []assistantPart {
	if p.Kind == winnow.KindThinking {
		switch {
		case slices.Contains(reasoningKeys[:], p.MediaType):
			addExtra(a, p.MediaType, p.Text)
		case p.MediaType == reasoningDetails:
			addExtra(a, p.MediaType, json.RawMessage(p.Signature))
		}
		return texts
	}
	switch source := p.Source.(type) {
	case *param.Opt[string]:
		a.Refusal = *source
	case *sdk.ChatCompletionAssistantMessageParamAudio:
		a.Audio = *source
	case *assistantPart:
		return append(texts, *source)
	default:
		if !adapter.IsSilent(p) {
			return append(texts, assistantPart{OfText: &textParam{Text: adapter.TextOf(p)}})
		}
	}
	return texts
}

// addExtra adds a member that the SDK does not know.
func addExtra(a *sdk.ChatCompletionAssistantMessageParam, key string, value any) {
	extra := maps.Clone(a.ExtraFields())
	if extra == nil {
		extra = map[string]any{}
	}
	extra[key] = value
	a.SetExtraFields(extra)
}

// addCall adds a call with the id to send.
func addCall(a *sdk.ChatCompletionAssistantMessageParam, p *winnow.Part, id string) {
	name, arguments := adapter.Name(p.Name, 64, adapter.Letters), string(p.Arguments)
	source, _ := p.Source.(*toolCall)
	var c toolCall
	switch {
	case p.MediaType == functionCall:
		setFunction(a, name, arguments)
		return
	case source != nil && id == p.ID:
		c = *source
	case source != nil:
		c = edited[toolCall](source, "id", id)
	case p.MediaType == customCall:
		c.OfCustom = &sdk.ChatCompletionMessageCustomToolCallParam{ID: id}
		c.OfCustom.Custom.Name, c.OfCustom.Custom.Input = name, jsontext.Unquote(p.Arguments)
	default:
		c.OfFunction = &sdk.ChatCompletionMessageFunctionToolCallParam{ID: id}
		c.OfFunction.Function.Name, c.OfFunction.Function.Arguments = name, string(adapter.Object(p.Arguments))
		if signature, ok := strings.CutPrefix(p.Signature, googlePrefix); ok {
			c.OfFunction.SetExtraFields(withSignature(signature))
		}
	}
	a.ToolCalls = append(a.ToolCalls, c)
}
