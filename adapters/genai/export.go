package genai

import (
	"encoding/base64"
	"encoding/json"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Export returns messages in the SDK's form. Contents and parts that were not changed since [Import] are the caller's
// own pointers; the package documentation has the rules for the others. Without changes Export returns exactly what
// Import got.
//
// System messages are left out: [ExportSystem] returns them.
func Export(messages []winnow.Message) []*sdk.Content { return ExportFor("", messages) }

// ExportFor is [Export] for a model, by its name. Gemini 3 refuses the calls of an open turn that have no thought
// signature: those that an older model, a model of another provider or the host made. ExportFor gives them the
// placeholder that Google documents. Older models get none, and Export gives one only to calls that did not come from
// Gemini's API.
func ExportFor(model string, messages []winnow.Message) []*sdk.Content {
	e := export(messages)
	switch major := majorOf(model); {
	case major == 0:
		e.sign(func(call *sdk.Part) bool { return e.foreign[call] })
	case major >= firstStrict:
		e.sign(func(*sdk.Part) bool { return true })
	}
	return e.out
}

func export(messages []winnow.Message) *exporter {
	e := exporter{out: make([]*sdk.Content, 0, len(messages))}
	e.ids.Rule = adapter.IDRule{MaxLength: 64, Byte: adapter.Letters}
	for run := range adapter.Runs(messages) {
		if adapter.IsAssistant(&run[0]) {
			e.model(&run[0])
		} else {
			e.user(run)
		}
	}
	return &e
}

// exporter makes the contents.
type exporter struct {
	out   []*sdk.Content
	ids   adapter.CallIDs
	calls []sentCall // calls of the model's newest message

	foreign map[*sdk.Part]bool // calls that did not come from Gemini's API
}

// sentCall is the id and name of a sent call, which its response has to repeat.
type sentCall struct{ id, name string }

func (e *exporter) model(m *winnow.Message) {
	p := adapter.PieceOf[sdk.Content](m)
	stay, calls := e.nameCalls(m)
	var content *sdk.Content
	if p != nil && stay && isSendable(p.Of.Parts) {
		content = p.Of
	} else {
		content = &sdk.Content{Role: sdk.RoleModel, Parts: e.modelParts(m)}
	}
	if len(content.Parts) == 0 {
		return
	}
	if calls {
		content = e.joinModel(content)
	}
	if len(e.out) == 0 && (p == nil || !p.First || calls) {
		e.out = append(e.out, sdk.NewContentFromText(adapter.Opening, sdk.RoleUser))
	}
	e.out = append(e.out, content)
}

// joinModel joins the model's trailing contents with content, which has calls, because calls have to follow the user.
func (e *exporter) joinModel(content *sdk.Content) *sdk.Content {
	first := len(e.out)
	for first > 0 && e.out[first-1].Role == sdk.RoleModel {
		first--
	}
	if first == len(e.out) {
		return content
	}
	joined := *e.out[first]
	joined.Parts = nil
	for _, c := range e.out[first:] {
		joined.Parts = append(joined.Parts, c.Parts...)
	}
	joined.Parts = append(joined.Parts, content.Parts...)
	e.out = e.out[:first]
	return &joined
}

// nameCalls decides the ids of m's calls. It reports whether all of them stay unchanged, and whether m has calls.
func (e *exporter) nameCalls(m *winnow.Message) (stay, calls bool) {
	sent, stay := e.ids.Name(m)
	e.calls = e.calls[:0]
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
			e.calls = append(e.calls, sentCall{sent[len(e.calls)], callName(p)})
		}
	}
	return stay, len(e.calls) > 0
}

// callName returns the name to send for a call.
func callName(p *winnow.Part) string {
	if own, ok := p.Source.(*sdk.Part); ok && own.FunctionCall != nil {
		return own.FunctionCall.Name
	}
	return adapter.Name(p.Name, 64, func(c byte) bool { return adapter.Letters(c) || c == '.' || c == ':' })
}

// isSendable reports whether there are parts, and none of them is empty.
func isSendable(parts []*sdk.Part) bool {
	for _, p := range parts {
		if p == nil || isEmpty(p) {
			return false
		}
	}
	return len(parts) > 0
}

// isEmpty reports whether p holds nothing that the API knows.
func isEmpty(p *sdk.Part) bool {
	return p.Text == "" && len(p.ThoughtSignature) == 0 && p.FunctionCall == nil && p.FunctionResponse == nil &&
		p.InlineData == nil && p.FileData == nil && p.ExecutableCode == nil && p.CodeExecutionResult == nil &&
		p.ToolCall == nil && p.ToolResponse == nil && p.AudioTranscription == nil
}

// modelParts builds the content of a message of the model that cannot be sent unchanged.
func (e *exporter) modelParts(m *winnow.Message) []*sdk.Part {
	parts := make([]*sdk.Part, 0, len(m.Parts))
	call := 0
	for k := range m.Parts {
		p := &m.Parts[k]
		own, _ := p.Source.(*sdk.Part)
		switch {
		case p.Kind == winnow.KindToolCall:
			sent := callPart(p, own, e.calls[call].id)
			if own == nil && !isMade(p.ID) { // Import makes the ids of Gemini's calls
				if e.foreign == nil {
					e.foreign = map[*sdk.Part]bool{}
				}
				e.foreign[sent] = true
			}
			parts = append(parts, sent)
			call++
		case own != nil && isEmpty(own):
		case own != nil:
			parts = append(parts, own)
		case p.Kind == winnow.KindOpaque && signature(p) != nil:
			parts = append(parts, &sdk.Part{ThoughtSignature: signature(p)})
		case p.Kind == winnow.KindThinking: // the API ignores thoughts, but reads its own signatures
		case adapter.IsSilent(p) && p.Signature == "": // a signature stays
		default:
			parts = append(parts, &sdk.Part{Text: adapter.TextOf(p), ThoughtSignature: signature(p)})
		}
	}
	return parts
}

// signature returns the thought signature of a text or a call. Only Import sets it.
func signature(p *winnow.Part) []byte {
	if p.Signature == "" || p.MediaType == winnow.MediaCompaction { // of another provider
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(p.Signature)
	if err != nil {
		return nil
	}
	return b
}

// callPart returns a call with the id to send. If the caller's call has no id, neither does this one.
func callPart(p *winnow.Part, own *sdk.Part, id string) *sdk.Part {
	if own != nil {
		if id == p.ID {
			return own
		}
		part, call := *own, *own.FunctionCall
		call.ID = id
		part.FunctionCall = &call
		return &part
	}
	if isMade(id) {
		id = ""
	}
	return &sdk.Part{
		FunctionCall:     &sdk.FunctionCall{ID: id, Name: callName(p), Args: object(p.Arguments)},
		ThoughtSignature: signature(p),
	}
}

// object returns arguments in the SDK's form. Numbers keep their spelling.
func object(arguments json.RawMessage) map[string]any {
	v, _ := adapter.Decode(adapter.Object(arguments))
	m, _ := v.(map[string]any)
	return m
}
