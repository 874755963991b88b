package genai

import (
	"strings"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// user adds the messages between two messages of the model: first the responses in one content, and then the rest.
func (e *exporter) user(run []winnow.Message) {
	joined, run := adapter.JoinResults[sdk.Content](run)
	if joined != nil {
		e.build(joined, e.answered(joined))
	}
	sent := e.answered(run)
	for i := 0; i < len(run); {
		of, n := adapter.Whole[sdk.Content](run[i:])
		if n > 0 && staysWhole(of, run[i:i+n], sent[i:]) {
			e.out = append(e.out, of)
		} else if n = max(n, 1); run[i].Role != winnow.RoleSystem {
			e.build(run[i:i+n], sent[i:])
		}
		i += n
	}
}

// answered returns the call that each response in run answers.
func (e *exporter) answered(run []winnow.Message) []sentCall {
	calls := make([]sentCall, len(run))
	for i := range run {
		m := &run[i]
		if m.Role != winnow.RoleTool {
			continue
		}
		id, call := e.ids.Result(m.ToolCallID)
		calls[i] = sentCall{id, m.ToolName}
		switch {
		case call >= 0:
			calls[i].name = e.calls[call].name
		case m.ToolCallID == "": // the API accepts it
			calls[i].id = ""
		}
		if calls[i].name == "" && call < 0 && ownResponse(m) == nil {
			calls[i].name = "unknown"
		}
	}
	return calls
}

// staysWhole reports whether the caller's content, whose pieces these are, is sent unchanged.
func staysWhole(of *sdk.Content, pieces []winnow.Message, sent []sentCall) bool {
	for i := range pieces {
		m := &pieces[i]
		if m.Role != winnow.RoleTool {
			continue
		}
		r := ownResponse(m)
		if sent[i].id != m.ToolCallID || r == nil || sent[i].name != r.Name {
			return false
		}
	}
	return isSendable(of.Parts)
}

// ownResponse returns the caller's response for m, or nil.
func ownResponse(m *winnow.Message) *sdk.FunctionResponse {
	p := adapter.PieceOf[sdk.Content](m)
	if p == nil {
		return nil
	}
	if part, ok := p.Block.(*sdk.Part); ok {
		return part.FunctionResponse
	}
	return nil
}

// build adds the content of messages: one content with responses and another with the images that it may not hold, or
// one with the user's words.
func (e *exporter) build(messages []winnow.Message, sent []sentCall) {
	var parts, images []*sdk.Part
	for i := range messages {
		m := &messages[i]
		if m.Role == winnow.RoleTool {
			parts = append(parts, responsePart(m, sent[i]))
			images = append(images, imagesOf(m)...)
		} else {
			parts = append(parts, userParts(m)...)
		}
	}
	for _, p := range [][]*sdk.Part{parts, images} {
		if len(p) > 0 {
			e.out = append(e.out, &sdk.Content{Role: sdk.RoleUser, Parts: p})
		}
	}
}

// userParts returns the content of a message of the user.
func userParts(m *winnow.Message) []*sdk.Part {
	parts := make([]*sdk.Part, 0, len(m.Parts))
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*sdk.Part)
		if r, ok := p.Source.(*sdk.FunctionResponsePart); ok && r.InlineData != nil {
			// of a response that is shown as a text of the host
			own = sdk.NewPartFromBytes(r.InlineData.Data, r.InlineData.MIMEType)
		}
		switch {
		case own != nil && !isEmpty(own):
			parts = append(parts, own)
		case own != nil:
		case adapter.IsShown(p):
			text := adapter.TextOf(p)
			if isMade(m.ToolCallID) { // a later response, which names its call
				text = strings.Replace(text, ", call "+m.ToolCallID, "", 1)
			}
			parts = append(parts, sdk.NewPartFromText(text))
		}
	}
	return parts
}

// responsePart returns the response of a call.
func responsePart(m *winnow.Message, call sentCall) *sdk.Part {
	id := call.id
	if isMade(id) {
		id = ""
	}
	if own := ownResponse(m); own != nil {
		part := adapter.PieceOf[sdk.Content](m).Block.(*sdk.Part)
		if call.id == m.ToolCallID && call.name == own.Name {
			return part
		}
		copied, r := *part, *own
		r.ID, r.Name = id, call.name
		copied.FunctionResponse = &r
		return &copied
	}
	if of := unchangedResponse(m); of != nil {
		copied, r := *of, *of.FunctionResponse
		r.ID, r.Name = id, call.name
		copied.FunctionResponse = &r
		return &copied
	}
	key := "output"
	if m.IsError {
		key = "error"
	}
	r := &sdk.FunctionResponse{ID: id, Name: call.name, Response: map[string]any{key: responseText(m)}}
	for k := range m.Parts {
		if own, ok := m.Parts[k].Source.(*sdk.FunctionResponsePart); ok {
			r.Parts = append(r.Parts, own)
		}
	}
	return &sdk.Part{FunctionResponse: r}
}

// unchangedResponse returns the caller's part behind all parts of a result, or nil.
func unchangedResponse(m *winnow.Message) *sdk.Part {
	if len(m.Parts) == 0 {
		return nil
	}
	of, ok := m.Parts[0].Source.(*sdk.Part)
	if !ok || of.FunctionResponse == nil || len(m.Parts) != 1+len(of.FunctionResponse.Parts) {
		return nil
	}
	for k, p := range of.FunctionResponse.Parts {
		if own, ok := m.Parts[1+k].Source.(*sdk.FunctionResponsePart); !ok || own != p {
			return nil
		}
	}
	return of
}

// responseText returns the texts of a result, with placeholders for parts without an SDK value.
func responseText(m *winnow.Message) string {
	texts := make([]winnow.Part, 0, len(m.Parts))
	for k := range m.Parts {
		p := &m.Parts[k]
		switch p.Source.(type) {
		case *sdk.FunctionResponsePart:
		default:
			texts = append(texts, winnow.Part{Text: adapter.TextOf(p)})
		}
	}
	return adapter.Text(texts)
}

// imagesOf returns the parts that a host put into a result but that not every model accepts in a response.
func imagesOf(m *winnow.Message) []*sdk.Part {
	var images []*sdk.Part
	for k := range m.Parts {
		if own, ok := m.Parts[k].Source.(*sdk.Part); ok && (own.InlineData != nil || own.FileData != nil) {
			images = append(images, own)
		}
	}
	return images
}
