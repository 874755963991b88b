package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into the SDK's form.
func Tool(t winnow.Tool) sdk.ToolUnionParam {
	return sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
		Name: t.Name, Description: sdk.String(t.Description),
		InputSchema: param.Override[sdk.ToolInputSchemaParam](adapter.Schema(t)),
	}}
}

// ToolBeta is [Tool] for the beta API.
func ToolBeta(t winnow.Tool) sdk.BetaToolUnionParam {
	return sdk.BetaToolUnionParam{OfTool: &sdk.BetaToolParam{
		Name: t.Name, Description: sdk.String(t.Description),
		InputSchema: param.Override[sdk.BetaToolInputSchemaParam](adapter.Schema(t)),
	}}
}
