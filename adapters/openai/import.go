package openai

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Import returns messages in winnow's form, one for each. The Source of a message is the pointer to the caller's value,
// which must not be changed while the message is in use. Importing the same values again gives equal messages.
//
// Afterwards the host may mark messages that no person wrote (Injected), messages that must survive (Pinned) and
// results that are errors (IsError), for which the API has no field.
func Import(messages []sdk.ChatCompletionMessageParamUnion) []winnow.Message {
	var im importer
	im.reserve(messages)
	for i := range messages {
		im.add(&messages[i])
	}
	return im.out
}

// importer turns messages into winnow's. Parts share one block of memory.
type importer struct {
	out       []winnow.Message
	parts     []winnow.Part
	names     adapter.ToolNames
	functions int // number of function calls so far, which have no id
}

// reserve makes room for the imported messages.
func (im *importer) reserve(messages []sdk.ChatCompletionMessageParamUnion) {
	parts := 0
	for i := range messages {
		parts++
		switch m := &messages[i]; {
		case m.OfAssistant != nil:
			parts += len(m.OfAssistant.ToolCalls) + len(m.OfAssistant.Content.OfArrayOfContentParts) + 1
		case m.OfUser != nil:
			parts += len(m.OfUser.Content.OfArrayOfContentParts)
		case m.OfTool != nil:
			parts += len(m.OfTool.Content.OfArrayOfContentParts)
		}
	}
	im.out = make([]winnow.Message, 0, len(messages))
	im.parts = make([]winnow.Part, 0, parts)
}

// customCall marks a call whose input is a text in MediaType, so that it is sent back as such even if its
// Source is gone.
const customCall = "custom"

func (im *importer) add(of *sdk.ChatCompletionMessageParamUnion) {
	begin := len(im.parts)
	m := winnow.Message{Source: of}
	switch read := readMessage(of); {
	case read == nil || read.GetRole() == nil:
		m.Role, m.Injected = winnow.RoleUser, true
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Bytes: jsonSize(of)})
	case read.OfSystem != nil:
		m.Role = winnow.RoleSystem
		im.texts(read.OfSystem.Content.OfString.Value, read.OfSystem.Content.OfArrayOfContentParts)
	case read.OfDeveloper != nil:
		m.Role = winnow.RoleSystem
		im.texts(read.OfDeveloper.Content.OfString.Value, read.OfDeveloper.Content.OfArrayOfContentParts)
	case read.OfUser != nil:
		m.Role = winnow.RoleUser
		im.text(read.OfUser.Content.OfString.Value, nil)
		for k := range read.OfUser.Content.OfArrayOfContentParts {
			im.userPart(&read.OfUser.Content.OfArrayOfContentParts[k])
		}
	case read.OfAssistant != nil:
		m.Role = winnow.RoleAssistant
		im.assistant(read.OfAssistant)
		im.names.Add(im.parts[begin:])
	case read.OfTool != nil:
		m.Role, m.ToolCallID, m.ToolName = winnow.RoleTool, read.OfTool.ToolCallID, im.names.Of(read.OfTool.ToolCallID)
		im.texts(read.OfTool.Content.OfString.Value, read.OfTool.Content.OfArrayOfContentParts)
	case read.OfFunction != nil:
		m.Role, m.ToolName = winnow.RoleTool, read.OfFunction.Name
		if im.functions > 0 { // otherwise its call was imported separately: a repair pairs them by name
			m.ToolCallID = functionID(im.functions)
		}
		im.text(read.OfFunction.Content.Value, nil)
	}
	m.Parts = im.parts[begin:len(im.parts):len(im.parts)]
	im.out = append(im.out, m)
}

// text adds a text, unless it is empty, which makes no difference.
func (im *importer) text(s string, source any) {
	if s != "" {
		im.parts = append(im.parts, winnow.Part{Text: s, Source: source})
	}
}

func (im *importer) texts(s string, list []sdk.ChatCompletionContentPartTextParam) {
	im.text(s, nil)
	for k := range list {
		if raw := rawOf(list[k], list[k]); raw != nil {
			im.part(partOf(raw, &list[k]))
		} else {
			im.text(list[k].Text, &list[k])
		}
	}
}

// part adds a part that was read from JSON, unless it is an empty text.
func (im *importer) part(p winnow.Part) {
	if p.Kind != winnow.KindText || p.Text != "" {
		im.parts = append(im.parts, p)
	}
}

func (im *importer) userPart(c *sdk.ChatCompletionContentPartUnionParam) {
	var s param.ParamStruct = c
	if c.OfText != nil {
		s = c.OfText
	}
	if raw := rawOf(s, c); raw != nil {
		im.part(partOf(raw, c))
		return
	}
	p := winnow.Part{Source: c}
	switch {
	case c.OfText != nil:
		im.text(c.OfText.Text, c)
		return
	case c.OfImageURL != nil:
		p.Kind, p.Bytes = winnow.KindImage, len(c.OfImageURL.ImageURL.URL)
		p.MediaType = adapter.DataURLType(c.OfImageURL.ImageURL.URL)
		adapter.Measure(&p, c.OfImageURL.ImageURL.URL)
	case c.OfInputAudio != nil:
		p.Kind, p.MediaType = winnow.KindOpaque, "audio/"+string(c.OfInputAudio.InputAudio.Format)
		p.Bytes = len(c.OfInputAudio.InputAudio.Data)
		adapter.Measure(&p, c.OfInputAudio.InputAudio.Data)
	case c.OfFile != nil:
		p.Kind, p.MediaType = winnow.KindOpaque, adapter.DataURLType(c.OfFile.File.FileData.Value)
		p.Bytes = len(c.OfFile.File.FileData.Value)
		adapter.Measure(&p, c.OfFile.File.FileData.Value)
	default:
		p.Kind, p.Bytes = winnow.KindOpaque, jsonSize(c)
	}
	im.parts = append(im.parts, p)
}

func (im *importer) assistant(a *sdk.ChatCompletionAssistantMessageParam) {
	if key, text := reasoningOf(a); text != "" {
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindThinking, Text: text, MediaType: key})
	}
	if raw := extraJSON(a.ExtraFields(), reasoningDetails); len(raw) > len("[]") {
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindThinking, Signature: string(raw),
			MediaType: reasoningDetails})
	}
	im.text(a.Content.OfString.Value, nil)
	for k := range a.Content.OfArrayOfContentParts {
		c := &a.Content.OfArrayOfContentParts[k]
		if c.OfRefusal != nil {
			im.text(c.OfRefusal.Refusal, c)
		} else if c.OfText != nil {
			im.text(c.OfText.Text, c)
		} else {
			im.part(partOf(rawOf(c, c), c))
		}
	}
	im.text(a.Refusal.Value, &a.Refusal)
	if a.Audio.ID != "" {
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Name: a.Audio.ID, Source: &a.Audio})
	}
	if hasFunction(a) {
		im.functions++
		im.parts = append(im.parts, functionPart(a, im.functions))
	}
	for k := range a.ToolCalls {
		im.parts = append(im.parts, callPart(&a.ToolCalls[k]))
	}
}

func callPart(c *sdk.ChatCompletionMessageToolCallUnionParam) winnow.Part {
	if raw := rawOf(c, c); raw != nil {
		return callOf(raw, c)
	}
	p := winnow.Part{Kind: winnow.KindToolCall, Source: c}
	switch {
	case c.OfFunction != nil:
		p.ID, p.Name, p.Arguments = c.OfFunction.ID, c.OfFunction.Function.Name, []byte(c.OfFunction.Function.Arguments)
		p.Signature = thoughtSignature(extraJSON(c.OfFunction.ExtraFields(), extraContent))
	case c.OfCustom != nil:
		p.ID, p.Name, p.MediaType = c.OfCustom.ID, c.OfCustom.Custom.Name, customCall
		p.Arguments = adapter.JSONText(c.OfCustom.Custom.Input)
	}
	return p
}

// jsonSize returns how many bytes are sent for v. It is only for rare content.
func jsonSize(v interface{ MarshalJSON() ([]byte, error) }) int {
	b, err := v.MarshalJSON()
	if err != nil {
		return 0
	}
	return len(b)
}
