package winnow

import "slices"

// thinkingLeftOut stands in a message that was nothing but thinking: an empty one would be refused.
const thinkingLeftOut = "[thinking left out]"

// signedByAnother is the reason for leaving out what no other model takes.
const signedByAnother = "thinking that another model signed"

// leaveOutThinking does what the policy says, at an epoch: behind what is rewritten nothing is in the cache.
func (d *draft) leaveOutThinking() {
	v := d.view
	if d.ledger.otherModel { // whatever the policy: a signature is worth nothing to another model, and may be refused
		for i := range v.messages {
			d.dropThinking(i, isSigned, signedByAnother)
		}
	}
	from, end := d.firstChanged(), len(v.messages)
	newest := map[key]bool{} // messages of the newest turn; an older one that is the same shares their fate
	switch d.opts.Thinking {
	case ThinkingBound:
		from = d.brokenFrom(from)
	case ThinkingDropped:
		if from >= len(d.ledger.sent) {
			return
		}
		end = max(0, newestRequest(v.messages))
		for i := end; i < len(v.messages); i++ {
			newest[v.facts[i].key] = true
		}
	default:
		return
	}
	for i := from; i < end; i++ {
		m := &v.messages[i]
		if newest[v.facts[i].key] || m.Pinned && d.opts.Thinking != ThinkingBound {
			continue
		}
		d.dropThinking(i, isThinking, "thinking from before what is rewritten")
	}
}

// dropThinking leaves out what which says of message i.
func (d *draft) dropThinking(i int, which func(Part) bool, reason string) {
	m := d.view.messages[i]
	if m.Role != RoleAssistant || !slices.ContainsFunc(m.Parts, which) {
		return
	}
	if p := d.view.edited[i]; p != nil && p.reason == signedByAnother {
		reason = signedByAnother // it never comes back
	}
	m.Parts, m.Source = slices.DeleteFunc(slices.Clone(m.Parts), which), nil
	if len(m.Parts) == 0 {
		m.Parts = []Part{{Text: thinkingLeftOut}}
	}
	d.project(i, m, estimateWith(d.opts.Estimator, m), OpTrim, reason)
}

// brokenFrom returns the first message that thinking cannot stand behind: the first that differs from what was
// sent, or of what was not sent yet the first that is not sent as it is. A model that has answered in the meantime,
// as for another manager, has seen the history. But the answer to what was sent last stands directly behind it: what a
// host has put between, the model has not seen.
func (d *draft) brokenFrom(changed int) int {
	v := d.view
	if changed < len(d.ledger.sent) {
		return changed
	}
	if changed > 0 && changed < len(v.messages) && !mayAnswer(&v.messages[changed]) {
		return changed
	}
	for i := changed; i < len(v.messages); i++ {
		isBehindSent := i == changed && i > 0
		if !isBehindSent && !v.follows(i) || v.edited[i] != nil {
			return i
		}
	}
	return len(v.messages)
}

// needsThinking reports whether the thinking of message i may not stay out any more, under ThinkingDropped: the message
// is of the newest turn, because the history was rewound into it or because it reads like an older one. Providers
// refuse the results of a tool loop without the thinking that led to it. What was sent whole since then stays so.
func (d *draft) needsThinking(i, request int) bool { return i >= request || d.wasSentWhole(i) }

// wasSentWhole reports whether the last request had message i as it is. An edit of another message that reads the same
// is not its own.
func (d *draft) wasSentWhole(i int) bool {
	sent := d.ledger.sent
	return i < len(sent) && sent[i] == d.view.facts[i].key
}

// leavesOutThinking reports whether m has thinking, and is sent without it.
func (p *projection) leavesOutThinking(m *Message) bool {
	return m.Role == RoleAssistant && hasThinking(*m) && !slices.ContainsFunc(p.sent(), isThinking)
}
