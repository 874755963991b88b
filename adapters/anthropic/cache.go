package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/tidwall/sjson"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/internal/jsontext"
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
	m := marking{ttl: ttl}
	tools, system, messages := note(&m, params.Tools), note(&m, params.System), noteMessages(&m, params.Messages)
	adapter.LimitMarkers(m.markers, adapter.MostMarkers)
	params.Tools, params.System, params.Messages = tools(), system(), messages()
}

// MarkRequestBeta is [MarkRequest] for a request of the beta API.
func MarkRequestBeta(params *sdk.BetaMessageNewParams, ttl sdk.CacheControlEphemeralTTL) {
	params.CacheControl = sdk.BetaCacheControlEphemeralParam{}
	m := marking{ttl: ttl}
	tools, system, messages := note(&m, params.Tools), note(&m, params.System), noteMessages(&m, params.Messages)
	adapter.LimitMarkers(m.markers, adapter.MostMarkers)
	params.Tools, params.System, params.Messages = tools(), system(), messages()
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
	decided := noteMessages[T, P](&m, messages)
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

// place is where a marker stands.
type place struct {
	value int
	path  string // of the block that has it, in the JSON of the value: "content.0.content.1."; "": the value itself
	ttl   string
	none  bool // it is to be marked
}

// note adds the markers of tools, or of a system prompt. Once all are decided, the result returns the values with them.
func note[T value, P param.InferPtr[T]](m *marking, values []T) (decided func() []T) {
	raw := make([][]byte, len(values))
	var places []place
	for i := range values {
		raw[i] = adapter.Raw(values[i])
		eachMarker(raw[i], "", func(path, ttl string) {
			places = append(places, place{value: i, path: path, ttl: ttl})
			m.markers = append(m.markers, adapter.CacheMarker{TTL: ttl})
		})
	}
	return decision[T, P](m, values, raw, places)
}

// noteMessages is note for messages, which are also to be marked where the next request may continue.
func noteMessages[T value, P param.InferPtr[T]](m *marking, messages []T) (decided func() []T) {
	raw := make([][]byte, len(messages))
	roles := make([]bool, len(messages)) // of the assistant
	for i := range messages {
		raw[i] = adapter.Raw(messages[i])
		jsontext.Members(raw[i], func(key string, value []byte) {
			roles[i] = roles[i] || key == "role" && jsontext.Text(value) == "assistant"
		})
	}
	boundaries := adapter.CacheBoundaries(roles)
	var places []place
	for i := range raw {
		end := "" // the path of the block that is to be marked
		if slices.Contains(boundaries, i) {
			raw[i], end = lastMarkable(raw[i])
		}
		isMarked := end == ""
		add := func(path, ttl string) {
			isMarked = isMarked || path == end
			places = append(places, place{value: i, path: path, ttl: ttl})
			m.markers = append(m.markers, adapter.CacheMarker{TTL: ttl, Message: true, Boundary: path == end})
		}
		eachMarker(raw[i], "", add)
		if !isMarked {
			add(end, string(m.ttl))
			places[len(places)-1].none = true
		}
	}
	return decision[T, P](m, messages, raw, places)
}

// decision returns a function for the time when the markers are decided that were noted last, at these places. It
// returns the values with them.
func decision[T value, P param.InferPtr[T]](m *marking, values []T, raw [][]byte, places []place) func() []T {
	first := len(m.markers) - len(places)
	return func() []T {
		out := slices.Clone(values)
		for n, p := range places {
			if now := &m.markers[first+n]; now.Gone != p.none || now.TTL != p.ttl {
				raw[p.value] = setMember(raw[p.value], p.path+"cache_control", marked(now))
				out[p.value] = param.Override[T, P](json.RawMessage(raw[p.value]))
			}
		}
		return out
	}
}

// eachMarker calls f for the markers in a value, and last for its own. The API counts them at every depth. path is that
// of the value.
func eachMarker(raw []byte, path string, f func(path, ttl string)) {
	if !bytes.Contains(raw, []byte(`"cache_control"`)) {
		return
	}
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "source": // of a document, which may have texts
			eachMarker(value, path+"source.", f)
		case "content":
			n := 0
			jsontext.Elements(value, func(b []byte) {
				eachMarker(b, fmt.Sprintf("%scontent.%d.", path, n), f)
				n++
			})
		}
	})
	if ttl, ok := markerIn(raw); ok {
		f(path, ttl)
	}
}

// marked returns the marker that was decided, or nil.
func marked(m *adapter.CacheMarker) any {
	if m.Gone {
		return nil
	}
	marker := sdk.NewCacheControlEphemeralParam()
	marker.TTL = sdk.CacheControlEphemeralTTL(m.TTL)
	return marker
}

// markerIn returns the lifetime of the marker of a value that is given as JSON.
func markerIn(raw []byte) (ttl string, ok bool) {
	jsontext.Members(raw, func(key string, value []byte) {
		if key != "cache_control" || string(value) == "null" {
			return
		}
		ok = true
		jsontext.Members(value, func(key string, value []byte) {
			if key == "ttl" {
				ttl = strings.Trim(string(value), `"`)
			}
		})
	})
	return ttl, ok
}

// lastMarkable returns the path of the last block of a message that has a marker or can have one, or "". A text
// becomes a block.
func lastMarkable(raw []byte) (message []byte, path string) {
	message = raw
	jsontext.Members(raw, func(key string, value []byte) {
		switch {
		case key != "content":
		case adapter.IsBlank(jsontext.Text(value)):
			n := 0
			jsontext.Elements(value, func(b []byte) {
				if _, ok := markerIn(b); ok || isMarkable(b) {
					path = fmt.Sprintf("content.%d.", n)
				}
				n++
			})
		default:
			text := map[string]any{"type": "text", "text": json.RawMessage(value)}
			message, path = setMember(raw, "content", []any{text}), "content.0."
		}
	})
	return message, path
}

// isMarkable reports whether the API accepts a marker on a block: not on thinking and blank texts, and perhaps not on
// blocks that are not known here.
func isMarkable(raw []byte) bool {
	switch of := jsonedit.Value(raw); of.Get("type").Text() {
	case "text":
		return !adapter.IsBlank(of.Get("text").Text())
	case "tool_use", "tool_result", "image", "document":
		return true
	}
	return false
}

// setMember returns a JSON object with a new value for a member, or without the member if value is nil.
func setMember(raw []byte, key string, value any) []byte {
	raw = slices.Clone(raw)
	var err error
	out := raw
	if value == nil {
		out, err = sjson.DeleteBytes(raw, key)
	} else {
		out, err = sjson.SetBytes(raw, key, value)
	}
	if err != nil { // the member names are ours, and only objects are read
		return raw
	}
	return out
}
