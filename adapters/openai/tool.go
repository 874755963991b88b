package openai

import (
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into the SDK's form.
func Tool(t winnow.Tool) sdk.ChatCompletionToolUnionParam {
	return sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: t.Name, Description: sdk.String(t.Description), Parameters: adapter.Schema(t),
	})
}
