package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// mostMarkers is how many cache points models accept in a request, including those of the system prompt and the tools.
const mostMarkers = 4

// MarkCache returns the messages of a request with cache points at the two places where the next request may continue:
// at the end, and where the previous request ended, before the newest message of the assistant. Without them Bedrock
// caches nothing, whatever [winnow.Request.Cached] expects. An empty ttl means the model's default.
//
// MarkCache does not modify the messages or their blocks. Call it for each request on the result of Export, and keep
// the history without cache points. Existing ones stay, and MarkCache never exceeds four.
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
