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
	m := marking{ttl: ttl, messages: slices.Clone(params.Messages)}
	tools, system := promptMarkers(&m, params.Tools), promptMarkers(&m, params.System)
	m.limit(adapter.MostMarkers)
	params.Tools, params.System, params.Messages = tools(), system(), m.messages
}

// MarkRequestBeta is [MarkRequest] for a request of the beta API.
func MarkRequestBeta(params *sdk.BetaMessageNewParams, ttl sdk.CacheControlEphemeralTTL) {
	params.CacheControl = sdk.BetaCacheControlEphemeralParam{}
	m := marking{ttl: ttl, messages: carried(params.Messages)}
	tools, system := promptMarkers(&m, params.Tools), promptMarkers(&m, params.System)
	m.limit(adapter.MostMarkers)
	params.Tools, params.System, params.Messages = tools(), system(), betaMessages(m.messages)
}

// MarkCache is [MarkRequest] for messages alone, of a request whose tools and system prompt it does not see. It leaves
// three of the four markers to these, as [SystemBlocks] sets them, and sets the one at the end: any other one in
// messages is taken out. The API finds there what the previous request wrote, unless 20 blocks or more have been added
// since. If ttl is an hour, so must be the lifetime of markers in tools and system prompt.
func MarkCache(messages []sdk.MessageParam, ttl sdk.CacheControlEphemeralTTL) []sdk.MessageParam {
	m := marking{ttl: ttl, messages: slices.Clone(messages)}
	m.limit(adapter.MostMarkers - 3)
	return m.messages
}

// MarkCacheBeta is [MarkCache] for the messages of the beta API.
func MarkCacheBeta(messages []sdk.BetaMessageParam, ttl sdk.CacheControlEphemeralTTL) []sdk.BetaMessageParam {
	return betaMessages(MarkCache(carried(messages), ttl))
}

// marking is a request whose markers are decided.
type marking struct {
	ttl      sdk.CacheControlEphemeralTTL
	messages []sdk.MessageParam
	markers  []adapter.CacheMarker
}

// place is where a marker stands: a block of a message, or a block within it.
type place struct {
	block int
	path  string // of a block within it, in its JSON: "content.0."; "": the block itself
	ttl   string
	none  bool // it is to be marked
}

// limit decides all markers and sets those of the messages.
func (m *marking) limit(most int) {
	contents := make([]contents, len(m.messages))
	roles := make([]bool, len(m.messages)) // of the assistant
	for i := range m.messages {
		contents[i] = contentOf(&m.messages[i])
		roles[i] = contents[i].role == sdk.MessageParamRoleAssistant
	}
	boundaries := adapter.CacheBoundaries(roles)
	places := make([][]place, len(m.messages))
	prompt := len(m.markers)
	for i := range contents {
		end := -1
		if slices.Contains(boundaries, i) {
			end = lastMarkable(contents[i].blocks)
		}
		places[i] = m.placesOf(contents[i].blocks, end)
		for _, p := range places[i] {
			isBoundary := p.block == end && p.path == ""
			m.markers = append(m.markers, adapter.CacheMarker{TTL: p.ttl, Message: true, Boundary: isBoundary})
		}
	}
	adapter.LimitMarkers(m.markers, most)
	next := prompt
	for i := range places {
		m.set(&m.messages[i], contents[i], places[i], m.markers[next:next+len(places[i])])
		next += len(places[i])
	}
}

// placesOf returns the places of markers in blocks, with the block that is to end in one.
func (m *marking) placesOf(blocks []block, end int) (places []place) {
	for k := range blocks {
		isMarked := false
		eachMarker(&blocks[k], func(path, ttl string) {
			places = append(places, place{block: k, path: path, ttl: ttl})
			isMarked = path == ""
		})
		if k == end && !isMarked {
			places = append(places, place{block: k, ttl: string(m.ttl), none: true})
		}
	}
	return places
}

// eachMarker calls f for the markers in a block, and last for its own. The API counts them at every depth.
func eachMarker(b *block, f func(path, ttl string)) {
	raw := givenAs(b)
	if raw == nil && b.OfToolResult != nil && slices.ContainsFunc(b.OfToolResult.Content, mayHoldMarkers) {
		raw = adapter.Raw(b)
	}
	if raw != nil {
		eachMarkerIn(raw, "", f)
	} else if ttl, ok := markerOf(b); ok {
		f("", ttl)
	}
}

// mayHoldMarkers reports false for what is large and need not be encoded: plain texts and images in a result.
func mayHoldMarkers(c inner) bool {
	if c.OfImage != nil {
		return !adapter.IsTyped(c.OfImage) || !param.IsOmitted(c.OfImage.CacheControl)
	}
	return c.OfText == nil || !isPlain(c.OfText)
}

// isPlain reports whether a block holds only a text.
func isPlain(b *sdk.TextBlockParam) bool {
	return adapter.IsTyped(b) && b.Citations == nil && param.IsOmitted(b.CacheControl) && b.ExtraFields() == nil
}

// eachMarkerIn is eachMarker for a block that is given as JSON.
func eachMarkerIn(raw []byte, path string, f func(path, ttl string)) {
	if !bytes.Contains(raw, []byte(`"cache_control"`)) {
		return
	}
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "source": // of a document, which may have texts
			eachMarkerIn(value, path+"source.", f)
		case "content":
			n := 0
			jsontext.Elements(value, func(b []byte) {
				eachMarkerIn(b, fmt.Sprintf("%scontent.%d.", path, n), f)
				n++
			})
		}
	})
	if ttl, ok := markerIn(raw); ok {
		f(path, ttl)
	}
}

// set changes the markers of a message to what was decided.
func (m *marking) set(of *sdk.MessageParam, c contents, places []place, markers []adapter.CacheMarker) {
	var blocks []block // nil: nothing changes
	for i, p := range places {
		if markers[i].Gone == p.none && markers[i].TTL == p.ttl {
			continue
		}
		if blocks == nil {
			blocks = slices.Clone(c.blocks)
		}
		b := &blocks[p.block]
		*b = withMember(b, p.path+"cache_control", marked(&markers[i]))
	}
	if blocks != nil {
		*of = withContent(&piece{Of: of}, c.role, blocks)
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

// promptMarkers adds the markers of tools, or of a system prompt. Once all are decided, the result returns the values
// with them.
func promptMarkers[T param.ParamStruct, P param.InferPtr[T]](m *marking, values []T) (decided func() []T) {
	first := len(m.markers)
	raw := make([]json.RawMessage, len(values))
	var at []int // values with a marker
	for i := range values {
		text, err := json.Marshal(values[i])
		if err != nil {
			continue // the SDK will say so
		}
		if ttl, ok := markerIn(text); ok {
			raw[i], at = text, append(at, i)
			m.markers = append(m.markers, adapter.CacheMarker{TTL: ttl})
		}
	}
	before := slices.Clone(m.markers[first:])
	return func() []T {
		out := slices.Clone(values)
		for n, i := range at {
			if now := &m.markers[first+n]; *now != before[n] {
				out[i] = param.Override[T, P](json.RawMessage(setMember(raw[i], "cache_control", marked(now))))
			}
		}
		return out
	}
}

// markerOf returns the lifetime of a block's marker.
func markerOf(b *block) (ttl string, ok bool) {
	if raw := givenAs(b); raw != nil {
		return markerIn(raw)
	}
	marker := b.GetCacheControl()
	if marker == nil || param.IsOmitted(*marker) {
		return "", false
	}
	return string(marker.TTL), true
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

// lastMarkable returns the last block that has a marker or can have one, or -1.
func lastMarkable(blocks []block) int {
	for k := len(blocks) - 1; k >= 0; k-- {
		if _, ok := markerOf(&blocks[k]); ok || isMarkable(&blocks[k]) {
			return k
		}
	}
	return -1
}

// isMarkable reports whether the API accepts a marker on a block: not on thinking and blank texts, and perhaps not on
// blocks that are not known here.
func isMarkable(b *block) bool {
	switch f := read(b); f.typ {
	case typeText:
		return !adapter.IsBlank(f.text)
	case typeToolUse, typeToolResult, typeImage, typeDocument:
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
