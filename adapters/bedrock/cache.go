package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// mostMarkers is how many cache points models take in a request, those of the system prompt and of the tools among
// them.
const mostMarkers = 4

// MarkCache returns the messages of a request with cache points at the two places from which the next request goes on:
// at the end, and where the request before ended, which is before the newest message of the assistant. Without them
// Bedrock caches nothing, whatever [winnow.Request.Cached] expects. ttl may be empty, for the model's default.
//
// Neither the messages nor their blocks are written: mark what Export returns, for each request anew, and keep the
// history without cache points. Those that are there stay, and none is added above four.
func MarkCache(messages []types.Message, ttl types.CacheTTL) []types.Message {
	out := append([]types.Message{}, messages...)
	free := mostMarkers
	roles := make([]bool, len(out)) // of the assistant
	for i := range out {
		roles[i] = out[i].Role == types.ConversationRoleAssistant
		for _, b := range out[i].Content {
			if isMarker(b) {
				free--
			}
		}
	}
	for _, at := range adapter.CacheBoundaries(roles) {
		content := out[at].Content
		if n := len(content); free <= 0 || n == 0 || isMarker(content[n-1]) {
			continue
		}
		free--
		point := types.CachePointBlock{Type: types.CachePointTypeDefault, Ttl: ttl}
		out[at].Content = append(content[:len(content):len(content)], &types.ContentBlockMemberCachePoint{Value: point})
	}
	return out
}

func isMarker(b types.ContentBlock) bool {
	_, ok := b.(*types.ContentBlockMemberCachePoint)
	return ok
}
