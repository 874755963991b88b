package genai

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Import returns contents in winnow's form. A content with function responses becomes one message for each response,
// and one for the rest. The result holds the caller's pointers, whose values must not be changed while it is in use.
// Importing the same values again gives equal messages. A nil content or part is left out.
//
// What stands beside responses, or is nothing but reminders of an agent, is marked as no person's (Injected), unless
// nothing else could be the request. Afterwards the host may mark others, and messages that must survive (Pinned).
func Import(contents []*sdk.Content) []winnow.Message {
	im := importer{
		out: make([]winnow.Message, 0, len(contents)+len(contents)/4), parts: make([]winnow.Part, 0, 2*len(contents)),
		several: countSent(contents) > 1,
	}
	for _, c := range contents {
		if c != nil {
			im.add(c)
		}
	}
	adapter.EnsureImported(im.out)
	return im.out
}

// importer turns contents into messages. Parts share a few blocks of memory.
type importer struct {
	out   []winnow.Message
	parts []winnow.Part
	ids   madeIDs
	calls []openCall        // calls of the model's newest content
	model []winnow.Part     // the parts of that
	named map[string]string // the newest call without an id, by its tool

	several bool // more than one content is sent
}

// countSent counts the contents that hold something: Export leaves out the others.
func countSent(contents []*sdk.Content) (n int) {
	for _, c := range contents {
		if c != nil && slices.ContainsFunc(c.Parts, func(p *sdk.Part) bool { return p != nil && !isEmpty(p) }) {
			n++
		}
	}
	return n
}

// openCall is a call that may wait for its response.
type openCall struct {
	id, name string
	answered bool
}

func (im *importer) add(c *sdk.Content) {
	if c.Role == sdk.RoleModel {
		im.calls = im.calls[:0]
		m := im.message(winnow.RoleAssistant, c, nil, 0, 1)
		m.Parts = im.content(c)
		im.model = m.Parts
		return
	}
	responses, count, _ := adapter.ResultsIn(c.Parts, isResponse)
	first := len(im.out)
	for _, p := range c.Parts {
		if isResponse(p) {
			im.response(im.message(winnow.RoleTool, c, p, len(im.out)-first, count), p)
		}
	}
	adapter.InCallOrder[sdk.Content](im.out[first:], im.model)
	if responses < count {
		m := im.message(winnow.RoleUser, c, nil, responses, count)
		m.Parts = im.content(c)
		adapter.NoteWhose(m, responses > 0)
	}
}

func isResponse(p *sdk.Part) bool { return p != nil && p.FunctionResponse != nil }

// message adds a message that is a piece of a content.
func (im *importer) message(role winnow.Role, of *sdk.Content, block any, index, count int) *winnow.Message {
	im.out = append(im.out, winnow.Message{Role: role, Source: &adapter.Piece[sdk.Content]{
		Of: of, Block: block, Index: index, Count: count, First: len(im.out) == 0 && im.several,
	}})
	return &im.out[len(im.out)-1]
}

// content adds the parts of c except responses, and returns them.
func (im *importer) content(c *sdk.Content) []winnow.Part {
	begin := len(im.parts)
	for _, p := range c.Parts {
		if p != nil && p.FunctionResponse == nil {
			im.part(p)
		}
	}
	return im.parts[begin:len(im.parts):len(im.parts)]
}

func (im *importer) part(p *sdk.Part) {
	part := winnow.Part{Source: p}
	switch {
	case p.FunctionCall != nil:
		part.Kind, part.ID, part.Name = winnow.KindToolCall, p.FunctionCall.ID, p.FunctionCall.Name
		if len(p.FunctionCall.Args) > 0 {
			part.Arguments = adapter.Arguments(p.FunctionCall.Args)
		}
	case p.InlineData != nil:
		part = inline(p.InlineData.MIMEType, p.InlineData.Data, p)
	case p.FileData != nil:
		part = media(p.FileData.MIMEType, p)
	case p.ExecutableCode != nil:
		part.Kind, part.Bytes = winnow.KindOpaque, len(p.ExecutableCode.Code)
		part.ID, part.Name = cmp.Or(p.ExecutableCode.ID, code), code
	case p.CodeExecutionResult != nil:
		part.Kind, part.Bytes = winnow.KindOpaque, len(p.CodeExecutionResult.Output)
		part.ID = cmp.Or(p.CodeExecutionResult.ID, code)
	case p.ToolCall != nil:
		part.Kind, part.Bytes = winnow.KindOpaque, adapter.Size(p)
		part.Name = cmp.Or(string(p.ToolCall.ToolType), code)
		part.ID = cmp.Or(p.ToolCall.ID, part.Name)
	case p.ToolResponse != nil:
		part.Kind, part.Bytes = winnow.KindOpaque, adapter.Size(p)
		part.ID = cmp.Or(p.ToolResponse.ID, string(p.ToolResponse.ToolType), code)
	case p.AudioTranscription != nil:
		part.Kind, part.Bytes = winnow.KindOpaque, adapter.Size(p)
	case p.Thought:
		part.Kind, part.Text = winnow.KindThinking, p.Text
		if len(p.ThoughtSignature) > 0 {
			part.MediaType = thoughtSignature
		}
	case p.Text == "" && len(p.ThoughtSignature) > 0: // not empty: the signature counts
		part.Kind, part.Bytes = winnow.KindOpaque, base64.StdEncoding.EncodedLen(len(p.ThoughtSignature))
	default:
		part.Text = p.Text
	}
	if len(p.ThoughtSignature) > 0 {
		part.Signature = base64.StdEncoding.EncodeToString(p.ThoughtSignature)
	}
	if p.FunctionCall != nil {
		im.noteCall(&part)
	}
	im.parts = append(im.parts, part)
}

// code is the name of code that the API runs itself, and the ID of its pairs where the API gives none: each result then
// follows its code.
const code = "code"

// thoughtSignature is the MediaType of thinking that Gemini signed, so that no other adapter sends it as its own.
const thoughtSignature = "thought_signature"

// inline returns an image or other media whose data is sent.
func inline(mediaType string, data []byte, source any) winnow.Part {
	return adapter.MediaBytes(kindOf(mediaType), mediaType, data, source)
}

// media returns an image or other media of which only the type is known.
func media(mediaType string, source any) winnow.Part {
	return winnow.Part{Kind: kindOf(mediaType), MediaType: mediaType, Source: source}
}

func kindOf(mediaType string) winnow.Kind {
	if strings.HasPrefix(mediaType, "image/") {
		return winnow.KindImage
	}
	return winnow.KindOpaque
}

// noteCall remembers a call for its response. One without an id gets one that is never sent.
func (im *importer) noteCall(call *winnow.Part) {
	if call.ID == "" {
		call.ID = im.ids.next(call)
		if im.named == nil {
			im.named = map[string]string{}
		}
		im.named[call.Name] = call.ID
	}
	im.calls = append(im.calls, openCall{id: call.ID, name: call.Name})
}

// response fills m from a response. The Source of its text is the caller's part, so that it survives a repair that
// gives m the id of its call.
func (im *importer) response(m *winnow.Message, of *sdk.Part) {
	begin, r := len(im.parts), of.FunctionResponse
	text, isError := im.text(r.Response)
	m.ToolCallID, m.ToolName, m.IsError = im.answer(r), r.Name, isError
	if text != "" {
		im.parts = append(im.parts, winnow.Part{Text: text, Source: of})
	}
	for _, p := range r.Parts {
		if p == nil {
			continue
		}
		part := winnow.Part{Kind: winnow.KindOpaque, Source: p}
		switch {
		case p.InlineData != nil:
			part = inline(p.InlineData.MIMEType, p.InlineData.Data, p)
		case p.FileData != nil:
			part = media(p.FileData.MIMEType, p)
		}
		im.parts = append(im.parts, part)
	}
	m.Parts = im.parts[begin:len(im.parts):len(im.parts)]
}

// answer returns the id of the call that r answers: r's own id, else that of the first open call without an id that has
// r's name, else of the first such call with any name, else of the newest call of r's name without an id.
func (im *importer) answer(r *sdk.FunctionResponse) string {
	found := -1
	for i := range im.calls {
		c := &im.calls[i]
		switch {
		case c.answered || !c.mayMatch(r):
		case r.ID != "" || c.name == r.Name:
			c.answered = true
			return c.id
		case found < 0:
			found = i
		}
	}
	switch {
	case r.ID != "":
		return r.ID
	case found >= 0:
		im.calls[found].answered = true
		return im.calls[found].id
	}
	return im.named[r.Name] // another response to a call that has one
}

// mayMatch reports whether r has the id of the call, or neither has an id of the caller.
func (c *openCall) mayMatch(r *sdk.FunctionResponse) bool {
	if r.ID == "" {
		return isMade(c.id)
	}
	return r.ID == c.id
}

// text returns a response as text. The API's own keys are "output" and "error"; hosts also use "result".
func (im *importer) text(response map[string]any) (text string, isError bool) {
	if len(response) == 1 {
		for key, value := range response {
			s, ok := value.(string)
			if ok && (key == "output" || key == "result" || key == "error") {
				return s, key == "error"
			}
		}
	}
	if len(response) == 0 {
		return "", false
	}
	return string(adapter.Arguments(response)), false
}
