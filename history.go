package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/record"
)

// LimitHistoryTurns keeps the newest limit turns; 0 or less means all. System messages, pins and summaries stay, and so
// do the call, the results and the question that a pin belongs to. If nothing is dropped, history itself is returned.
func LimitHistoryTurns(history []Message, limit int) ([]Message, []Edit) {
	from := turnLimitStart(listed(history), limit)
	if from == 0 {
		return clip(history), nil
	}
	var out []Message
	edits := make([]Edit, 0, from)
	for i, stays := range keptBefore(listed(history), from, nil) {
		if stays {
			out = append(out, history[i])
		} else {
			edits = append(edits, dropEdit(OpLimit, history, i, limitReason))
		}
	}
	switch {
	case len(edits) == 0:
		return clip(history), nil // no older message may be dropped
	case len(out) == 0: // no older message is kept: return a part of the input, not a copy
		return clip(history[from:]), edits
	}
	return slices.Concat(out, history[from:]), edits
}

const limitReason = "older than the newest turns that are kept"

// turnLimitStart returns the index at which the newest `limit` turns begin. It returns 0 if history has no more turns
// than that, or if limit is 0 or less.
func turnLimitStart(history sequence, limit int) int {
	if limit <= 0 || limit >= history.len() {
		return 0
	}
	turns, start := 0, 0
	for i := history.len() - 1; turns+i >= limit; i-- { // until too few messages are left to exceed the limit
		if !beginsTurn(history.at(i)) {
			continue
		}
		if turns++; turns > limit {
			return start
		}
		start = i
	}
	return 0
}

// keptBefore marks the messages of history before `from` that survive the turn limit. Those for which isHeld returns
// true stay like pins; it may be nil.
func keptBefore(history sequence, from int, isHeld func(i int) bool) []bool {
	keep := make([]bool, from)
	// For each message, the index of the user message that began its turn, or of the summary or text of the host that
	// stands there instead; -1: none.
	questions := make([]int, from)
	question := -1
	calls := answered{messages: history}
	atoms := map[int]bool{} // assistant messages that are kept already with their results
	keepCall := func(i, owner int) {
		if owner < 0 {
			owner = i // a result whose call is not in the history
		} else {
			keep[owner], atoms[owner] = true, true
		}
		// Without its question an assistant message could come first, which providers refuse.
		if asked := questions[owner]; asked >= 0 {
			keep[asked] = true
		}
	}
	for i := range from {
		m := history.at(i)
		isFixed := m.Role == RoleSystem || m.Summary
		// As long as there was no question, a summary or a text of the host takes its place.
		if beginsTurn(m) || question < 0 && (m.Summary || m.Role == RoleUser) {
			question = i
		}
		questions[i] = question
		stays := m.Pinned || isHeld != nil && isHeld(i)
		keep[i] = isFixed || stays
		if isFixed || !stays || m.Role == RoleUser {
			continue
		}
		keepCall(i, calls.owner(i))
	}
	for i := from; i < history.len(); i++ { // the call of a pinned result may stand before `from`
		if m := history.at(i); m.Pinned && m.Role == RoleTool {
			if owner := calls.owner(i); owner >= 0 && owner < from {
				keepCall(owner, owner)
			}
		}
	}
	keepPairs(history, keep, atoms)
	keepResults(&calls, keep, atoms)
	return keep
}

// insidePairs marks the messages in front of which a call that the provider runs itself waits for its result: nothing
// may be cut there, and nothing may be put there. It is nil if there are none.
func insidePairs(history sequence) (inside []bool) {
	open := map[string]bool{}
	for i := range history.len() {
		m := history.at(i)
		if len(open) > 0 {
			if inside == nil {
				inside = make([]bool, history.len())
			}
			inside[i] = true
		}
		if m.Role == RoleTool || m.Role == RoleSystem {
			continue
		}
		for k := range m.Parts {
			switch p := &m.Parts[k]; {
			case isServerCall(p):
				open[p.ID] = true
			case isServerResult(p):
				delete(open, p.ID)
			case m.Role == RoleUser || m.Summary: // the turn ends
				clear(open)
			}
		}
	}
	return inside
}

// keepPairs keeps both halves of the pairs that the provider ran itself, where one is in atoms.
func keepPairs(history sequence, keep []bool, atoms map[int]bool) {
	if len(atoms) == 0 {
		return
	}
	inside := insidePairs(history)
	first, answer, isKept := -1, -1, false // the answers from first to answer go on from each other
	end := func() {
		for k := first; isKept && k >= 0 && k <= answer; k++ {
			keep[k], atoms[k] = true, true
		}
	}
	for i := range keep {
		if history.at(i).Role != RoleAssistant {
			continue
		}
		if inside == nil || !inside[i] {
			end()
			first, isKept = i, false
		}
		answer, isKept = i, isKept || atoms[i]
	}
	end()
}

// keepResults keeps the results of the calls of the assistant messages in atoms, wherever the results stand. A call
// without its result would be answered by a stand-in.
func keepResults(calls *answered, keep []bool, atoms map[int]bool) {
	if len(atoms) == 0 {
		return
	}
	for i := range keep {
		if calls.messages.at(i).Role == RoleTool && !keep[i] {
			keep[i] = atoms[calls.owner(i)]
		}
	}
}

// outlives marks those of the first n messages that every compaction keeps: system messages, and pins with their calls
// and results. A pin does not need its question, because the summary stands in front of it.
func outlives(messages sequence, n int) []bool {
	keep := keptBefore(messages, n, nil)
	for i := range keep {
		m := messages.at(i)
		keep[i] = keep[i] && (m.Pinned || !m.Summary && m.Role != RoleUser)
	}
	return keep
}

// keepFront marks in keep the texts that the host inserted and that nothing stands in front of, except what is marked
// already. It returns 0 if there are none, or else the number of messages up to the last one.
func keepFront(messages sequence, keep []bool) (n int) {
	for i := range keep {
		switch m := messages.at(i); {
		case keep[i]:
		case m.Role == RoleUser && m.Injected && !m.Summary && !record.Is(joinedText(m)):
			keep[i], n = true, i+1
		default:
			return n
		}
	}
	return n
}
