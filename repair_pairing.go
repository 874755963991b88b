package winnow

import "github.com/winnowgo/winnow/internal/pairing"

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
	goesOn  bool                // a call stays open at the end
}

// laterResults are messages with another result of a call that has one.
type laterResults struct {
	later map[int32]int32 // the call of each; -1: a later one took the message's place. nil: there are none

	// whether later is shown where it stands, although the model has not answered since first; set with forRequest
	standsApart func(first, later *Message) bool
}

// partAt is the place of a part: its message, and where it stands in that.
type partAt struct{ message, part int }

// collect lists the calls and the results of the history.
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

// isCallOf reports whether call s exists and is of message i.
func (r *repair) isCallOf(i int, s int32) bool {
	return int(s) < len(r.pairs.Calls) && r.pairs.Calls[s].Message == int32(i)
}

// missingResult is the text of a result that stands in for one that the history does not have. It says
// what is known and no more: the call may or may not have run.
const missingResult = "[No result: the conversation has no result for this call. Whether it ran is not known.]"

// isMissingResult reports whether m is a result that a repair made.
func isMissingResult(m *Message) bool {
	return m.Role == RoleTool && m.IsError && len(m.Parts) == 1 && m.Parts[0].Text == missingResult
}
