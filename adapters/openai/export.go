package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/tidwall/sjson"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in the SDK's form. Messages and parts that were not changed since [Import] are the caller's
// own values; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
func Export(messages []winnow.Message) []sdk.ChatCompletionMessageParamUnion {
	return Rules{}.Export(messages)
}

// maxCallID is the longest id of a call, in characters.
const maxCallID = 40

// all exports messages.
func (e *exporter) all(messages []winnow.Message) {
	for i := 0; i < len(messages); {
		if adapter.IsAssistant(&messages[i]) {
			e.assistant(&messages[i])
			i++
			continue
		}
		end := i
		for end < len(messages) && !adapter.IsAssistant(&messages[end]) {
			end++
		}
		e.between(messages[i:end])
		i = end
	}
}

// exporter makes the SDK's messages.
type exporter struct {
	out    []sdk.ChatCompletionMessageParamUnion
	ids    adapter.CallIDs
	sent   []string                                  // ids to send for the current calls
	images []sdk.ChatCompletionContentPartUnionParam // of results

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
func own(m *winnow.Message) *sdk.ChatCompletionMessageParamUnion {
	p, _ := m.Source.(*sdk.ChatCompletionMessageParamUnion)
	if p == nil || (len(m.Parts) > 0 || m.Role == winnow.RoleTool) && hasEmptyText(p) {
		return nil
	}
	return p
}

// hasEmptyText reports whether a list of content has an empty text, which is no part of the message. Some servers
// refuse it, and gateways pass it on to them.
func hasEmptyText(p *sdk.ChatCompletionMessageParamUnion) bool {
	if raw := rawMessage(p); raw != nil {
		if !bytes.Contains(raw, []byte(`"text"`)) { // not in a list
			return false
		}
		if p = readMessage(p); p == nil {
			return false
		}
	}
	var texts []textParam
	switch {
	case p.OfUser != nil:
		list := p.OfUser.Content.OfArrayOfContentParts
		return slices.ContainsFunc(list, func(c userPart) bool { return isEmptyText(c.OfText, &c, &c) })
	case p.OfAssistant != nil:
		list := p.OfAssistant.Content.OfArrayOfContentParts
		return slices.ContainsFunc(list, func(c assistantPart) bool { return isEmptyText(c.OfText, &c, &c) })
	case p.OfTool != nil:
		texts = p.OfTool.Content.OfArrayOfContentParts
	case p.OfSystem != nil:
		texts = p.OfSystem.Content.OfArrayOfContentParts
	case p.OfDeveloper != nil:
		texts = p.OfDeveloper.Content.OfArrayOfContentParts
	}
	return slices.ContainsFunc(texts, func(c textParam) bool { return isEmptyText(&c, &c, &c) })
}

// isEmptyText reports whether an element of a list, v, is a text that is empty.
func isEmptyText(text *textParam, s param.ParamStruct, v json.Marshaler) bool {
	if text != nil {
		s = text
	}
	if raw := rawOf(s, v); raw != nil {
		p := partOf(raw, nil)
		return p.Kind == winnow.KindText && p.Text == ""
	}
	return text != nil && text.Text == ""
}

func (e *exporter) system(m *winnow.Message) {
	if p := own(m); p != nil {
		e.out = append(e.out, *p)
	} else if parts := textParts(m); len(parts) == 1 &&
		parts[0] == (sdk.ChatCompletionContentPartTextParam{Text: parts[0].Text}) {
		e.out = append(e.out, sdk.SystemMessage(parts[0].Text))
	} else if len(parts) > 0 {
		e.out = append(e.out, sdk.SystemMessage(parts))
	}
}

// textParts returns the content of a message that holds only text.
func textParts(m *winnow.Message) []sdk.ChatCompletionContentPartTextParam {
	var parts []sdk.ChatCompletionContentPartTextParam
	for k := range m.Parts {
		p := &m.Parts[k]
		if adapter.IsSilent(p) || p.Kind == winnow.KindThinking || p.Kind == winnow.KindToolCall {
			continue
		}
		switch source := p.Source.(type) {
		case *sdk.ChatCompletionContentPartTextParam:
			parts = append(parts, *source)
		default:
			parts = append(parts, sdk.ChatCompletionContentPartTextParam{Text: textOf(p)})
		}
	}
	return parts
}

// textOf returns the text of a part, or a placeholder if it has none.
func textOf(p *winnow.Part) string {
	if p.Kind == winnow.KindText {
		return p.Text
	}
	return adapter.Placeholder(p)
}

func (e *exporter) user(m *winnow.Message) {
	if p := own(m); p != nil {
		e.out = append(e.out, *p)
		return
	}
	parts := make([]sdk.ChatCompletionContentPartUnionParam, 0, len(m.Parts))
	plain := true // only new texts
	for k := range m.Parts {
		p := &m.Parts[k]
		if adapter.IsSilent(p) || p.Kind == winnow.KindThinking || p.Kind == winnow.KindToolCall {
			continue
		}
		if source, ok := p.Source.(*sdk.ChatCompletionContentPartUnionParam); ok {
			parts, plain = append(parts, *source), false
		} else {
			parts = append(parts, sdk.TextContentPart(textOf(p)))
		}
	}
	switch {
	case len(parts) == 0:
	case len(parts) == 1 && plain: // every server takes a string
		e.out = append(e.out, sdk.UserMessage(parts[0].OfText.Text))
	default:
		e.out = append(e.out, sdk.UserMessage(parts))
	}
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
	switch parts := textParts(m); {
	case len(parts) == 0: // the field must be there
		e.out = append(e.out, sdk.ToolMessage("", id))
	case len(parts) == 1 && !hasOwnText(m.Parts): // every server takes a string
		e.out = append(e.out, sdk.ToolMessage(parts[0].Text, id))
	default:
		e.out = append(e.out, sdk.ToolMessage(parts, id))
	}
}

// hasOwnText reports whether parts have a text of the caller. Texts from another adapter do not count.
func hasOwnText(parts []winnow.Part) bool {
	return slices.ContainsFunc(parts, func(p winnow.Part) bool {
		_, ok := p.Source.(*sdk.ChatCompletionContentPartTextParam)
		return ok
	})
}

// imageOf returns the caller's value of an image, or nil.
func imageOf(p *winnow.Part) *sdk.ChatCompletionContentPartUnionParam {
	if source, ok := p.Source.(*sdk.ChatCompletionContentPartUnionParam); ok && source.OfImageURL != nil {
		return source
	}
	return nil
}

// ownResult adds a result of the caller with the id of its call.
func (e *exporter) ownResult(p *sdk.ChatCompletionMessageParamUnion, id string) {
	read := readMessage(p)
	if read == nil || read.OfTool == nil || read.OfTool.ToolCallID == id {
		e.out = append(e.out, *p)
		return
	}
	if raw := rawMessage(p); raw != nil {
		e.out = append(e.out, edited[sdk.ChatCompletionMessageParamUnion](raw, "tool_call_id", id))
		return
	}
	result := *read.OfTool
	result.ToolCallID = id
	e.out = append(e.out, sdk.ChatCompletionMessageParamUnion{OfTool: &result})
}

func (e *exporter) assistant(m *winnow.Message) {
	stay := e.nameCalls(m)
	p := own(m)
	if p != nil && stay {
		if len(m.Parts) > 0 || hasEmptyContent(p) { // the API refuses it without content and calls
			e.out = append(e.out, *p)
		}
		return
	}
	if p != nil {
		if raw := rawMessage(p); raw != nil {
			e.out = append(e.out, e.withCallIDs(m, raw))
			return
		}
	}
	a := e.build(m)
	if isEmpty(&a) {
		return
	}
	e.out = append(e.out, sdk.ChatCompletionMessageParamUnion{OfAssistant: &a})
}

// isEmpty reports whether a has neither content nor calls.
func isEmpty(a *sdk.ChatCompletionAssistantMessageParam) bool {
	hasContent := !param.IsOmitted(a.Content) || !param.IsOmitted(a.Refusal) || !param.IsOmitted(a.Audio)
	return !hasContent && len(a.ToolCalls) == 0 && !hasFunction(a)
}

// hasEmptyContent reports whether a message of the model has content without text, which models return and the API
// accepts.
func hasEmptyContent(p *sdk.ChatCompletionMessageParamUnion) bool {
	read := readMessage(p)
	if read == nil || read.OfAssistant == nil {
		return false
	}
	c := &read.OfAssistant.Content
	return c.OfString.Valid() || len(c.OfArrayOfContentParts) > 0
}

// withCallIDs returns a message that is given as JSON, with the ids to send for its calls.
func (e *exporter) withCallIDs(m *winnow.Message, raw json.RawMessage) sdk.ChatCompletionMessageParamUnion {
	call, at := 0, 0
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			continue
		}
		if p.MediaType != functionCall {
			if id := e.sent[call]; id != p.ID {
				raw = edit(raw, "tool_calls."+strconv.Itoa(at)+".id", id)
			}
			at++
		}
		call++
	}
	return param.Override[sdk.ChatCompletionMessageParamUnion](raw)
}

// edited returns a value that is given as JSON, with another text at a path.
func edited[T param.ParamStruct, P param.InferPtr[T]](raw json.RawMessage, path, text string) T {
	return param.Override[T, P](edit(raw, path, text))
}

func edit(raw json.RawMessage, path, text string) json.RawMessage {
	out, err := sjson.SetBytes(append([]byte{}, raw...), path, text)
	if err != nil { // the paths are ours
		return raw
	}
	return out
}

// nameCalls decides the ids of m's calls. It reports whether all of them stay unchanged.
func (e *exporter) nameCalls(m *winnow.Message) bool {
	e.ids.Message()
	e.sent = e.sent[:0]
	stay := true
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
			id := e.ids.Call(p.ID)
			e.sent = append(e.sent, id)
			stay = stay && id == p.ID
		}
	}
	return stay
}

// build builds an assistant message that cannot be sent unchanged.
func (e *exporter) build(m *winnow.Message) sdk.ChatCompletionAssistantMessageParam {
	var a sdk.ChatCompletionAssistantMessageParam
	if p := own(m); p != nil { // only ids differ: the rest stays
		if read := readMessage(p); read != nil && read.OfAssistant != nil {
			a = *read.OfAssistant
			a.ToolCalls = nil
		}
	}
	call, whole := 0, own(m) != nil
	var texts []sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind == winnow.KindToolCall {
			e.call(&a, p, e.sent[call])
			call++
		} else if !whole {
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
func content(a *sdk.ChatCompletionAssistantMessageParam,
	texts []sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion,
	p *winnow.Part) []sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion {
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
	case *sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion:
		return append(texts, *source)
	default:
		if !adapter.IsSilent(p) {
			return append(texts, sdk.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion{
				OfText: &sdk.ChatCompletionContentPartTextParam{Text: textOf(p)},
			})
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

// call adds a call with the id to send.
func (e *exporter) call(a *sdk.ChatCompletionAssistantMessageParam, p *winnow.Part, id string) {
	name, arguments := adapter.Name(p.Name, 64, adapter.Letters), string(p.Arguments)
	source, _ := p.Source.(*sdk.ChatCompletionMessageToolCallUnionParam)
	var c sdk.ChatCompletionMessageToolCallUnionParam
	switch {
	case p.MediaType == functionCall:
		setFunction(a, name, arguments)
		return
	case source != nil && id == p.ID:
		c = *source
	case source != nil && rawOf(source, source) != nil:
		c = edited[toolCall](rawOf(source, source), "id", id)
	case source != nil && source.OfFunction != nil:
		call := *source.OfFunction
		call.ID = id
		c.OfFunction = &call
	case source != nil && source.OfCustom != nil:
		call := *source.OfCustom
		call.ID = id
		c.OfCustom = &call
	case p.MediaType == customCall:
		c.OfCustom = &sdk.ChatCompletionMessageCustomToolCallParam{ID: id}
		c.OfCustom.Custom.Name, c.OfCustom.Custom.Input = name, adapter.TextOf(p.Arguments)
	default:
		c.OfFunction = &sdk.ChatCompletionMessageFunctionToolCallParam{ID: id}
		c.OfFunction.Function.Name, c.OfFunction.Function.Arguments = name, string(adapter.Object(p.Arguments))
		if signature, ok := strings.CutPrefix(p.Signature, googlePrefix); ok {
			c.OfFunction.SetExtraFields(withSignature(signature))
		}
	}
	a.ToolCalls = append(a.ToolCalls, c)
}
