package winnow

import "github.com/winnowgo/winnow/internal/jsontext"

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
	for i := range m.Parts {
		if m.Parts[i].Kind != KindThinking {
			return true
		}
	}
	return false
}
