package winnow

import "slices"

// signedByAnother is the reason of an edit that leaves out thinking which only the model that signed it accepts.
const signedByAnother = "thinking that another model signed"

// thinking returns the policy: that of the options, unless the provider has said that it binds thinking to what stands
// before it.
func (d *draft) thinking() ThinkingPolicy {
	if d.ledger.bindsThinking || d.saysBound() {
		return ThinkingBound
	}
	return d.opts.Thinking
}

// saysBound reports whether the newest answer says that the provider has left out thinking because what stands before
// it had changed. Nothing is learned from an answer of another model.
func (d *draft) saysBound() bool {
	if d.ledger.otherModel {
		return false
	}
	i := len(d.history) - 1
	for i >= 0 && d.history[i].Role != RoleAssistant {
		i--
	}
	for ; i >= 0 && d.history[i].Role == RoleAssistant; i-- {
		if u := d.history[i].Usage; u != nil && u.ThinkingDropped > 0 {
			return true
		}
	}
	return false
}

// leaveOutThinking leaves out what Options.Thinking asks for. It is called at an epoch, when nothing behind the first
// rewrite is in the cache.
func (d *draft) leaveOutThinking() {
	if d.ledger.otherModel { // whatever the policy: another model cannot use a signature, and may refuse it
		for i := range d.items {
			d.dropThinking(i, isSigned, signedByAnother)
		}
	}
	from, end := d.firstChanged(), len(d.items)
	switch d.thinking() {
	case ThinkingBound:
		from = d.brokenFrom(from)
	case ThinkingDropped:
		if from >= len(d.ledger.sent) {
			return
		}
		end = max(0, newestRequest(d.sent()))
	default:
		return
	}
	for i := from; i < end; i++ {
		if !d.items[i].sent.Pinned || d.thinking() == ThinkingBound {
			d.dropThinking(i, isThinking, "thinking from before what is rewritten")
		}
	}
}

// dropThinking leaves out the parts of message i for which `which` returns true. Other parts stay: the repair has
// dropped each message of thinking alone, because providers refuse it.
func (d *draft) dropThinking(i int, which func(Part) bool, reason string) {
	m := *d.items[i].sent
	if m.Role != RoleAssistant || !slices.ContainsFunc(m.Parts, which) {
		return
	}
	if p := d.items[i].edit; p != nil && p.reason == signedByAnother {
		reason = signedByAnother // it never comes back
	}
	m.Parts, m.Source = slices.DeleteFunc(slices.Clone(m.Parts), which), nil
	d.edit(i, m, estimateWith(d.opts.Estimator, m), OpTrim, reason)
}

// brokenFrom returns the index of the first message in which thinking cannot stay. That is `changed`, the first message
// that differs from what was sent. If nothing that was sent differs, it is the first new message that is edited, or
// that does not follow the one before it as in the history: answers among the new messages, to another manager perhaps,
// were made with the history as it is. But the answer to the last request stands directly behind that request, so a
// message that the host put in between is such a change: the model has not seen it.
func (d *draft) brokenFrom(changed int) int {
	switch start := d.start; {
	case start >= changed && !slices.Contains(d.ledger.sent, d.items[start].fact.key):
		changed = start // the provider has compacted since: what it thought from there on is bound to that
	case changed < len(d.ledger.sent):
		return changed
	}
	if changed > 0 && changed != d.start && changed < len(d.items) && !mayAnswer(d.items[changed].sent) {
		return changed
	}
	for i := changed; i < len(d.items); i++ {
		isBehindSent := i == changed && i > 0 || i == d.start
		if !isBehindSent && !d.follows(i) || d.items[i].edit != nil {
			return i
		}
	}
	return len(d.items)
}

// follows reports whether message i also stands directly behind the one before it in the history passed in.
func (d *draft) follows(i int) bool {
	before := -1
	if i > 0 {
		before = d.items[i-1].index
	}
	return d.items[i].index == before+1
}

// needsThinking reports, for ThinkingDropped, whether message i must be sent with its thinking again. That is so if the
// message is of the newest turn, because the history was rewound into that turn or because the message reads like an
// older one: providers refuse the results of a tool loop without the thinking that led to it. A message that was sent
// whole since then stays whole.
func (d *draft) needsThinking(i, request int) bool { return i >= request || d.wasSentWhole(i) }

// wasSentWhole reports whether the last request had message i as it is. It looks at that place only: another message
// with the same key may have been edited.
func (d *draft) wasSentWhole(i int) bool {
	sent := d.ledger.sent
	return i < len(sent) && sent[i] == d.items[i].fact.key
}

// leavesOutThinking reports whether m has thinking and p sends it without.
func (p *edit) leavesOutThinking(m *Message) bool {
	return m.Role == RoleAssistant && hasThinking(m) && !slices.ContainsFunc(p.sent(), isThinking)
}
