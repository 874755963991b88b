package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/pairing"
)

// Later results. A tool that takes long may return something at once, and its result when it is done. A provider takes
// one result for each call. So a request has the first one behind the call, and each later one with other content where
// it stands, as a text of the host that names the call. If the model has not seen the first one, the later one takes
// its place.

// findLater decides for each result that answers no open call, but whose call has a result, whether it is shown too.
func (r *repair) findLater() {
	if !r.forRequest {
		return
	}
	byID, byTool := map[string]int32{}, map[string]int32{} // the newest call
	next := int32(0)
	results := map[int32][]int32{} // of calls with more than one
	for k := range r.pairs.Results {
		result := &r.pairs.Results[k]
		if result.Call >= 0 {
			continue
		}
		for ; int(next) < len(r.pairs.Calls) && r.pairs.Calls[next].Message < result.Message; next++ {
			c := &r.pairs.Calls[next]
			byID[c.ID], byTool[c.Name] = next, next
		}
		s, ok := byID[result.CallID]
		if result.CallID == "" { // some providers have no ids
			s, ok = byTool[result.Tool]
		}
		if ok && !r.pairs.Calls[s].Failed && r.pairs.Calls[s].Result >= 0 {
			results[s] = append(results[s], int32(k))
		}
	}
	for _, s := range slices.Sorted(maps.Keys(results)) { // what is decided is stored, in this order
		list := append(results[s], r.pairs.Calls[s].Result)
		slices.Sort(list) // one that came late was given to the call before the others
		r.showLater(s, list)
	}
}

// showLater decides which of the results of call s, in their order, stands behind the call, and which are shown later.
func (r *repair) showLater(s int32, list []int32) {
	slot := list[0]
	for n, k := range list[1:] {
		a, b := &r.pairs.Results[list[n]], &r.pairs.Results[k]
		switch {
		case r.returnSame(a.Message, b.Message):
			list[n+1] = list[n] // the next one is compared with what is shown
		case list[n] == slot && a.Answers == b.Answers &&
			!r.standsApart(r.resultFor(a.Message, s), r.resultFor(b.Message, s)):
			slot = k
			r.setLater(a.Message, -1)
		default:
			r.setLater(b.Message, s)
		}
	}
	c := &r.pairs.Calls[s]
	r.pairs.Results[c.Result].Call = -1
	c.Result, r.pairs.Results[slot].Call = slot, s
}

// resultFor returns message i as the result of call s in a request.
func (r *repair) resultFor(i, s int32) *Message {
	m := r.history[i]
	m.ToolCallID = r.pairs.SentID(s)
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool {
		return isEmptyPart(&p, true) || p.Kind == KindToolCall
	})
	return &m
}

func (r *repair) setLater(i, s int32) {
	if r.later == nil {
		r.later = map[int32]int32{}
	}
	r.later[i] = s
}

// returnSame reports whether a model reads the same in messages i and k.
func (r *repair) returnSame(i, k int32) bool {
	a, b := &r.history[i], &r.history[k]
	same := func(x, y Part) bool { return sameParts(&x, &y) }
	return a.IsError == b.IsError && slices.EqualFunc(a.Parts, b.Parts, same)
}

// laterResult returns what shows message i, another result of call s.
func (r *repair) laterResult(i int, s int32) Message {
	m := r.history[i]
	c := &r.pairs.Calls[s]
	head := "A later result of "
	if c.Name != "" {
		head += markup.Attribute(pairing.ShortID(c.Name)) + ", "
	}
	head += "call " + markup.Attribute(pairing.ShortID(r.pairs.SentID(s)))
	if m.IsError {
		head += ", which failed"
	}
	parts := []Part{{Text: "[" + head + ":]"}}
	for k := range m.Parts {
		p := m.Parts[k]
		if isEmptyPart(&p, true) || isStrayCall(&m, &p) {
			continue
		}
		if p.Kind == KindText {
			p.Source = nil // it is of a result, and this is none
		}
		parts = append(parts, p)
	}
	return Message{
		ID: m.ID, Role: RoleUser, Injected: true, Parts: parts, ToolCallID: r.pairs.SentID(s), ToolName: c.Name,
		IsError: m.IsError, Details: m.Details, Time: m.Time, Pinned: m.Pinned,
	}
}
