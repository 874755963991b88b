package winnow

// Which result belongs to which call: by occurrence, since ids repeat in real transcripts.

// callSlot is one call and its result.
type callSlot struct {
	message int32 // index in history
	part    int32 // index in its Parts
	result  int32 // index in history, -1: missing
	next    int32 // next call of the same message with the same id, -1: none
	failed  bool  // of a failed turn: goes, with its result
}

// collectCalls lists every call of the history.
func (r *repair) collectCalls() {
	h := r.history
	columns := make([]int32, 2*len(h))
	r.first, r.answer = columns[:len(h)], columns[len(h):]
	r.calls = make([]callSlot, 0, len(h)/2)
	for i := range h {
		r.first[i], r.answer[i] = -1, -1
		m := &h[i]
		if m.Role != RoleAssistant {
			continue
		}
		for k := range m.Parts {
			if m.Parts[k].Kind != KindToolCall {
				continue
			}
			if r.first[i] < 0 {
				r.first[i] = int32(len(r.calls))
			}
			r.calls = append(r.calls, callSlot{message: int32(i), part: int32(k), result: -1, next: -1, failed: isFailed(m)})
		}
	}
	r.ids = make(map[string]int32, len(r.calls))
}

// pair gives results to the calls of the assistant message that they follow.
func (r *repair) pair() {
	current := int32(-1) // the newest assistant message
	next := int32(-1)    // its call that a result is likely to answer
	for i := range r.history {
		m := &r.history[i]
		switch m.Role {
		case RoleAssistant:
			current, next = int32(i), r.first[i]
			r.openCalls(i)
		case RoleTool:
			if !r.repeated && r.answers(next, current, m) {
				r.calls[next].result, r.answer[i] = int32(i), next
				next++
				continue
			}
			s, ok := r.ids[m.ToolCallID]
			if !ok || s < 0 || r.calls[s].message != current || r.calls[s].result >= 0 {
				continue
			}
			r.ids[m.ToolCallID] = r.take(s, int32(i), m.ToolName)
		}
	}
}

// answers says that result m is for call s, an open one of the current message.
func (r *repair) answers(s, current int32, m *Message) bool {
	return s >= 0 && int(s) < len(r.calls) && r.calls[s].message == current && r.calls[s].result < 0 && r.callPart(s).ID == m.ToolCallID
}

// openCalls makes the calls of message i those that results with their ids belong to.
func (r *repair) openCalls(i int) {
	s := r.first[i]
	if s < 0 {
		return
	}
	end := s
	for int(end) < len(r.calls) && r.calls[end].message == int32(i) {
		end++
	}
	for k := end - 1; k >= s; k-- { // backwards, so that each chain is in call order
		id := r.callPart(k).ID
		head, ok := r.ids[id]
		if ok && head >= 0 && r.calls[head].message == int32(i) {
			r.calls[k].next = head
		}
		r.repeated = r.repeated || ok || id == ""
		r.ids[id] = k
	}
}

func (r *repair) callPart(s int32) *Part {
	return &r.history[r.calls[s].message].Parts[r.calls[s].part]
}

// sameIDLook is how far take looks for a call with the tool's name among calls of one id.
const sameIDLook = 32

// take gives result i to the first open call of the chain that begins at s, one with the same tool's name
// if there is one near. It returns the new beginning of the chain.
func (r *repair) take(s, i int32, tool string) int32 {
	found, before := s, int32(-1)
	previous := int32(-1)
	for k, n := s, 0; k >= 0 && n < sameIDLook; k, n = r.calls[k].next, n+1 {
		if r.callPart(k).Name == tool {
			found, before = k, previous
			break
		}
		previous = k
	}
	r.calls[found].result = i
	r.answer[i] = found
	if before < 0 {
		return r.calls[found].next
	}
	r.calls[before].next = r.calls[found].next
	return s
}

// pairWithoutIDs gives the results without an id that are left to the open calls of the newest message with calls
// before them: first by the name of the tool, and what is left then in order. Some providers have no ids (Gemini,
// Ollama), and a host that imports their results apart from the calls has none to give.
func (r *repair) pairWithoutIDs() {
	calls := int32(-1)          // the first of the newest message with calls
	var open map[string][]int32 // its open calls, by their tools; nil: not asked for yet
	var left []int32            // results whose tool no open call has
	for i := range r.history {
		m := &r.history[i]
		switch {
		case m.Role == RoleAssistant && r.first[i] >= 0:
			r.giveInOrder(calls, left)
			calls, open, left = r.first[i], nil, left[:0]
		case m.Role == RoleTool && m.ToolCallID == "" && r.answer[i] < 0 && calls >= 0:
			if open == nil {
				open = r.openByName(calls)
			}
			if named := open[m.ToolName]; m.ToolName != "" && len(named) > 0 {
				r.calls[named[0]].result, r.answer[i] = int32(i), named[0]
				open[m.ToolName] = named[1:]
			} else {
				left = append(left, int32(i))
			}
		}
	}
	r.giveInOrder(calls, left)
}

// openByName lists the calls of a message that have no result, in order, by their tools. first is its first call.
func (r *repair) openByName(first int32) map[string][]int32 {
	open := map[string][]int32{}
	for s := first; r.isOfMessage(s, first); s++ {
		if r.isOpen(s) {
			name := r.callPart(s).Name
			open[name] = append(open[name], s)
		}
	}
	return open
}

// giveInOrder gives results to the calls of a message that have none, in order. first is its first call.
func (r *repair) giveInOrder(first int32, results []int32) {
	for s := first; len(results) > 0 && r.isOfMessage(s, first); s++ {
		if r.isOpen(s) {
			r.calls[s].result, r.answer[results[0]] = results[0], s
			results = results[1:]
		}
	}
}

// isOfMessage says that there is a call s, and that it is of the message that call first is of.
func (r *repair) isOfMessage(s, first int32) bool {
	return int(s) < len(r.calls) && r.calls[s].message == r.calls[first].message
}

// pairLate gives the results that are left to calls that are still open. Where several could be meant, the
// newest result goes to the newest call before it: that keeps their order if there is one for each.
func (r *repair) pairLate() {
	var open map[string][]int32
	for i := len(r.history) - 1; i >= 0; i-- {
		m := &r.history[i]
		if m.Role != RoleTool || r.answer[i] >= 0 {
			continue
		}
		if open == nil {
			open = r.openByID()
		}
		slots := open[m.ToolCallID]
		for len(slots) > 0 && r.calls[slots[len(slots)-1]].message > int32(i) {
			slots = slots[:len(slots)-1]
		}
		if len(slots) > 0 {
			s := slots[len(slots)-1]
			r.calls[s].result, r.answer[i] = int32(i), s
			slots = slots[:len(slots)-1]
		}
		open[m.ToolCallID] = slots
	}
}

// openByID lists the calls that are open.
func (r *repair) openByID() map[string][]int32 {
	open := map[string][]int32{}
	for s := range r.calls {
		if !r.isOpen(int32(s)) {
			continue
		}
		id := r.callPart(int32(s)).ID
		open[id] = append(open[id], int32(s))
	}
	return open
}

// isOpen says that call s has no result, or only one that a repair once made.
func (r *repair) isOpen(s int32) bool {
	result := r.calls[s].result
	return result < 0 || isMissingResult(&r.history[result])
}

// repair is one run of RepairToolPairing.
type repair struct {
	history    []Message
	forRequest bool    // texts without a visible character go as well, and see waits
	facts      []*fact // what is known of each message; nil: nothing

	calls  []callSlot
	first  []int32          // index into calls of each message's first call, -1 for none
	answer []int32          // for a result: index into calls of what it answers, -1 for nothing
	ids    map[string]int32 // call id -> calls of that id in the newest message that has it
	since  map[string]int32 // call id -> the first message that has it; nil: not asked for yet

	repeated bool     // an id is used twice, or is empty
	sent     []string // then: the id that each call is sent with, "" for one that is not

	out     []Message
	from    int     // history[from:to] is to be written next, as it is
	to      int     //
	origin  []int32 // for each message of out, and those to be written: its index in history, or -1
	changed []bool  // for each as in origin: it differs from that of its origin
	edits   []Edit
	standIn []Part // of every result that is made; nil until there is one
}

// missingResult is the text of a result that stands in for one that the history does not have. It says
// what is known and no more: the call may or may not have run.
const missingResult = "[No result: the conversation has no result for this call. Whether it ran is not known.]"

// isMissingResult says that m is a result that a repair made.
func isMissingResult(m *Message) bool {
	return m.Role == RoleTool && m.IsError && len(m.Parts) == 1 && m.Parts[0].Text == missingResult
}
