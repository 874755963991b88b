package wire

import (
	"bytes"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// A marker of the prompt cache stays where the client set it. If its block goes, the nearest block before it that stays
// and has none gets it. Its name is Anthropic's or OpenAI's.

const (
	cacheControl = "cache_control"

	// Breakpoint is the member of a block at which OpenAI's models from GPT-5.6 on look for the beginning of a prompt
	// in their cache, beside the ends of earlier requests.
	Breakpoint = "prompt_cache_breakpoint"
)

// spot is a block of the new list that has a marker or may have one.
type spot struct {
	raw     value  // of the client's; empty: a new one
	entry   *entry // of a new one
	behind  int    // the element that it is of, or stands behind; with
	isText  bool   // content that is a text
	marker  value  // empty: it has none
	mayHave bool
}

// lostMarker is one whose block goes.
type lostMarker struct {
	element int
	raw     value // the block
	marker  value
}

// moveMarkers gives each marker of a name whose block goes another block, and counts those that find none.
func (w *writer) moveMarkers(name string) {
	gone := w.goneMarkers(name)
	if len(gone) == 0 {
		return
	}
	spots := w.spots(name)
	for _, g := range gone {
		at := slices.IndexFunc(spots, func(s spot) bool { return s.isBehind(&g) })
		if at < 0 {
			at = len(spots)
		}
		marker := g.marker
		for at--; at >= 0 && (len(spots[at].marker) > 0 || !spots[at].mayHave); at-- {
			if len(spots[at].marker) > 0 { // none may stand in front of one that lives longer
				marker = spots[at].marker
			}
		}
		if at < 0 {
			w.lost++
			continue
		}
		w.mark(&spots[at], name, marker)
	}
}

// isBehind reports whether s is of the client's and stands behind g in its history.
func (s *spot) isBehind(g *lostMarker) bool {
	if len(s.raw) == 0 {
		return false
	}
	return s.behind > g.element || s.behind == g.element && jsonedit.IsBehind(s.raw, g.raw)
}

// goneMarkers returns the markers in the client's list whose blocks are not sent.
func (w *writer) goneMarkers(name string) (gone []lostMarker) {
	if !bytes.Contains(w.list, []byte(`"`+name+`"`)) {
		return nil
	}
	for i := range w.history.elements {
		e := &w.history.elements[i]
		_, isPlaced := w.at[i]
		note := func(raw, marker value, isSent bool) {
			if marker.Exists() && !isSent {
				gone = append(gone, lostMarker{i, raw, marker})
			}
		}
		for k, p := range e.pieces {
			isSent := w.moved[p] || isPlaced && (len(p.raw) == 0 || !w.edit.IsGone(p.raw))
			if k == 0 && !p.isWhole() {
				note(e.raw, e.raw.Get(name), isSent || isPlaced)
			}
			if i != p.from {
				continue // its blocks are noted
			}
			note(p.raw, p.raw.Get(name), isSent)
			for _, b := range p.blocks {
				note(b.raw, markerOf(b.raw, name), isSent && !w.edit.IsGone(b.raw))
			}
		}
	}
	return gone
}

// isWhole reports whether the block of p is a whole element.
func (p *piece) isWhole() bool { return len(p.blocks) > 0 && p.blocks[0].isWhole }

// spots returns the blocks of the new list in their order.
func (w *writer) spots(name string) (spots []spot) {
	for i := range w.out {
		e := &w.out[i]
		if e.element < 0 {
			spots = append(spots, spot{entry: e, marker: markerOf(e.raw, name), mayHave: true})
			continue
		}
		first := len(spots)
		of := &w.history.elements[e.element]
		for _, p := range of.pieces {
			if len(p.raw) > 0 {
				if !w.edit.IsGone(p.raw) {
					marker := w.markerIn(p, name)
					spots = append(spots, spot{raw: p.raw, behind: e.element, marker: marker, mayHave: true})
				}
				continue
			}
			for _, b := range p.blocks {
				if w.edit.IsGone(b.raw) {
					continue
				}
				s := spot{raw: b.raw, behind: e.element, mayHave: b.mayBeMarked(name), isText: b.list == nil}
				if s.marker = of.raw.Get(name); !s.marker.Exists() {
					s.marker = markerOf(b.raw, name)
				}
				spots = append(spots, s)
			}
		}
		slices.SortFunc(spots[first:], func(a, b spot) int {
			if jsonedit.IsBehind(a.raw, b.raw) {
				return 1
			}
			return -1
		})
	}
	return spots
}

// markerIn returns the marker of a result, or of a block in it that stays.
func (w *writer) markerIn(p *piece, name string) value {
	if marker := p.raw.Get(name); marker.Exists() {
		return marker
	}
	for _, b := range p.blocks {
		if marker := markerOf(b.raw, name); marker.Exists() && !w.edit.IsGone(b.raw) {
			return marker
		}
	}
	return nil
}

// markerOf returns the marker of a block or a message, or of one in its content: a text that a search found or that a
// document consists of, for example.
func markerOf(block value, name string) value {
	if !bytes.Contains(block, []byte(name)) {
		return nil
	}
	if marker := block.Get(name); marker.Exists() {
		return marker
	}
	for _, b := range append(block.Get("content").Elements(), block.Get("source.content").Elements()...) {
		if marker := markerOf(b, name); marker.Exists() {
			return marker
		}
	}
	return nil
}

// mayBeMarked reports whether the API accepts a marker on a block: not on thinking and blank texts, and perhaps not on
// blocks that are not known here. In Chat Completions only texts may have one, and OpenAI's stand in no answer.
func (b *Block) mayBeMarked(name string) bool {
	switch b.kind {
	case winnow.KindText:
		return len(b.text) > 0 && !adapter.IsBlank(b.text.Text()) && b.typ != "refusal" &&
			(name == cacheControl || b.of.role != winnow.RoleAssistant)
	case winnow.KindToolCall, winnow.KindImage:
		return b.api == (Messages{})
	}
	return b.typ == "document"
}

// mark sets a marker.
func (w *writer) mark(s *spot, name string, marker value) {
	s.marker = marker
	switch {
	case s.entry != nil:
		s.entry.raw = withMarker(w.api, s.entry.raw, name, marker)
	case s.isText:
		w.edit.Replace(s.raw, markedText(w.api, w.edit.Bytes(s.raw), name, marker))
	default:
		w.edit.Add(s.raw, name, marker)
	}
}

// withMarker returns a message with a marker at its end.
func withMarker(api API, message value, name string, marker value) value {
	content := message.Get("content")
	e := jsonedit.Edit(message)
	if list := content.Elements(); len(list) > 0 {
		e.Add(list[len(list)-1], name, marker)
	} else {
		e.Replace(content, markedText(api, content, name, marker))
	}
	return e.Bytes(message)
}

// markedText returns content that is a text as one that has a marker.
func markedText(api API, text value, name string, marker value) []byte {
	block := value(api.text(winnow.RoleUser, text.Text()))
	return jsonedit.List(block.Set(name, marker))
}

// markEnds sets markers where the next request may continue, for a client that sets none: at the end, where the request
// before this one ended, and where what stays at a rewrite does: behind the system prompt, and behind the last of what
// winnow has made. Anthropic looks back for 20 blocks only.
func (w *writer) markEnds(marker value) {
	spots := w.spots(cacheControl)
	models := make([]bool, len(spots))
	made, leading := -1, -1
	for i, s := range spots {
		role := winnow.RoleUser
		if s.entry == nil {
			role = w.history.elements[s.behind].role
		} else if s.entry.role == winnow.RoleUser {
			made = i
		}
		models[i] = role == winnow.RoleAssistant
		if role == winnow.RoleSystem && leading == i-1 {
			leading = i
		}
	}
	for _, at := range append(adapter.CacheBoundaries(models), made, leading) {
		for at >= 0 && !spots[at].mayHave {
			at--
		}
		if at >= 0 && len(spots[at].marker) == 0 {
			w.mark(&spots[at], cacheControl, marker)
		}
	}
}

// markMade sets breakpoints behind what winnow has made, in the role of the user.
func (w *writer) markMade() {
	for i := range w.out {
		if e := &w.out[i]; e.element < 0 && e.role == winnow.RoleUser {
			w.mark(&spot{entry: e}, Breakpoint, explicit)
		}
	}
}

var explicit = value(`{"mode":"explicit"}`)

// MarkMade sets breakpoints behind the messages of the user among values that are not the caller's own: what winnow has
// made stays so when what follows is rewritten.
func MarkMade(api API, values Values) {
	for i := range values {
		if v := &values[i]; v.Of == nil && v.JSON.Get("role").Text() == "user" {
			v.JSON = withMarker(api, v.JSON, Breakpoint, explicit)
		}
	}
}

// Markers returns the lifetimes of the client's markers in the history, "" for the shorter one.
func (h *History) Markers() (lifetimes []string) {
	note := func(raw value) {
		if marker := markerOf(raw, cacheControl); marker.Exists() {
			lifetimes = append(lifetimes, marker.Get("ttl").Text())
		}
	}
	for i := range h.elements {
		for _, p := range h.elements[i].pieces {
			note(p.raw)
			for _, b := range p.blocks {
				note(b.raw)
			}
		}
	}
	return lifetimes
}
