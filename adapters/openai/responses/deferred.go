package responses

import (
	"github.com/openai/openai-go/v3"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/prompt"
)

// OnDemand returns tools for a request in which the API itself loads them: the model reads those that have Always set
// (see [prompt.ToolUse.Choose]), and searches the others by their names and descriptions. What it finds is added at
// the end, so the prompt cache holds, and stays in the answer's items, which [Import] and [Export] carry as they came.
// If a record or a summary takes their place, the model searches again.
//
// Send the same tools with each request of a conversation. Count only those that have Always set in
// [winnow.Options].Overhead and in [winnow.ToolOptions].Tokens. The API has this search for GPT-5.4 and later models.
func OnDemand(tools []prompt.Tool) []sdk.ToolUnionParam {
	return adapter.OnDemand(tools, Tool, func(t *sdk.ToolUnionParam) { t.OfFunction.DeferLoading = openai.Bool(true) },
		sdk.ToolUnionParam{OfToolSearch: &sdk.ToolSearchToolParam{}})
}
