package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/meter"
)

// observeUsage learns from the provider's counts in messages that were not there at the last request. It runs on the
// view as it was replayed, without new edits.
func (d *draft) observeUsage() {
	v, sent := d.view, len(d.ledger.sent)
	if d.unchangedPrefix = d.firstChanged(); d.isLearned { // an earlier draft of this history has learned all
		return
	}
	// Another model's tokenizer counted, with other tools and limits, or another process with other tools.
	if d.ledger.otherModel || d.ledger.ignoresCounts {
		d.rejectFrom(sent)
		d.unchangedPrefix = len(v.messages)
		return
	}
	if i := d.unchangedPrefix; i < sent {
		if i == sent-1 {
			i = d.observeWithoutNewest(i)
		}
		d.rejectFrom(i) // they count a request that this one does not continue
		return
	}
	if sent > 0 && sent < len(v.messages) {
		d.takeAnswer(&v.messages[sent])
	}
	sum, shown := v.sums(sent)
	read := d.readThen(sent)
	for i := sent; i < len(v.messages); i++ {
		m := &v.messages[i]
		if m.Role == RoleUser {
			read = 0
		}
		// what was sent before this manager took over is not known
		if d.unchangedPrefix = i; m.Summary || sent == 0 && !d.isInPlace(i) {
			d.rejectFrom(i)
			return
		}
		// saysUsage looks at the history, as on the short way: the repair may have dropped what stood between two
		// answers.
		if k := v.index[i]; m.Role == RoleAssistant && k >= 0 && saysUsage(d.history, k) {
			d.observeAnswer(m, i, count.Add(sum, read), shown)
		}
		if v.edited[i] != nil {
			d.rejectFrom(i + 1) // the requests of those answers were sent by somebody else, without this edit
			return
		}
		sum = count.Add(sum, v.tokens[i])
		read = count.Add(read, d.forgottenAt(i))
		if !hasHiddenParts(m) {
			shown = count.Add(shown, v.tokens[i])
		}
	}
	d.unchangedPrefix = len(v.messages)
}

// readThen returns the tokens of reasoning in the first n messages that the provider read when these were a request,
// and does not read any more.
func (d *draft) readThen(n int) (tokens int) {
	for i := n - 1; i >= 0 && d.view.messages[i].Role != RoleUser; i-- {
		tokens = count.Add(tokens, d.forgottenAt(i))
	}
	return tokens
}

// forgottenAt returns the tokens of message i that do not count any more.
func (d *draft) forgottenAt(i int) int {
	if f := d.view.facts[i]; f == nil || !f.isEarlier || d.view.edited[i] != nil {
		return 0
	}
	return reasoningOf(d.opts.Estimator, &d.view.messages[i])
}

// sums returns two estimates: of the first n messages, and of those among them without hidden parts.
func (v *view) sums(n int) (sum, shown int) {
	for i := range n {
		sum = count.Add(sum, v.tokens[i])
		if !hasHiddenParts(&v.messages[i]) {
			shown = count.Add(shown, v.tokens[i])
		}
	}
	return sum, shown
}

// observeWithoutNewest learns from the usage of the answer to the last request, although the newest message of that
// request, which was message i, is gone or has changed. Some hosts put a text, such as the time, behind each request or
// into its newest message, and drop it later. The count includes the message as it was sent, so its share is
// subtracted. observeWithoutNewest returns the index of the message behind that answer, or i if there is no such
// answer.
func (d *draft) observeWithoutNewest(i int) int {
	v, at := d.view, i
	if at < len(v.messages) && v.messages[at].Role != RoleAssistant {
		at++ // the newest message is there, without that text
	}
	if at >= len(v.messages) || v.index[at] < 0 || !saysUsage(d.history, v.index[at]) {
		return i
	}
	sum, shown := v.sums(i)
	sum = count.Add(sum, d.readThen(i))
	answer := v.messages[at]
	newest := d.accounting.BilledAs(max(0, d.ledger.estimate-sum))
	answer.Usage = &Usage{Input: max(0, answer.Usage.Prompt()-newest)}
	d.observeAnswer(&answer, i, sum, shown)
	d.takeAnswer(&answer)
	return at + 1
}

// saysUsage reports whether message i has the usage of the request that it answers. Hosts that write one answer as
// several messages give all of them the same usage: only the first one counts. That of an answer in which the provider
// compacted is partly of the request before it did.
func saysUsage(messages []Message, i int) bool {
	m := &messages[i]
	if m.Role != RoleAssistant || m.Usage == nil || compactionIn(m) >= 0 {
		return false
	}
	if i == 0 {
		return true
	}
	before := &messages[i-1]
	return compactionIn(before) < 0 && before.Role != RoleAssistant || before.Usage == nil || *before.Usage != *m.Usage
}

// observeAnswer learns from the usage of m, which is message i. What stands before it is estimated as `estimate`
// tokens, of which the messages without hidden parts have `shown`.
func (d *draft) observeAnswer(m *Message, i, estimate, shown int) {
	prompt := m.Usage.Prompt()
	reason := d.accounting.Doubt(prompt, shown, d.window)
	if isFailed(m) {
		reason = "of a failed turn"
	}
	if reason != "" {
		d.rejected = append(d.rejected, rejection{reason, prompt, estimate})
		return
	}
	d.accounting.Observe(meter.Anchor{Messages: i, Estimate: estimate, Prompt: prompt}, shown, d.opts.Overhead)
	d.accounting.Accept(prompt)
	d.budget = d.ledger.budgetBy(d.settings, &d.accounting)
}

// rejectFrom rejects the counts in message i and those behind it, because they are of other requests. It notes only the
// newest.
func (d *draft) rejectFrom(i int) {
	for k := len(d.view.messages) - 1; k >= i; k-- {
		if m := &d.view.messages[k]; m.Usage != nil && m.Role == RoleAssistant {
			const reason = "from before a compaction or another change: the request does not go on from that"
			d.rejected = append(d.rejected, rejection{reason, m.Usage.Prompt(), 0})
			return
		}
	}
}

// logRejected logs the counts that are not used. It waits until the request is committed, so that a draft that is
// thrown away logs nothing.
func (d *draft) logRejected() {
	for _, r := range d.rejected {
		d.opts.Logger.Debug("winnow: usage not used", "reason", r.reason, "prompt", r.prompt, "estimate", r.estimate)
	}
}

// tokens returns how many tokens the provider is expected to count for the request.
func (d *draft) tokens() int {
	return d.accounting.Tokens(d.view.total, d.unchangedPrefix, d.opts.Overhead)
}

// crampedShare is the share of the room above which the next epoch would follow soon. If an epoch cannot get below it,
// a summary is made at once, and not after several rewrites that each free less. In the recorded sessions 0.7 and 0.8
// cost the same.
const crampedShare = 0.8

// fits reports whether the request fits its budget. The margin of its estimates may take up to half of the reserve, but
// not more, because a request that is refused costs more than one that is a little smaller.
func (d *draft) fits() bool {
	n := d.tokens()
	return n <= d.budget && count.Add(n, d.margin()) <= d.ceiling()
}

// margin returns by how much d.tokens may be too low.
func (d *draft) margin() int { return d.accounting.Margin(d.view.total, d.unchangedPrefix) }

// ceiling returns the budget and half of the reserve, see fits.
func (d *draft) ceiling() int { return count.Add(d.budget, d.opts.Reserve/2) }

// room returns how many estimated tokens the messages may have once something that was sent is changed: the request
// does not go on from the one that the provider counted then.
func (d *draft) room() int {
	return d.accounting.Room(d.budget, d.ceiling(), d.opts.Overhead)
}

// wholeRoom is room without the margin of the estimates.
func (d *draft) wholeRoom() int {
	return d.accounting.RoomWithoutMargin(d.budget, d.opts.Overhead)
}

// windowEstimate returns the model's window in estimated tokens, without what no message shows.
func (d *draft) windowEstimate() int { return d.accounting.EstimatedWindow(d.limits()) }

// takeAnswer learns that the last request was accepted, if next, the first message behind it, is its answer. Guessed
// limits may rise then.
func (d *draft) takeAnswer(next *Message) {
	if next.Role == RoleAssistant && !isFailed(next) {
		l, a := d.ledger, &d.accounting
		a.Guess.Take(l.tokens, a.Told(d.window-d.opts.Reserve))
		a.Body.Take(l.bytes, l.toldBody(d.settings))
		d.budget = l.budgetBy(d.settings, a)
	}
}
