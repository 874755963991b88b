package winnow

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
	for _, c := range calls {
		r.goesOn = r.goesOn || !c.answered
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
