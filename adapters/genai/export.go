package genai

import (
	"encoding/json"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Export returns messages in the SDK's form. Contents that were not changed since [Import] are the caller's own
// pointers; the package documentation has the rules for the others. Without changes Export returns exactly what Import
// got.
//
// System messages are left out: [ExportSystem] returns them.
func Export(messages []winnow.Message) []*sdk.Content { return ExportFor("", messages) }

// ExportFor is [Export] for a model, by its name. Gemini 3 refuses the calls of an open turn that have no thought
// signature: those that an older model, a model of another provider or the host made. ExportFor gives them the
// placeholder that Google documents. Older models get none, and Export gives one only to calls that did not come from
// Gemini's API.
func ExportFor(model string, messages []winnow.Message) []*sdk.Content {
	b := wire.ContentBuilder{Given: given}
	b.Build(messages)
	if major := majorOf(model); major == 0 || major >= firstStrict {
		b.Sign(placeholder, major > 0)
	}
	return wire.Export(b.Contents(), typed)
}

// typed decodes a content. The numbers of arguments keep their spelling.
func typed(text json.RawMessage) (*sdk.Content, error) {
	var c sdk.Content
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	for i, p := range jsonedit.Value(text).Get("parts").Elements() {
		if args := p.Get("functionCall.args"); args.IsObject() {
			v, err := adapter.Decode(args)
			if err != nil {
				return nil, err
			}
			c.Parts[i].FunctionCall.Args, _ = v.(map[string]any)
		}
	}
	return &c, nil
}
