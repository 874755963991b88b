package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/prompt"
)

// OnDemand returns tools for a request in which the API itself loads them: the model reads those that have Always set
// (see [prompt.ToolUse.Choose]), and searches the others, which stand in the request and are not billed. What it finds
// is shown where it was found, so the prompt cache holds, and stays in the answer's blocks, which [Import] and [Export]
// carry as they came. If a record or a summary takes their place, the model searches again.
//
// Send the same tools with each request of a conversation: the API refuses one in which a tool is missing that a search
// found. Count only those that have Always set in [winnow.Options].Overhead and in [winnow.ToolOptions].Tokens. The
// tool for the search comes last, so that a cache marker may stand there: the API refuses one on a tool that it loads.
func OnDemand(tools []prompt.Tool) []sdk.ToolUnionParam {
	return adapter.OnDemand(tools, Tool, func(t *sdk.ToolUnionParam) { t.OfTool.DeferLoading = sdk.Bool(true) },
		sdk.ToolUnionParam{OfToolSearchToolBm25_20251119: &sdk.ToolSearchToolBm25_20251119Param{
			Type: sdk.ToolSearchToolBm25_20251119TypeToolSearchToolBm25_20251119,
		}})
}

// OnDemandBeta is [OnDemand] for the beta API.
func OnDemandBeta(tools []prompt.Tool) []sdk.BetaToolUnionParam {
	return adapter.OnDemand(tools, ToolBeta, func(t *sdk.BetaToolUnionParam) { t.OfTool.DeferLoading = sdk.Bool(true) },
		sdk.BetaToolUnionParam{OfToolSearchToolBm25_20251119: &sdk.BetaToolSearchToolBm25_20251119Param{
			Type: sdk.BetaToolSearchToolBm25_20251119TypeToolSearchToolBm25_20251119,
		}})
}
