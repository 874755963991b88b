package wire

import (
	"bytes"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// A marker of the prompt cache stays where the client set it. If its block goes, the nearest block before it that stays
// and has none gets it.

const cacheControl = "cache_control"

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

// moveMarkers gives each marker whose block goes another one. It returns how many find none.
func (w *writer) moveMarkers() (lost int) {
	gone := w.goneMarkers()
	if len(gone) == 0 {
		return 0
	}
	spots := w.spots()
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
			lost++
			continue
		}
		w.mark(&spots[at], marker)
	}
	return lost
}

// isBehind reports whether s is of the client's and stands behind g in its history.
func (s *spot) isBehind(g *lostMarker) bool {
	if len(s.raw) == 0 {
		return false
	}
	return s.behind > g.element || s.behind == g.element && jsonedit.IsBehind(s.raw, g.raw)
}

// goneMarkers returns the markers in the client's list whose blocks are not sent.
func (w *writer) goneMarkers() (gone []lostMarker) {
	for i := range w.history.elements {
		e := &w.history.elements[i]
		if !bytes.Contains(e.raw, []byte(`"`+cacheControl+`"`)) {
			continue
		}
		_, isSent := w.at[i]
		isGone := func(raw value) bool { return !isSent || w.edit.IsGone(raw) }
		for _, p := range e.pieces {
			isPieceGone := len(p.raw) > 0 && isGone(p.raw)
			if marker := p.raw.Get(cacheControl); marker.Exists() && isPieceGone {
				gone = append(gone, lostMarker{i, p.raw, marker})
			}
			for _, b := range p.blocks {
				if marker := markerOf(b.raw); marker.Exists() && (isPieceGone || isGone(b.raw)) {
					gone = append(gone, lostMarker{i, b.raw, marker})
				}
			}
		}
	}
	return gone
}

// spots returns the blocks of the new list in their order.
func (w *writer) spots() (spots []spot) {
	for i := range w.out {
		e := &w.out[i]
		if e.element < 0 {
			spots = append(spots, spot{entry: e, mayHave: true})
			continue
		}
		first := len(spots)
		for _, p := range w.history.elements[e.element].pieces {
			if len(p.raw) > 0 {
				if !w.edit.IsGone(p.raw) {
					spots = append(spots, spot{raw: p.raw, behind: e.element, marker: w.markerIn(p), mayHave: true})
				}
				continue
			}
			for _, b := range p.blocks {
				if !w.edit.IsGone(b.raw) {
					spots = append(spots, spot{
						raw: b.raw, behind: e.element, marker: markerOf(b.raw), mayHave: b.mayBeMarked(),
						isText: b.list == nil,
					})
				}
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
func (w *writer) markerIn(p *piece) value {
	if marker := p.raw.Get(cacheControl); marker.Exists() {
		return marker
	}
	for _, b := range p.blocks {
		if marker := markerOf(b.raw); marker.Exists() && !w.edit.IsGone(b.raw) {
			return marker
		}
	}
	return nil
}

// markerOf returns the marker of a block, or of one in its content: a text that a search found, for example.
func markerOf(block value) value {
	if marker := block.Get(cacheControl); marker.Exists() {
		return marker
	}
	for _, b := range block.Get("content").Elements() {
		if marker := markerOf(b); marker.Exists() {
			return marker
		}
	}
	return nil
}

// mayBeMarked reports whether the API accepts a marker on a block: not on thinking and blank texts, and perhaps not on
// blocks that are not known here. In Chat Completions only texts may have one.
func (b *Block) mayBeMarked() bool {
	switch b.kind {
	case winnow.KindText:
		return len(b.text) > 0 && !adapter.IsBlank(b.text.Text()) && b.typ != "refusal"
	case winnow.KindToolCall, winnow.KindImage:
		return b.api == (Messages{})
	}
	return b.typ == "document"
}

// mark sets a marker.
func (w *writer) mark(s *spot, marker value) {
	s.marker = marker
	switch {
	case s.entry != nil:
		content := value(s.entry.raw).Get("content")
		e := jsonedit.Edit(s.entry.raw)
		if list := content.Elements(); len(list) > 0 {
			e.Add(list[len(list)-1], cacheControl, marker)
		} else {
			e.Replace(content, markedText(content, marker))
		}
		s.entry.raw = e.Bytes(s.entry.raw)
	case s.isText:
		w.edit.Replace(s.raw, markedText(w.edit.Bytes(s.raw), marker))
	default:
		w.edit.Add(s.raw, cacheControl, marker)
	}
}

// markedText returns content that is a text as one that has a marker.
func markedText(text []byte, marker value) []byte {
	return jsonedit.List(jsonedit.Object("type", "text", "text", text, cacheControl, marker))
}

// markEnds sets markers where the next request may continue, for a client that sets none: at the end, and where the
// request before this one ended.
func (w *writer) markEnds(marker value) {
	spots := w.spots()
	markLast := func(spots []spot) {
		for i := len(spots) - 1; i >= 0; i-- {
			if spots[i].mayHave {
				if len(spots[i].marker) == 0 {
					w.mark(&spots[i], marker)
				}
				return
			}
		}
	}
	markLast(spots)
	for i := len(spots) - 1; i >= 0; i-- {
		s := &spots[i]
		if s.entry == nil && w.history.elements[s.behind].role == winnow.RoleAssistant {
			for i >= 0 && spots[i].entry == nil && w.history.elements[spots[i].behind].role == winnow.RoleAssistant {
				i--
			}
			markLast(spots[:i+1])
			return
		}
	}
}

// Breakpoint is the member of a block at which OpenAI's models from GPT-5.6 on look for the beginning of a prompt in
// their cache, beside the ends of earlier requests.
const Breakpoint = "prompt_cache_breakpoint"

// markMade sets breakpoints behind what winnow has made, in the role of the user.
func (w *writer) markMade() {
	for i := range w.out {
		e := &w.out[i]
		if e.element >= 0 || e.role != winnow.RoleUser {
			continue
		}
		content, edit := value(e.raw).Get("content"), jsonedit.Edit(e.raw)
		blocks := content.Elements()
		if content.IsText() {
			blocks = []value{w.api.text(winnow.RoleUser, content.Text())}
		}
		if len(blocks) == 0 {
			continue
		}
		last := &blocks[len(blocks)-1]
		marked := jsonedit.Edit(*last)
		marked.Add(*last, Breakpoint, value(`{"mode":"explicit"}`))
		*last = marked.Bytes(*last)
		list := make([][]byte, len(blocks))
		for k, b := range blocks {
			list[k] = b
		}
		edit.Replace(content, jsonedit.List(list...))
		e.raw = edit.Bytes(e.raw)
	}
}

// Markers returns the lifetimes of the client's markers in the history, "" for the shorter one.
func (h *History) Markers() (lifetimes []string) {
	for i := range h.elements {
		e := &h.elements[i]
		if !bytes.Contains(e.raw, []byte(`"`+cacheControl+`"`)) {
			continue
		}
		for _, p := range e.pieces {
			for _, raw := range append([]value{p.raw}, rawOf(p.blocks)...) {
				if marker := markerOf(raw); marker.Exists() {
					lifetimes = append(lifetimes, marker.Get("ttl").Text())
				}
			}
		}
	}
	return lifetimes
}

func rawOf(blocks []*Block) []value {
	raw := make([]value, len(blocks))
	for i, b := range blocks {
		raw[i] = b.raw
	}
	return raw
}
