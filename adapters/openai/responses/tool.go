package responses

import (
	"github.com/openai/openai-go/v3"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into one of a request. It is not strict: a strict one has no
// arguments that may be left out.
func Tool(t winnow.Tool) sdk.ToolUnionParam {
	tool := sdk.ToolParamOfFunction(t.Name, adapter.Schema(t), false)
	tool.OfFunction.Description = openai.String(t.Description)
	return tool
}
