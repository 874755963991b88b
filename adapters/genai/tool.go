package genai

import (
	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into a function declaration.
func Tool(t winnow.Tool) *sdk.FunctionDeclaration {
	return &sdk.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: adapter.Schema(t)}
}
