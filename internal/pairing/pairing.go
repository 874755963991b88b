// Package pairing finds which result belongs to which call, and says with which id each call is sent: by occurrence,
// because ids repeat in real transcripts, are empty, or come late.
package pairing

// Call is a tool call of a transcript.
type Call struct {
	ID, Name string
	Message  int32 // index of the message that it is in
	Result   int32 // index of its result; -1: it has no result
	next     int32 // the next call of the same message with the same id, -1: none
	Failed   bool  // of a failed turn: it is dropped, with its result
}

// Result is a tool result of a transcript.
type Result struct {
	CallID, Tool string
	Message      int32 // its index
	Answers      int32 // index of the newest message of the model in front of it; -1: there is no such message
	StandIn      bool  // a repair made it in the place of a missing result
	Call         int32 // index of the call that it answers, -1: none
}

// Pairs are the calls and the results of a transcript, in its order.
type Pairs struct {
	Calls   []Call
	Results []Result

	repeated bool             // an id is used twice, or is empty
	sent     []string         // then: the id that each call is sent with, "" for one that is not
	ids      map[string]int32 // by call id, the first call with it in the newest message that has it
	since    map[string]int32 // by call id, the first message that has it; nil: not asked for yet
}

// Add adds a call.
func (p *Pairs) Add(c Call) {
	c.Result, c.next = -1, -1
	p.Calls = append(p.Calls, c)
}

// AddResult adds a result.
func (p *Pairs) AddResult(r Result) {
	r.Call = -1
	p.Results = append(p.Results, r)
}

// Match gives the results to the calls.
func (p *Pairs) Match() {
	p.ids = make(map[string]int32, len(p.Calls))
	p.matchNext()
	p.matchWithoutIDs()
	p.matchLate()
}

// give says that result k answers call s.
func (p *Pairs) give(k, s int32) {
	p.Calls[s].Result, p.Results[k].Call = k, s
}

// matchNext gives results to the calls of the message that they directly follow.
func (p *Pairs) matchNext() {
	opened := int32(0) // p.ids knows the calls before this one
	for k := range p.Results {
		r := &p.Results[k]
		for int(opened) < len(p.Calls) && p.Calls[opened].Message < r.Message {
			opened = p.open(opened)
		}
		s, ok := p.ids[r.CallID]
		if ok && s >= 0 && p.Calls[s].Message == r.Answers {
			p.ids[r.CallID] = p.take(s, int32(k))
		}
	}
	for int(opened) < len(p.Calls) {
		opened = p.open(opened)
	}
}

// open makes the calls of the message that begins with call s the ones to which results with their ids belong. It
// returns the first call behind them.
func (p *Pairs) open(s int32) (end int32) {
	end = p.endOf(s)
	for k := end - 1; k >= s; k-- { // backwards, so that each chain is in call order
		c := &p.Calls[k]
		head, ok := p.ids[c.ID]
		if ok && head >= 0 && p.isOfMessage(head, s) {
			c.next = head
		}
		p.repeated = p.repeated || ok || c.ID == ""
		p.ids[c.ID] = k
	}
	return end
}

// endOf returns the first call behind those of the message that call s is of.
func (p *Pairs) endOf(s int32) (end int32) {
	for end = s; p.isOfMessage(end, s); end++ {
	}
	return end
}

// sameIDLook is how far take looks for a call with the tool's name among calls of one id: a bound, so that a message of
// nothing but calls with one id takes linear time.
const sameIDLook = 32

// take gives result k to the first open call of the chain that begins at s, one with the same tool's name if there is
// one near. It returns the next open call of the chain.
func (p *Pairs) take(s, k int32) int32 {
	found := s
	for c, n := s, 0; c >= 0 && n < sameIDLook; c, n = p.Calls[c].next, n+1 {
		if p.Calls[c].Result < 0 && p.Calls[c].Name == p.Results[k].Tool {
			found = c
			break
		}
	}
	p.give(k, found)
	for s >= 0 && p.Calls[s].Result >= 0 {
		s = p.Calls[s].next
	}
	return s
}

// matchWithoutIDs gives the results without an id that are left to the open calls of the newest message with calls
// before them: first by the name of the tool, and what is left then in order. Some providers have no ids (Gemini,
// Ollama), and a host that imports their results apart from the calls has no ids to give.
func (p *Pairs) matchWithoutIDs() {
	first, seen := int32(-1), int32(0) // the first call of the newest message with calls; calls before the result
	var open map[string][]int32        // its open calls, by their tools; nil: not asked for yet
	var left []int32                   // results whose tool no open call has
	for k := range p.Results {
		r := &p.Results[k]
		for ; int(seen) < len(p.Calls) && p.Calls[seen].Message < r.Message; seen++ {
			if first < 0 || !p.isOfMessage(seen, first) {
				p.giveInOrder(first, left)
				first, open, left = seen, nil, left[:0]
			}
		}
		if r.CallID != "" || r.Call >= 0 || first < 0 {
			continue
		}
		if open == nil {
			open = p.openBy(func(c *Call) string { return c.Name }, first, p.endOf(first))
		}
		if named := open[r.Tool]; r.Tool != "" && len(named) > 0 {
			p.give(int32(k), named[0])
			open[r.Tool] = named[1:]
		} else {
			left = append(left, int32(k))
		}
	}
	p.giveInOrder(first, left)
}

// giveInOrder gives results to the calls of a message that have none, in order. first is its first call.
func (p *Pairs) giveInOrder(first int32, results []int32) {
	for s := first; len(results) > 0 && p.isOfMessage(s, first); s++ {
		if p.isOpen(s) {
			p.give(results[0], s)
			results = results[1:]
		}
	}
}

// isOfMessage reports whether there is a call s, and it is of the message that call first is of.
func (p *Pairs) isOfMessage(s, first int32) bool {
	return int(s) < len(p.Calls) && p.Calls[s].Message == p.Calls[first].Message
}

// matchLate gives the results that are left to calls that are still open. Where several could be meant, the newest
// result goes to the newest call before it: that keeps their order if there is one for each.
func (p *Pairs) matchLate() {
	var open map[string][]int32
	for k := len(p.Results) - 1; k >= 0; k-- {
		r := &p.Results[k]
		if r.Call >= 0 {
			continue
		}
		if open == nil {
			open = p.openBy(func(c *Call) string { return c.ID }, 0, int32(len(p.Calls)))
		}
		calls := open[r.CallID]
		for len(calls) > 0 && p.Calls[calls[len(calls)-1]].Message > r.Message {
			calls = calls[:len(calls)-1]
		}
		if len(calls) > 0 {
			p.give(int32(k), calls[len(calls)-1])
			calls = calls[:len(calls)-1]
		}
		open[r.CallID] = calls
	}
}

// openBy lists the open calls from call `from` up to call `to`, in order, by a key.
func (p *Pairs) openBy(key func(c *Call) string, from, to int32) map[string][]int32 {
	open := map[string][]int32{}
	for s := from; s < to; s++ {
		if p.isOpen(s) {
			k := key(&p.Calls[s])
			open[k] = append(open[k], s)
		}
	}
	return open
}

// isOpen reports whether call s has no result, or only one that stands in for it.
func (p *Pairs) isOpen(s int32) bool {
	result := p.Calls[s].Result
	return result < 0 || p.Results[result].StandIn
}

// WasCalled reports whether a call before message i has the id. Later ones do not count, so that what is said of a
// message stays true when the transcript grows.
func (p *Pairs) WasCalled(id string, i int32) bool {
	if p.since == nil {
		p.since = make(map[string]int32, len(p.ids))
		for s := len(p.Calls) - 1; s >= 0; s-- {
			p.since[p.Calls[s].ID] = p.Calls[s].Message
		}
	}
	first, ok := p.since[id]
	return ok && first < i
}
