package responses

import (
	"github.com/openai/openai-go/v3"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
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
	list := make([]sdk.ToolUnionParam, 0, len(tools)+1)
	isAny := false
	for i := range tools {
		t := &tools[i]
		tool := Tool(winnow.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
		if !t.Always {
			isAny, tool.OfFunction.DeferLoading = true, openai.Bool(true)
		}
		list = append(list, tool)
	}
	if isAny {
		list = append(list, sdk.ToolUnionParam{OfToolSearch: &sdk.ToolSearchToolParam{}})
	}
	return list
}
