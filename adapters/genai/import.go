package genai

import (
	"encoding/json"
	"slices"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Import returns contents in winnow's form. A content with function responses becomes one message for each response,
// and one for the rest. The result holds the caller's pointers, whose values must not be changed while it is in use.
// Importing the same values again gives equal messages. A nil content or part is left out.
//
// What stands beside responses, or is nothing but reminders of an agent, is marked as no person's (Injected), unless
// nothing else could be the request. Afterwards the host may mark others, and messages that must survive (Pinned).
func Import(contents []*sdk.Content) []winnow.Message {
	contents = slices.DeleteFunc(slices.Clone(contents), func(c *sdk.Content) bool { return c == nil })
	messages := wire.Import(wire.Contents{}, contents, func(c **sdk.Content) []byte {
		filled := **c
		if filled.Parts = slices.DeleteFunc(slices.Clone(filled.Parts), isEmpty); len(filled.Parts) == 0 {
			return jsonedit.Object("parts", []byte("[]"), "role", filled.Role)
		}
		return given(&filled)
	})
	for i := range messages {
		p := adapter.PieceOf[wire.Values](&messages[i])
		if content := *(*p.Of)[0].Of.(**sdk.Content); slices.ContainsFunc(content.Parts, isEmpty) {
			p.Hollow = true // Export leaves the empty parts out
		}
	}
	return messages
}

// isEmpty reports whether p holds nothing that the API knows.
func isEmpty(p *sdk.Part) bool {
	return p == nil || p.Text == "" && len(p.ThoughtSignature) == 0 && p.FunctionCall == nil &&
		p.FunctionResponse == nil && p.InlineData == nil && p.FileData == nil && p.ExecutableCode == nil &&
		p.CodeExecutionResult == nil && p.ToolCall == nil && p.ToolResponse == nil && p.AudioTranscription == nil
}

// given returns a content, or the part that a host put into the Source of one, as JSON.
func given(source any) []byte {
	switch s := source.(type) {
	case *sdk.Part:
		if isEmpty(s) {
			return nil
		}
	case *sdk.FunctionResponsePart, *sdk.Content:
	default:
		return nil
	}
	raw, err := json.Marshal(source)
	if err != nil {
		return nil
	}
	return raw
}
