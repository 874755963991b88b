package openai

import (
	sdk "github.com/openai/openai-go/v3"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Import returns messages in winnow's form, one for each. The Source of a message is the pointer to the caller's value,
// which must not be changed while the message is in use. Importing the same values again gives equal messages.
//
// A message of nothing but reminders of an agent is marked as no person's (Injected). Afterwards the host may mark others,
// messages that must survive (Pinned) and results that are errors (IsError), for which the API has no field.
func Import(messages []sdk.ChatCompletionMessageParamUnion) []winnow.Message {
	im := importer{out: make([]winnow.Message, 0, len(messages)), parts: make([]winnow.Part, 0, 2*len(messages))}
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
	functions int  // number of function calls so far, which have no id
	hollow    bool // the message has an empty text in a list
}

// hollow is the Source of a message with an empty text in a list of content, which is no part of it. Some servers
// refuse that, and gateways pass it on to them: the message is built anew.
type hollow struct{ *union }

// customCall marks a call whose input is a text in MediaType, so that it is sent back as such even if its
// Source is gone.
const customCall = "custom"

func (im *importer) add(of *union) {
	begin := len(im.parts)
	im.hollow = false
	m := winnow.Message{Source: of}
	switch read := readMessage(of); {
	case read == nil || read.GetRole() == nil:
		m.Role, m.Injected = winnow.RoleUser, true
		im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Bytes: len(adapter.Raw(of))})
	case read.OfSystem != nil:
		m.Role = winnow.RoleSystem
		im.texts(read.OfSystem.Content.OfString.Value, read.OfSystem.Content.OfArrayOfContentParts)
	case read.OfDeveloper != nil:
		m.Role = winnow.RoleSystem
		im.texts(read.OfDeveloper.Content.OfString.Value, read.OfDeveloper.Content.OfArrayOfContentParts)
	case read.OfUser != nil:
		m.Role, m.Speaker = winnow.RoleUser, read.OfUser.Name.Value
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
	if m.Role == winnow.RoleUser && !m.Injected {
		adapter.NoteWhose(&m, false)
	}
	if im.hollow && (len(m.Parts) > 0 || m.Role == winnow.RoleTool) {
		m.Source = hollow{of}
	}
	im.out = append(im.out, m)
}

// text adds a text, unless it is empty, which makes no difference.
func (im *importer) text(s string, source any) {
	if s != "" {
		im.parts = append(im.parts, winnow.Part{Text: s, Source: source})
	}
}

func (im *importer) texts(s string, list []textParam) {
	im.text(s, nil)
	for k := range list {
		if c := &list[k]; adapter.IsTyped(c) {
			im.element(winnow.Part{Text: c.Text, Source: c})
		} else {
			im.element(partOf(adapter.Raw(c), c))
		}
	}
}

// element adds an element of a list, unless it is an empty text.
func (im *importer) element(p winnow.Part) {
	if p.Kind == winnow.KindText && p.Text == "" {
		im.hollow = true
		return
	}
	im.parts = append(im.parts, p)
}

func (im *importer) userPart(c *userPart) {
	switch {
	case c.OfText != nil && adapter.IsTyped(c.OfText):
		im.element(winnow.Part{Text: c.OfText.Text, Source: c})
	case c.OfImageURL != nil && adapter.IsTyped(c.OfImageURL):
		im.element(adapter.Media(winnow.KindImage, "", c.OfImageURL.ImageURL.URL, c))
	default:
		im.element(partOf(adapter.Raw(c), c))
	}
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
		if c.OfText != nil && adapter.IsTyped(c.OfText) {
			im.element(winnow.Part{Text: c.OfText.Text, Source: c})
		} else {
			im.element(partOf(adapter.Raw(c), c))
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

func callPart(c *toolCall) winnow.Part {
	f := c.OfFunction
	if f == nil || !adapter.IsTyped(f) {
		return callOf(adapter.Raw(c), c)
	}
	return winnow.Part{
		Kind: winnow.KindToolCall, ID: f.ID, Name: f.Function.Name, Arguments: []byte(f.Function.Arguments),
		Signature: thoughtSignature(extraJSON(f.ExtraFields(), extraContent)), Source: c,
	}
}
