package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into the SDK's form.
func Tool(t winnow.Tool) sdk.ToolUnionParam {
	properties, required, rest := schemaOf(t)
	return sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
		Name: t.Name, Description: sdk.String(t.Description),
		InputSchema: sdk.ToolInputSchemaParam{Properties: properties, Required: required, ExtraFields: rest},
	}}
}

// ToolBeta is [Tool] for the beta API.
func ToolBeta(t winnow.Tool) sdk.BetaToolUnionParam {
	properties, required, rest := schemaOf(t)
	return sdk.BetaToolUnionParam{OfTool: &sdk.BetaToolParam{
		Name: t.Name, Description: sdk.String(t.Description),
		InputSchema: sdk.BetaToolInputSchemaParam{Properties: properties, Required: required, ExtraFields: rest},
	}}
}

// schemaOf splits a schema into the fields of the SDK.
func schemaOf(t winnow.Tool) (properties any, required []string, rest map[string]any) {
	rest = adapter.Schema(t)
	properties = rest["properties"]
	if list, ok := rest["required"].([]any); ok {
		for _, name := range list {
			if s, ok := name.(string); ok {
				required = append(required, s)
			}
		}
	}
	delete(rest, "type") // the SDK writes it
	delete(rest, "properties")
	delete(rest, "required")
	return properties, required, rest
}
