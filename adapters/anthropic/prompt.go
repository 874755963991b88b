package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// SystemBlocks returns texts for the field System of [sdk.MessageNewParams], each with a cache marker at its end. The
// texts may be the Blocks of a prompt.Assembly, which are at most two. A request may have four markers: [MarkRequest]
// takes care of that. Blank texts are left out, because the API refuses them.
func SystemBlocks(texts ...string) []sdk.TextBlockParam {
	var blocks []sdk.TextBlockParam
	for _, text := range texts {
		if !adapter.IsBlank(text) {
			blocks = append(blocks, sdk.TextBlockParam{Text: text, CacheControl: sdk.NewCacheControlEphemeralParam()})
		}
	}
	return blocks
}
