package responses

import (
	"github.com/openai/openai-go/v3"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into the SDK's form. The tool is not strict, because all arguments of
// a strict tool are required.
func Tool(t winnow.Tool) sdk.ToolUnionParam {
	tool := sdk.ToolParamOfFunction(t.Name, adapter.Schema(t), false)
	tool.OfFunction.Description = openai.String(t.Description)
	return tool
}
