package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// MarkRequest sets the markers of the prompt cache in the messages of a request at the two places where the next
// request may continue: at the end, and where the previous request ended, before the newest message of the assistant.
// Without markers Anthropic caches nothing, whatever [winnow.Request.Cached] expects. An empty ttl means five minutes;
// set CacheOptions.TTL to the same length.
//
// Call it for each request, when Tools, System and Messages are set, and keep the history without markers. Markers that
// the caller set stay if the API accepts them: it takes four in a request, and none behind one that lives shorter. If
// there are more, the caller's older ones in messages go first, and then those of tools and system prompt, which live
// as long as what is marked behind them. The automatic marker of params becomes that at the end. MarkRequest changes
// copies, and neither the caller's messages nor its tools.
func MarkRequest(params *sdk.MessageNewParams, ttl sdk.CacheControlEphemeralTTL) {
	params.CacheControl = sdk.CacheControlEphemeralParam{}
	markRequest(&params.Tools, &params.System, &params.Messages, ttl)
}

// MarkRequestBeta is [MarkRequest] for a request of the beta API.
func MarkRequestBeta(params *sdk.BetaMessageNewParams, ttl sdk.CacheControlEphemeralTTL) {
	params.CacheControl = sdk.BetaCacheControlEphemeralParam{}
	markRequest(&params.Tools, &params.System, &params.Messages, ttl)
}

func markRequest[A, B, C value, PA param.InferPtr[A], PB param.InferPtr[B], PC param.InferPtr[C]](
	tools *[]A, system *[]B, messages *[]C, ttl sdk.CacheControlEphemeralTTL) {
	m := marking{ttl: ttl}
	a, b, c := note[A, PA](&m, *tools, false), note[B, PB](&m, *system, false), note[C, PC](&m, *messages, true)
	adapter.LimitMarkers(m.markers, adapter.MostMarkers)
	*tools, *system, *messages = a(), b(), c()
}

// MarkCache is [MarkRequest] for messages alone, of a request whose tools and system prompt it does not see. It leaves
// three of the four markers to these, as [SystemBlocks] sets them, and sets the one at the end: any other one in
// messages is taken out. The API finds there what the previous request wrote, unless 20 blocks or more have been added
// since. If ttl is an hour, so must be the lifetime of markers in tools and system prompt.
func MarkCache(messages []sdk.MessageParam, ttl sdk.CacheControlEphemeralTTL) []sdk.MessageParam {
	return markCache(messages, ttl)
}

// MarkCacheBeta is [MarkCache] for the messages of the beta API.
func MarkCacheBeta(messages []sdk.BetaMessageParam, ttl sdk.CacheControlEphemeralTTL) []sdk.BetaMessageParam {
	return markCache(messages, ttl)
}

func markCache[T value, P param.InferPtr[T]](messages []T, ttl sdk.CacheControlEphemeralTTL) []T {
	m := marking{ttl: ttl}
	decided := note[T, P](&m, messages, true)
	adapter.LimitMarkers(m.markers, adapter.MostMarkers-3)
	return decided()
}

// value is a tool, a block of a system prompt, or a message.
type value interface {
	param.ParamStruct
	adapter.Param
}

// marking is a request whose markers are decided.
type marking struct {
	ttl     sdk.CacheControlEphemeralTTL
	markers []adapter.CacheMarker
}

// place is where a marker stands, or is to stand.
type place struct {
	value int
	block jsonedit.Value // that has it: the value itself, or one in it
	ttl   string
	none  bool // it is to be marked
}

// note adds the markers of tools, of a system prompt, or of messages, which are also to be marked where the next
// request may continue. Once all are decided, the result returns the values with them.
func note[T value, P param.InferPtr[T]](m *marking, values []T, areMessages bool) (decided func() []T) {
	raw := make([]jsonedit.Value, len(values))
	roles := make([]bool, len(values)) // of the assistant
	for i := range values {
		raw[i] = jsonedit.Value(adapter.Raw(values[i]))
		roles[i] = raw[i].Get("role").Text() == "assistant"
	}
	boundaries := adapter.CacheBoundaries(roles)
	var places []place
	for i := range raw {
		var end jsonedit.Value // the block that is to be marked
		if areMessages && slices.Contains(boundaries, i) {
			raw[i], end = lastMarkable(raw[i])
		}
		isEnd := func(b jsonedit.Value) bool { return len(end) > 0 && &b[0] == &end[0] }
		isMarked := len(end) == 0
		add := func(block jsonedit.Value, ttl string) {
			isMarked = isMarked || isEnd(block)
			places = append(places, place{value: i, block: block, ttl: ttl})
			m.markers = append(m.markers, adapter.CacheMarker{TTL: ttl, Message: areMessages, Boundary: isEnd(block)})
		}
		eachMarker(raw[i], add)
		if !isMarked {
			add(end, string(m.ttl))
			places[len(places)-1].none = true
		}
	}
	return decision[T, P](m, values, raw, places)
}

const cacheControl = "cache_control"

// decision returns a function for the time when the markers are decided that were noted last, at these places. It
// returns the values with them.
func decision[T value, P param.InferPtr[T]](m *marking, values []T, raw []jsonedit.Value, places []place) func() []T {
	first := len(m.markers) - len(places)
	return func() []T {
		out := slices.Clone(values)
		edits := map[int]*jsonedit.Editor{}
		for n, p := range places {
			now := &m.markers[first+n]
			if now.Gone == p.none && now.TTL == p.ttl {
				continue
			}
			if edits[p.value] == nil {
				edits[p.value] = jsonedit.Edit(raw[p.value])
			}
			switch e, old := edits[p.value], p.block.Get(cacheControl); {
			case now.Gone:
				e.Remove(old)
			case len(old) > 0:
				e.Replace(old, marked(now))
			default:
				e.Add(p.block, cacheControl, marked(now))
			}
		}
		for i, e := range edits {
			out[i] = param.Override[T, P](json.RawMessage(e.Bytes(raw[i])))
		}
		return out
	}
}

// eachMarker calls f for the markers in a value, and last for its own. The API counts them at every depth.
func eachMarker(of jsonedit.Value, f func(block jsonedit.Value, ttl string)) {
	if !bytes.Contains(of, []byte(`"`+cacheControl+`"`)) {
		return
	}
	of.Members(func(name string, v jsonedit.Value) {
		switch name {
		case "source": // of a document, which may have texts
			eachMarker(v, f)
		case "content":
			for _, b := range v.Elements() {
				eachMarker(b, f)
			}
		}
	})
	if marker := of.Get(cacheControl); marker.Exists() {
		f(of, marker.Get("ttl").Text())
	}
}

// marked returns the marker that was decided.
func marked(m *adapter.CacheMarker) []byte {
	marker := sdk.NewCacheControlEphemeralParam()
	marker.TTL = sdk.CacheControlEphemeralTTL(m.TTL)
	return adapter.Raw(marker)
}

// lastMarkable returns the last block of a message that has a marker or can have one, or nothing. A text becomes a
// block.
func lastMarkable(raw jsonedit.Value) (message, block jsonedit.Value) {
	content := raw.Get("content")
	if !adapter.IsBlank(content.Text()) {
		message = raw.Set("content", jsonedit.List(jsonedit.Object("type", "text", "text", content)))
		return message, message.Get("content.0")
	}
	for _, b := range content.Elements() {
		if b.Get(cacheControl).Exists() || isMarkable(b) {
			block = b
		}
	}
	return raw, block
}

// isMarkable reports whether the API accepts a marker on a block: not on thinking and blank texts, and perhaps not on
// blocks that are not known here.
func isMarkable(of jsonedit.Value) bool {
	switch of.Get("type").Text() {
	case "text":
		return !adapter.IsBlank(of.Get("text").Text())
	case "tool_use", "tool_result", "image", "document":
		return true
	}
	return false
}
