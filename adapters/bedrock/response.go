package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow"
)

// Response returns an answer as the next message of the history, with the id of its request, its stop reason and its
// usage. [Collect] reads a streamed answer first.
func Response(answer *bedrockruntime.ConverseOutput) winnow.Message {
	m := winnow.Message{Role: winnow.RoleAssistant}
	if out, ok := answer.Output.(*types.ConverseOutputMemberMessage); ok {
		own := types.Message{Role: types.ConversationRoleAssistant, Content: named(out.Value.Content)}
		m = Import([]types.Message{own})[0]
	}
	m.ID, _ = middleware.GetRequestIDMetadata(answer.ResultMetadata)
	m.StopReason = string(answer.StopReason)
	if u := answer.Usage; u != nil {
		m.Usage = &winnow.Usage{
			Input:      int(aws.ToInt32(u.InputTokens)),
			CacheRead:  int(aws.ToInt32(u.CacheReadInputTokens)),
			CacheWrite: int(aws.ToInt32(u.CacheWriteInputTokens)),
			Output:     int(aws.ToInt32(u.OutputTokens)),
		}
		for _, written := range u.CacheDetails {
			if written.Ttl == types.CacheTTLOneHour {
				m.Usage.LongWrite += int(aws.ToInt32(written.InputTokens))
			}
		}
	}
	return m
}

// named returns content with marked blocks in place of unknown ones. For these, the SDK's decoder repeats the previous
// block, or returns nil.
func named(content []types.ContentBlock) []types.ContentBlock {
	out := make([]types.ContentBlock, len(content))
	for i, b := range content {
		out[i] = b
		if b == nil || i > 0 && b == content[i-1] {
			out[i] = &types.UnknownUnionMember{}
		} else if r, ok := b.(*types.ContentBlockMemberToolResult); ok {
			named := *r
			named.Value.Content = namedResult(r.Value.Content)
			out[i] = &named
		}
	}
	return out
}

// namedResult is named for the content of a result. A nil list stays nil.
func namedResult(content []types.ToolResultContentBlock) []types.ToolResultContentBlock {
	out := append(content[:0:0], content...)
	for i, c := range content {
		if c == nil || i > 0 && c == content[i-1] {
			out[i] = &types.UnknownUnionMember{}
		}
	}
	return out
}
