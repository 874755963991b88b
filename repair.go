package winnow

import (
	"encoding/json"
	"math"
	"slices"
)

// RepairToolPairing returns history in a form that Anthropic, OpenAI, Gemini and Bedrock accept:
//
//   - every call has one result, directly behind its assistant message and in call order; a late result
//     moves to its call, even across other assistant messages;
//   - results without a call and second results are dropped; a missing result is replaced by an error
//     result that says so; calls that still wait at the very end stay open;
//   - calls and results are paired by occurrence, so that ids may repeat in later turns and inside one
//     message, or be empty; the first use of an id keeps it and later ones get a suffix, call and result alike;
//   - calls of failed turns (StopReason "error" or "aborted") go with their results, their text stays;
//   - arguments that are not JSON are wrapped in an object; empty texts go, and with them messages that
//     would be empty.
//
// A history that is valid already is returned as it is. Counts in the edits are by CharsPerToken(4).
func RepairToolPairing(history []Message) ([]Message, []Edit) {
	r := repair{history: history}
	if r.isClean() {
		return clip(history), nil
	}
	return r.run()
}

// missingResult is the text of a result that stands in for one that the history does not have. It says
// what is known and no more: the call may or may not have run.
const missingResult = "[No result: the conversation has no result for this call. Whether it ran is not known.]"

// repair is one run of RepairToolPairing.
type repair struct {
	history   []Message
	dropBlank bool    // texts of nothing but white space go as well
	facts     []*fact // what is known of each message; nil: nothing

	calls  []callSlot
	first  []int32          // index into calls of each message's first call, -1 for none
	answer []int32          // for a result: index into calls of what it answers, -1 for nothing
	ids    map[string]int32 // call id -> calls of that id in the newest message that has it

	out     []Message
	origin  []int32 // for each message of out: its index in history, or -1
	changed []bool  // for each message of out: it differs from that of its origin
	edits   []Edit
}

// isFailed says that m is an assistant message of a turn that ended in an error.
func isFailed(m *Message) bool {
	return m.Role == RoleAssistant && (m.StopReason == "error" || m.StopReason == "aborted")
}

// isClean is a quick look at a history that needs nothing, as most do.
func (r *repair) isClean() bool {
	h := r.history
	var seen map[string]struct{}
	for i := 0; i < len(h); i++ {
		m := &h[i]
		if m.Role == RoleTool || !r.isSound(i) {
			return false
		}
		if m.Role != RoleAssistant {
			continue
		}
		at := i
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != KindToolCall {
				continue
			}
			if isFailed(m) || p.ID == "" {
				return false
			}
			if seen == nil {
				seen = make(map[string]struct{}, len(h)/4)
			}
			if _, ok := seen[p.ID]; ok {
				return false
			}
			seen[p.ID] = struct{}{}
			if at+1 == len(h) { // waits for its result at the end
				continue
			}
			at++
			if h[at].Role != RoleTool || h[at].ToolCallID != p.ID || !r.isSound(at) {
				return false
			}
		}
		i = at
	}
	return true
}

// isSound says that nothing in the parts of message i is to be changed but, perhaps, its calls' ids.
func (r *repair) isSound(i int) bool {
	if r.facts != nil {
		return r.facts[i].sound
	}
	return r.partsAreClean(&r.history[i])
}

// partsAreClean says that nothing is to be changed in m but, perhaps, its calls' ids.
func (r *repair) partsAreClean(m *Message) bool {
	substance := m.Role == RoleTool
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case r.isEmptyPart(p):
			return false
		case p.Kind == KindToolCall && !validArguments(p.Arguments):
			return false
		case p.Kind != KindThinking:
			substance = true
		}
	}
	return substance && !endsInThinking(m)
}

// isEmptyPart says that providers refuse p because there is nothing in it. A signed thinking part without
// a text is not empty: it is encrypted.
func (r *repair) isEmptyPart(p *Part) bool {
	switch p.Kind {
	case KindText:
		return p.Text == "" || r.dropBlank && isBlank(p.Text)
	case KindThinking:
		return p.Text == "" && p.Signature == ""
	}
	return false
}

// endsInThinking says that m is an assistant message without calls whose last part is thinking. Providers
// want what the thinking led to behind it. (With calls its thinking is not touched, wherever it stands.)
func endsInThinking(m *Message) bool {
	if m.Role != RoleAssistant || len(m.Parts) == 0 || m.Parts[len(m.Parts)-1].Kind != KindThinking {
		return false
	}
	return isFailed(m) || !hasCalls(m)
}

func hasCalls(m *Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == KindToolCall {
			return m.Role == RoleAssistant
		}
	}
	return false
}

func validArguments(raw json.RawMessage) bool { return len(raw) == 0 || json.Valid(raw) }

func (r *repair) run() ([]Message, []Edit) {
	r.collectCalls()
	r.pair()
	r.pairLate()
	r.nameCalls()
	r.build()
	if len(r.edits) == 0 {
		return clip(r.history), nil
	}
	return r.out, r.edits
}

// build writes the repaired history and the edits.
func (r *repair) build() {
	h := r.history
	last := r.lastKept()
	r.out = make([]Message, 0, len(h)+len(h)/16)
	r.origin = make([]int32, 0, cap(r.out))
	r.changed = make([]bool, 0, cap(r.out))
	for i := range h {
		m := &h[i]
		if m.Role == RoleTool {
			r.dropResult(i)
			continue
		}
		if !r.needsCleaning(i) {
			r.keepAsIs(i)
		} else if cleaned, changed := r.cleaned(i); hasSubstance(&cleaned) {
			r.keep(i, cleaned, changed)
		} else {
			r.drop(i, "nothing is left in it")
			continue
		}
		if r.first[i] >= 0 && !isFailed(m) {
			r.appendResults(i, i == last)
		}
	}
	r.reportMoves()
}

// lastKept returns the index of the last message that is no result and stays, or -1.
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

func hasSubstance(m *Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind != KindThinking {
			return true
		}
	}
	return false
}

// dropResult drops result i if it answers no call that stays. The others are written behind their calls.
func (r *repair) dropResult(i int) {
	s := r.answer[i]
	switch {
	case s < 0:
		reason := "answers no call"
		if _, ok := r.ids[r.history[i].ToolCallID]; ok {
			reason = "the call has its result already"
		}
		r.drop(i, reason)
	case r.calls[s].failed:
		r.drop(i, "its call is of a failed turn")
	case r.calls[s].result != int32(i): // a made one, and the real one came later
		r.drop(i, "stood in for a result that came late")
	}
}

// needsCleaning says whether cleaned may change message i, or leave nothing of it.
func (r *repair) needsCleaning(i int) bool {
	m := &r.history[i]
	if !r.partsAreClean(m) {
		return true
	}
	if s := r.first[i]; s >= 0 {
		if r.calls[s].failed {
			return true
		}
		for ; int(s) < len(r.calls) && r.calls[s].message == int32(i); s++ {
			if r.callPart(s).ID != r.calls[s].id {
				return true
			}
		}
	}
	return false
}

// cleaned returns message i without what providers refuse, and with its calls' ids.
func (r *repair) cleaned(i int) (m Message, changed bool) {
	m = r.history[i]
	if r.first[i] < 0 && r.facts != nil && r.facts[i].sound {
		return m, false
	}
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
		isCall := p.Kind == KindToolCall && m.Role == RoleAssistant
		if r.isEmptyPart(&p) || isCall && failed {
			edit(k)
			if isCall {
				s++
			}
			continue
		}
		if isCall {
			id := r.calls[s].id
			s++
			if p.ID != id && id != "" || !validArguments(p.Arguments) {
				edit(k)
				p.Source = nil
				if id != "" {
					p.ID = id
				}
				if !validArguments(p.Arguments) {
					p.Arguments = wrapArguments(p.Arguments)
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
	for endsInThinking(&m) {
		m.Parts, m.Source, changed = m.Parts[:len(m.Parts)-1:len(m.Parts)-1], nil, true
	}
	return m, changed
}

// wrapArguments makes JSON of what a model wrote in its place, without losing it.
func wrapArguments(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(map[string]string{"invalidJson": string(raw)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// appendResults writes the results of message i's calls in call order.
func (r *repair) appendResults(i int, pending bool) {
	for s := r.first[i]; int(s) < len(r.calls) && r.calls[s].message == int32(i); s++ {
		c := &r.calls[s]
		if c.result < 0 {
			if !pending {
				r.insertMissing(i, c)
			}
			continue
		}
		k := int(c.result)
		if r.history[k].ToolCallID == c.id && !r.needsCleaning(k) {
			r.keepAsIs(k)
			continue
		}
		m, changed := r.cleaned(k)
		if m.ToolCallID != c.id {
			m.ToolCallID, m.Source, changed = c.id, nil, true
		}
		r.keep(k, m, changed)
	}
}

func (r *repair) insertMissing(i int, c *callSlot) {
	m := Message{
		Role: RoleTool, ToolCallID: c.id, ToolName: r.history[i].Parts[c.part].Name, IsError: true,
		Parts: []Part{{Text: missingResult}},
	}
	if m.ToolName == "" {
		m.ToolName = "unknown"
	}
	r.emit(-1, m, true)
	r.edits = append(r.edits, Edit{Op: OpRepair, Index: i, After: max(1, CharsPerToken(4).Estimate(m)), Reason: "no result for call " + shortID(c.id) + ": an error result stands in"})
}

func (r *repair) keepAsIs(i int) {
	r.out = append(r.out, r.history[i])
	r.origin = append(r.origin, int32(i))
	r.changed = append(r.changed, false)
}

func (r *repair) keep(i int, m Message, changed bool) {
	r.emit(i, m, changed)
	if changed {
		e := dropEdit(OpRepair, r.history, i, CharsPerToken(4), "made valid: ids, arguments or empty parts")
		e.After = max(1, CharsPerToken(4).Estimate(m))
		r.edits = append(r.edits, e)
	}
}

func (r *repair) emit(i int, m Message, changed bool) {
	r.out = append(r.out, m)
	r.origin = append(r.origin, int32(i))
	r.changed = append(r.changed, changed)
}

func (r *repair) drop(i int, reason string) {
	r.edits = append(r.edits, dropEdit(OpRepair, r.history, i, CharsPerToken(4), reason))
}

// reportMoves adds an edit for each result that moved ahead of another message and was not changed
// otherwise. Results never move back.
func (r *repair) reportMoves() {
	changed := make(map[int32]bool, len(r.edits))
	for _, e := range r.edits {
		changed[int32(e.Index)] = changed[int32(e.Index)] || e.Before > 0
	}
	var moved []int32
	lowest := int32(math.MaxInt32) // of all behind
	for _, i := range slices.Backward(r.origin) {
		if i < 0 {
			continue
		}
		if i > lowest && !changed[i] {
			moved = append(moved, i)
		}
		lowest = min(lowest, i)
	}
	for _, i := range slices.Backward(moved) {
		e := dropEdit(OpRepair, r.history, int(i), CharsPerToken(4), "moved behind its call")
		e.After = e.Before
		r.edits = append(r.edits, e)
	}
}
