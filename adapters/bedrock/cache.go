package bedrock

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// MarkRequest sets cache points in the messages of a request at the two places where the next request may continue: at
// the end, and where the previous request ended, before the newest message of the assistant. Without them Bedrock
// caches nothing, whatever [winnow.Request.Cached] expects. An empty ttl means the model's default.
//
// Call it for each request, when ToolConfig, System and Messages are set, and keep the history without cache points.
// Those that the caller set stay if models accept them: they take four in a request, and none behind one that lives
// shorter. If there are more, the caller's older ones in messages go first, and then those of tools and system prompt,
// which live as long as the cache points behind them. MarkRequest does not modify the caller's messages and tools.
func MarkRequest(input *bedrockruntime.ConverseInput, ttl types.CacheTTL) {
	input.ToolConfig, input.System, input.Messages = mark(input.ToolConfig, input.System, input.Messages, ttl,
		adapter.MostMarkers)
}

// MarkStream is [MarkRequest] for a streamed answer.
func MarkStream(input *bedrockruntime.ConverseStreamInput, ttl types.CacheTTL) {
	input.ToolConfig, input.System, input.Messages = mark(input.ToolConfig, input.System, input.Messages, ttl,
		adapter.MostMarkers)
}

// MarkCache is [MarkRequest] for messages alone, of a request whose tools and system prompt it does not see. It leaves
// two of the four cache points to these, and takes all others but its two out of the messages. If ttl is an hour, so
// must be that of cache points in tools and system prompt.
func MarkCache(messages []types.Message, ttl types.CacheTTL) []types.Message {
	_, _, messages = mark(nil, nil, messages, ttl, adapter.MostMarkers-2)
	return messages
}

// mark decides all cache points of a request and returns what it consists of with them.
func mark(config *types.ToolConfiguration, system []types.SystemContentBlock, messages []types.Message,
	ttl types.CacheTTL, most int) (*types.ToolConfiguration, []types.SystemContentBlock, []types.Message) {
	var tools []types.Tool
	if config != nil {
		tools = config.Tools
	}
	markers := append(markersOf(tools), markersOf(system)...)
	prompt := len(markers)
	messages = slices.Clone(messages)
	roles := make([]bool, len(messages)) // of the assistant
	for i := range messages {
		roles[i] = messages[i].Role == types.ConversationRoleAssistant
	}
	boundaries := adapter.CacheBoundaries(roles)
	for i := range messages {
		content := messages[i].Content
		isBoundary := slices.Contains(boundaries, i) && len(content) > 0
		if isBoundary && pointOf(content[len(content)-1]) == nil {
			content = append(content[:len(content):len(content)],
				&types.ContentBlockMemberCachePoint{Value: types.CachePointBlock{Ttl: ttl}})
		}
		markers = append(markers, markersOf(content)...)
		if isBoundary {
			markers[len(markers)-1].Boundary = true
		}
		messages[i].Content = content
	}
	for i := range markers[prompt:] {
		markers[prompt+i].Message = true
	}
	adapter.LimitMarkers(markers, most)

	if tools != nil {
		copied := *config
		copied.Tools, markers = decided(tools, markers)
		config = &copied
	}
	system, markers = decided(system, markers)
	for i := range messages {
		messages[i].Content, markers = decided(messages[i].Content, markers)
	}
	return config, system, messages
}

// markersOf returns the cache points among blocks.
func markersOf[T any](blocks []T) (markers []adapter.CacheMarker) {
	for _, b := range blocks {
		if p := pointOf(b); p != nil {
			markers = append(markers, adapter.CacheMarker{TTL: string(p.Ttl)})
		}
	}
	return markers
}

// decided returns blocks with the first of markers as their cache points, and the rest of the markers.
func decided[T any](blocks []T, markers []adapter.CacheMarker) ([]T, []adapter.CacheMarker) {
	var out []T
	for _, b := range blocks {
		if pointOf(b) == nil {
			out = append(out, b)
			continue
		}
		if m := &markers[0]; !m.Gone {
			out = append(out, withTTL(b, types.CacheTTL(m.TTL)))
		}
		markers = markers[1:]
	}
	return out, markers
}

// pointOf returns a cache point among tools, in a system prompt or in a message, or nil for anything else.
func pointOf(b any) *types.CachePointBlock {
	switch p := b.(type) {
	case *types.ToolMemberCachePoint:
		return &p.Value
	case *types.SystemContentBlockMemberCachePoint:
		return &p.Value
	case *types.ContentBlockMemberCachePoint:
		return &p.Value
	}
	return nil
}

// withTTL returns a copy of a cache point that lives so long.
func withTTL[T any](b T, ttl types.CacheTTL) T {
	point := types.CachePointBlock{Ttl: ttl, Type: types.CachePointTypeDefault}
	var out any
	switch any(b).(type) {
	case *types.ToolMemberCachePoint:
		out = &types.ToolMemberCachePoint{Value: point}
	case *types.SystemContentBlockMemberCachePoint:
		out = &types.SystemContentBlockMemberCachePoint{Value: point}
	default:
		out = &types.ContentBlockMemberCachePoint{Value: point}
	}
	return out.(T)
}
