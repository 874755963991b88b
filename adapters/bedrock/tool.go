package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Tool turns a tool, such as [winnow.RecallTool], into the SDK's form.
func Tool(t winnow.Tool) types.Tool {
	return &types.ToolMemberToolSpec{Value: types.ToolSpecification{
		Name: aws.String(t.Name), Description: aws.String(t.Description),
		InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(adapter.Schema(t))},
	}}
}
