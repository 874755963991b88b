package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/pairing"
)

// The calls and the results of a history, for package pairing.

// repair is one run of RepairToolPairing.
type repair struct {
	history    []Message
	forRequest bool          // texts without a visible character are dropped as well; see also waits
	facts      []*fact       // what is known of each message; nil: nothing
	given      pairing.Given // for a request: the names that calls were sent with before

	pairs  pairing.Pairs
	first  []int32 // index into pairs.Calls of each message's first call, -1 for none
	result []int32 // for each message, its index in pairs.Results; -1: it is not a result

	halves
	laterResults
	waiting bool // the newest calls stay open

	out     []Message
	origin  []int32 // for each message of out, its index in history, or -1
	changed []bool  // in parallel with origin: the message differs from the one in history
	edits   []Edit
	missing []Part // the parts of every inserted result, which share them; nil until a result is inserted
}

// halves are halves of pairs that the provider runs itself.
type halves struct {
	hasLone bool                // there is a message with one half of a pair
	lone    map[partAt]struct{} // those that are left out; nil: none
}

// laterResults are messages with another result of a call that has one.
type laterResults struct {
	later map[int32]int32 // the call of each; -1: a later one took the message's place. nil: there are none

	// whether later is shown where it stands, although the model has not answered since first; set with forRequest
	standsApart func(first, later *Message) bool
}

// partAt is the place of a part: its message, and where it stands in that.
type partAt struct{ message, part int }

func (r *repair) collect() {
	h := r.history
	columns := make([]int32, 2*len(h)) // one allocation for both
	r.first, r.result = columns[:len(h)], columns[len(h):]
	r.pairs.Calls = make([]pairing.Call, 0, len(h)/2)
	r.pairs.Results = make([]pairing.Result, 0, len(h)/2)
	answers := int32(-1)
	for i := range h {
		r.first[i], r.result[i] = -1, -1
		m := &h[i]
		if !r.hasLone && (r.facts == nil || !r.facts[i].sound) {
			open, late := loneHalves(m)
			r.hasLone = open || late
		}
		switch m.Role {
		case RoleTool:
			r.result[i] = int32(len(r.pairs.Results))
			r.pairs.AddResult(pairing.Result{
				CallID: m.ToolCallID, Tool: m.ToolName, Message: int32(i), Answers: answers,
				StandIn: isMissingResult(m),
			})
		case RoleAssistant:
			answers = int32(i)
			if hasCalls(m) {
				r.first[i] = int32(len(r.pairs.Calls))
			}
			for p := range callsOf(m) {
				r.pairs.Add(pairing.Call{ID: p.ID, Name: p.Name, Message: int32(i), Failed: isFailed(m)})
			}
		}
	}
}

func (r *repair) isCallOf(i int, s int32) bool {
	return int(s) < len(r.pairs.Calls) && r.pairs.Calls[s].Message == int32(i)
}

// Pairs that the provider runs itself. Both halves are parts of what the model says: in one answer or, where it paused
// or called a tool of the host's too, in two answers of the same turn.

// serverCall is a call of the provider's own.
type serverCall struct {
	at       partAt
	answered bool
}

// findLone finds the halves that have to be left out. Nothing may stand between the two but more answers and the
// results of the host's tools. A call that is open at the end of the history stays: the provider goes on with it.
func (r *repair) findLone() {
	if !r.hasLone {
		return
	}
	calls := map[string]serverCall{}
	for i := range r.history {
		m := &r.history[i]
		call, isLater := r.later[int32(i)]
		isLater = isLater && call >= 0 // which is shown as a text of the host
		if m.Role == RoleTool && !isLater || m.Role == RoleSystem {
			continue
		}
		isSaid := r.matchHalves(i, calls) || isLater
		if isFailed(m) {
			r.leaveOutOpen(calls, i)
		}
		if isSaid && (m.Role != RoleAssistant || m.Summary || isFailed(m)) {
			r.leaveOutOpen(calls, -1)
		}
	}
}

// matchHalves gives the results in message i to the calls before them, and adds its calls. It reports whether the
// message has more to say than halves and what the repair leaves out.
func (r *repair) matchHalves(i int, calls map[string]serverCall) (isSaid bool) {
	m := &r.history[i]
	for k := range m.Parts {
		p, at := &m.Parts[k], partAt{i, k}
		switch {
		case isServerCall(p):
			if c, again := calls[p.ID]; again && !c.answered {
				r.leaveOut(c.at)
			}
			calls[p.ID] = serverCall{at: at}
		case isServerResult(p):
			c, called := calls[p.ID]
			if !called {
				r.leaveOut(at)
				continue
			}
			c.answered = true
			calls[p.ID] = c
		default:
			isSaid = isSaid || !isEmptyPart(p, r.forRequest) && !isThinking(*p) && p.Kind != KindToolCall
		}
	}
	return isSaid
}

// leaveOutOpen leaves out the calls without a result, and forgets all. With a message from 0 on, only those of that
// message.
func (r *repair) leaveOutOpen(calls map[string]serverCall, message int) {
	for id, c := range calls {
		if message >= 0 && c.at.message != message {
			continue
		}
		if !c.answered {
			r.leaveOut(c.at)
			delete(calls, id)
		}
	}
	if message < 0 {
		clear(calls)
	}
}

func (r *repair) leaveOut(at partAt) {
	if r.lone == nil {
		r.lone = map[partAt]struct{}{}
	}
	r.lone[at] = struct{}{}
}

// isLone reports whether part k of message i is a half that is left out.
func (r *repair) isLone(i, k int) bool {
	_, lone := r.lone[partAt{i, k}]
	return lone
}

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
