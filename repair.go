package winnow

import (
	"math"
	"slices"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/pairing"
)

// RepairToolPairing returns history in a form that Anthropic, OpenAI, Gemini and Bedrock accept. A valid history is
// returned unchanged.
//
//   - Every call has one result, directly behind its message and in call order. An error result stands in for a missing
//     one. Calls that still wait at the very end stay open.
//   - Results without a call go, and so do second results. A result without an id answers an open call.
//   - The first use of an id keeps it; later ones get a suffix.
//   - Calls of failed turns (StopReason "error" or "aborted") go with their results; their text stays.
//   - A call that the provider runs itself and its result stay together.
//   - Arguments that are not JSON are wrapped in an object. Empty texts and empty messages go.
func RepairToolPairing(history []Message) ([]Message, []Edit) {
	r := repair{history: history}
	if r.isClean() {
		return clip(history), nil
	}
	return r.run()
}

// run pairs calls and results by their numbers first and writes the messages then, so that nothing is copied before its
// place is known.
func (r *repair) run() ([]Message, []Edit) {
	r.collect()
	r.pairs.Match()
	r.pairs.Name(&r.given)
	r.findLater()
	r.findLone()
	r.build()
	if len(r.edits) == 0 {
		return clip(r.history), nil
	}
	return r.out, r.edits
}

// What a message must not hold, and the message without it.

// isClean is a quick check whether the history needs no repair, as most do not.
func (r *repair) isClean() bool {
	if len(r.given.Names) > 0 {
		return false // also an id that stands once in the history may have been used before
	}
	h := r.history
	calls := 0
	for i := 0; i < len(h); i++ {
		m := &h[i]
		if m.Role == RoleTool || !r.isSound(i) {
			return false // results that stand where they belong are passed over below, with their calls
		}
		if m.Role != RoleAssistant {
			continue
		}
		at := i
		for p := range callsOf(m) {
			if isFailed(m) || p.ID == "" {
				return false // a failed turn loses its calls, and an empty id is replaced
			}
			calls++
			if at+1 == len(h) { // waits for its result at the end
				if at > i && r.forRequest {
					return false // some have their results: in a request the others get one that stands in
				}
				continue
			}
			at++
			if h[at].Role != RoleTool || h[at].ToolCallID != p.ID || !r.isSound(at) {
				return false
			}
		}
		i = at
	}
	return calls == 0 || r.idsAreUnique(calls)
}

// idsAreUnique reports whether no two of the history's calls have the same id.
func (r *repair) idsAreUnique(calls int) bool {
	seen := make(map[string]struct{}, calls)
	for i := range r.history {
		if r.history[i].Role != RoleAssistant {
			continue
		}
		for p := range callsOf(&r.history[i]) {
			// One look-up instead of two: the map grows if the id is new.
			known := len(seen)
			if seen[p.ID] = struct{}{}; len(seen) == known {
				return false
			}
		}
	}
	return true
}

// isSound reports whether the parts of message i need no change, except perhaps the ids of its calls.
func (r *repair) isSound(i int) bool {
	if r.facts != nil {
		return r.facts[i].sound
	}
	return partsAreClean(&r.history[i], r.forRequest)
}

// fault is Validate for a history whose messages are known: those that are sound were looked at when they came in.
func (r *repair) fault() *InvalidMessageError {
	for i := range r.history {
		if !r.isSound(i) {
			if e := faultOf(&r.history[i]); e != nil {
				e.Index = i
				return e
			}
		}
	}
	return nil
}

// needsCleaning reports whether cleaned may change message i, or leave nothing of it.
func (r *repair) needsCleaning(i int) bool {
	if !r.isSound(i) {
		return true
	}
	if s := r.first[i]; s >= 0 {
		if r.pairs.Calls[s].Failed {
			return true
		}
		for ; r.isCallOf(i, s); s++ {
			if r.pairs.IsRenamed(s) {
				return true
			}
		}
	}
	return false
}

// cleaned returns message i without what providers refuse, and with its calls' ids.
func (r *repair) cleaned(i int) (m Message, changed bool) {
	m = r.history[i]
	// Most messages have no calls and are known to need no repair: their parts are not read.
	if r.first[i] < 0 && r.facts != nil && r.facts[i].sound {
		return m, false
	}
	// A turn that failed may have broken off within a call: its calls are left out, and so are their results.
	failed := isFailed(&m)
	s := r.first[i]
	var parts []Part // nil until something changes
	edit := func(k int) {
		if parts == nil {
			parts = append(make([]Part, 0, len(m.Parts)), m.Parts[:k]...)
		}
	}
	for k := range m.Parts {
		p := m.Parts[k]
		isStray := isStrayCall(&m, &p) || r.isLone(i, k)
		isCall := p.Kind == KindToolCall && !isStray
		if isEmptyPart(&p, r.forRequest) || isStray || isCall && failed {
			edit(k)
			if isCall {
				s++ // its result is dropped as well, see dropResult
			}
			continue
		}
		if isCall {
			id := r.pairs.SentID(s)
			s++
			if p.ID != id && id != "" || !validArguments(p.Arguments) {
				edit(k)
				p.Source = nil // the host's own value still has what is wrong
				if id != "" {
					p.ID = id
				}
				if !validArguments(p.Arguments) {
					p.Arguments = jsontext.Wrap(p.Arguments)
				}
			}
		}
		if parts != nil {
			parts = append(parts, p)
		}
	}
	if parts != nil {
		m.Parts, m.Source, changed = parts, nil, true
	}
	if endsInThinking(&m) {
		n := len(m.Parts)
		// Its signature is dropped too: nothing is left that it could prove.
		for n > 0 && isThinking(m.Parts[n-1]) {
			n--
		}
		m.Parts, m.Source, changed = m.Parts[:n:n], nil, true
	}
	return m, changed
}

// hasSubstance reports whether m has more than thinking: providers refuse a message of thinking alone.
func hasSubstance(m *Message) bool {
	return hasPart(m, func(p *Part) bool { return p.Kind != KindThinking })
}

// The repaired history: every message that stays, and an edit for each that does not stay as it was.

func (r *repair) build() {
	h := r.history
	last := r.lastKept()
	missing := 0
	// Counted ahead, so that the lists are allocated once.
	for s := range r.pairs.Calls {
		if r.pairs.Calls[s].Result < 0 {
			missing++
		}
	}
	r.out = make([]Message, 0, len(h)+missing)
	r.origin = make([]int32, 0, cap(r.out))
	r.changed = make([]bool, 0, cap(r.out))
	for i := range h {
		m := &h[i]
		if m.Role == RoleTool {
			if s, ok := r.later[int32(i)]; ok && s >= 0 && !(i > last && r.waiting) {
				r.keep(i, r.laterResult(i, s), true)
			} else {
				r.dropResult(i)
			}
			continue
		}
		if !r.needsCleaning(i) {
			r.emit(i, *m, false)
		} else if cleaned, changed := r.cleaned(i); hasSubstance(&cleaned) {
			r.keep(i, cleaned, changed)
		} else {
			r.drop(i, "nothing is left in it")
			continue // it had no calls but those of a failed turn, whose results are dropped too
		}
		if r.first[i] >= 0 && !isFailed(m) {
			r.waiting = i == last && r.waits(i)
			r.appendResults(i, r.waiting)
		}
	}
	r.reportMoves()
}

// waits reports whether the calls of message i, the newest, stay open. In a request they stay open only if none has a
// result: a host that sends some of the results asks for the next answer, and no provider gives one to a call without a
// result.
func (r *repair) waits(i int) bool {
	if !r.forRequest {
		return true
	}
	for s := r.first[i]; r.isCallOf(i, s); s++ {
		if r.pairs.Calls[s].Result >= 0 {
			return false
		}
	}
	return true
}

// lastKept returns the index of the last message that stays and is not a result, or -1.
func (r *repair) lastKept() int {
	for i := len(r.history) - 1; i >= 0; i-- {
		if r.history[i].Role == RoleTool {
			continue
		}
		if cleaned, _ := r.cleaned(i); hasSubstance(&cleaned) {
			return i
		}
	}
	return -1
}

// dropResult drops result i if it answers no call that stays. appendResults writes the others behind their calls.
func (r *repair) dropResult(i int) {
	s := r.pairs.Results[r.result[i]].Call
	switch {
	case s < 0:
		reason := "answers no call"
		switch later, ok := r.later[int32(i)]; {
		case ok && later < 0:
			reason = "a later result of its call took its place before it was sent"
		case ok:
			reason = "another result of its call, which is shown when the open calls have theirs"
		case r.pairs.WasCalled(r.history[i].ToolCallID, int32(i)):
			reason = "the call has its result already"
		}
		r.drop(i, reason)
	case r.pairs.Calls[s].Failed:
		r.drop(i, "its call is of a failed turn")
	case r.pairs.Calls[s].Result != r.result[i]: // a stand-in, and the real result came later
		r.drop(i, "stood in for a result that came late")
	}
}

// appendResults writes the results of message i's calls in call order.
func (r *repair) appendResults(i int, pending bool) {
	for s := r.first[i]; r.isCallOf(i, s); s++ {
		c := &r.pairs.Calls[s]
		if c.Result < 0 {
			if !pending {
				r.insertMissing(i, s)
			}
			continue
		}
		k := int(r.pairs.Results[c.Result].Message)
		id := r.pairs.SentID(s)
		if r.history[k].ToolCallID == id && !r.needsCleaning(k) {
			r.emit(k, r.history[k], false)
			continue
		}
		m, changed := r.cleaned(k)
		if m.ToolCallID != id {
			m.ToolCallID, m.Source, changed = id, nil, true
		}
		r.keep(k, m, changed)
	}
}

// insertMissing writes an error result for call s of message i.
func (r *repair) insertMissing(i int, s int32) {
	// All inserted results share one list of parts, because nobody writes to it.
	if r.missing == nil {
		r.missing = []Part{{Text: missingResult}}
	}
	id := r.pairs.SentID(s)
	m := Message{Role: RoleTool, ToolCallID: id, ToolName: r.pairs.Calls[s].Name, IsError: true, Parts: r.missing}
	if m.ToolName == "" {
		m.ToolName = "unknown"
	}
	r.emit(-1, m, true) // -1: it is not a message of the history
	r.edits = append(r.edits, Edit{
		Op: OpRepair, Index: i, After: max(1, CharsPerToken(4).Estimate(m)),
		Reason: "no result for call " + pairing.ShortID(id) + ": an error result stands in",
	})
}

// keep writes m in the place of message i, and adds an edit if m is changed.
func (r *repair) keep(i int, m Message, changed bool) {
	r.emit(i, m, changed)
	if changed {
		reason := "made valid: ids, arguments or empty parts"
		if isLaterResult(&m) && r.history[i].Role == RoleTool {
			reason = "another result of its call: shown where it stands"
		}
		for k := range r.history[i].Parts {
			if r.isLone(i, k) {
				reason = "half of a pair that the provider ran itself is left out"
			}
		}
		e := dropEdit(OpRepair, r.history, i, reason)
		e.After = max(1, CharsPerToken(4).Estimate(m))
		r.edits = append(r.edits, e)
	}
}

// emit writes m. i is the message of the history that it is or was made from, or -1.
func (r *repair) emit(i int, m Message, changed bool) {
	r.out = append(r.out, m)
	r.origin = append(r.origin, int32(i))
	r.changed = append(r.changed, changed)
}

// drop leaves message i out, and adds an edit with the reason.
func (r *repair) drop(i int, reason string) {
	r.edits = append(r.edits, dropEdit(OpRepair, r.history, i, reason))
}

// reportMoves adds an edit for each result that moved ahead of another message and was not changed otherwise. Results
// never move back.
func (r *repair) reportMoves() {
	var moved []int32
	lowest := int32(math.MaxInt32) // index of all messages behind
	// A message has moved ahead if one that was before it stands behind it.
	for k, i := range slices.Backward(r.origin) {
		if i < 0 {
			continue
		}
		if i > lowest && !r.changed[k] {
			moved = append(moved, i)
		}
		lowest = min(lowest, i)
	}
	for _, i := range slices.Backward(moved) {
		e := dropEdit(OpRepair, r.history, int(i), "moved behind its call")
		e.After = e.Before
		r.edits = append(r.edits, e)
	}
}
