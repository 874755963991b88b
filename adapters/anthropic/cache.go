package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// mostMarkers is how many markers the API accepts in a request, including those of the system prompt and the tools.
const mostMarkers = 4

// MarkCache returns the messages of a request with markers of the prompt cache at the two places where the next request
// may continue: at the end, and where the previous request ended, before the newest message of the assistant. Without
// markers Anthropic caches nothing, whatever [winnow.Request.Cached] expects. An empty ttl means five minutes; set
// CacheOptions.TTL to the same length.
//
// MarkCache marks copies and does not modify the messages or their blocks. Call it for each request on the result of
// Export, and keep the history without markers. Existing markers stay, and MarkCache never exceeds the four that the
// API accepts, counting those in messages. The caller sets markers on the system prompt and the tools.
func MarkCache(messages []sdk.MessageParam, ttl sdk.CacheControlEphemeralTTL) []sdk.MessageParam {
	out := append([]sdk.MessageParam{}, messages...)
	free := mostMarkers
	roles := make([]bool, len(out)) // of the assistant
	for i := range out {
		c := contentOf(&out[i])
		roles[i] = c.role == sdk.MessageParamRoleAssistant
		for k := range c.blocks {
			free -= markersOf(&c.blocks[k])
		}
	}
	marker := sdk.NewCacheControlEphemeralParam()
	marker.TTL = ttl
	for _, at := range adapter.CacheBoundaries(roles) {
		if free > 0 && markLast(&out[at], marker) {
			free--
		}
	}
	return out
}

// MarkCacheBeta is [MarkCache] for the messages of the beta API.
func MarkCacheBeta(messages []sdk.BetaMessageParam, ttl sdk.CacheControlEphemeralTTL) []sdk.BetaMessageParam {
	carried := make([]message, len(messages))
	for i := range messages {
		carried[i] = param.Override[message](&messages[i])
	}
	marked := MarkCache(carried, ttl)
	out := make([]sdk.BetaMessageParam, len(marked))
	for i := range marked {
		out[i] = betaMessage(&marked[i])
	}
	return out
}

// markersOf counts the markers of a block and of the blocks in a result.
func markersOf(b *block) int {
	n := 0
	if hasMarker(b) {
		n++
	}
	if !isResult(b) {
		return n
	}
	f := read(b)
	for k := range f.content {
		if innerHasMarker(&f.content[k]) {
			n++
		}
	}
	return n
}

// hasMarker reports whether a block has a marker.
func hasMarker(b *block) bool {
	if override, given := overrideOf(b); given {
		return isMarked(sentAs(override, b))
	}
	c := b.GetCacheControl()
	return c != nil && !param.IsOmitted(*c)
}

// innerHasMarker reports whether a block in a result has a marker.
func innerHasMarker(c *inner) bool {
	var s param.ParamStruct = c
	if c.OfText != nil {
		s = c.OfText
	}
	if override, given := s.Overrides(); given {
		return isMarked(sentAs(override, c))
	}
	marker := c.GetCacheControl()
	return marker != nil && !param.IsOmitted(*marker)
}

// isMarked reports whether a block that is given as JSON has a marker.
func isMarked(raw []byte) (found bool) {
	jsontext.Members(raw, func(key string, value []byte) {
		found = found || key == "cache_control" && string(value) != "null"
	})
	return found
}

// markLast marks the last block of a message that can be marked. It returns false if there is no such block, or if it
// is already marked.
func markLast(m *sdk.MessageParam, marker sdk.CacheControlEphemeralParam) bool {
	c := contentOf(m)
	for k := len(c.blocks) - 1; k >= 0; k-- {
		if hasMarker(&c.blocks[k]) {
			return false
		}
		marked, ok := withMarker(&c.blocks[k], marker)
		if !ok {
			continue
		}
		blocks := append([]block{}, c.blocks...)
		blocks[k] = marked
		*m = withContent(&piece{Of: m}, c.role, blocks)
		return true
	}
	return false
}

// withMarker returns a block with a marker. ok is false for thinking and for blank texts, on which the API accepts no
// marker.
func withMarker(b *block, marker sdk.CacheControlEphemeralParam) (marked block, ok bool) {
	f := read(b)
	switch f.typ {
	case typeThinking, typeRedactedThinking:
		return block{}, false
	case typeText:
		if adapter.IsBlank(f.text) {
			return block{}, false
		}
	}
	if _, given := overrideOf(b); given {
		switch f.typ {
		case typeText, typeToolUse, typeToolResult, typeImage, typeDocument:
		default: // the API may refuse it
			return block{}, false
		}
		return withMember(b, "cache_control", marker), true
	}
	switch {
	case b.OfText != nil:
		copied := *b.OfText
		copied.CacheControl = marker
		return block{OfText: &copied}, true
	case b.OfToolUse != nil:
		copied := *b.OfToolUse
		copied.CacheControl = marker
		return block{OfToolUse: &copied}, true
	case b.OfToolResult != nil:
		copied := *b.OfToolResult
		copied.CacheControl = marker
		return block{OfToolResult: &copied}, true
	case b.OfImage != nil:
		copied := *b.OfImage
		copied.CacheControl = marker
		return block{OfImage: &copied}, true
	case b.OfDocument != nil:
		copied := *b.OfDocument
		copied.CacheControl = marker
		return block{OfDocument: &copied}, true
	}
	return block{}, false
}
