package winnow

import (
	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/promise"
)

// What the provider's counts in a history teach about its requests.

// learned is what a draft learns from them, beside what is in its account.
type learned struct {
	isLearned bool // the counts of this history are in accounting already
	rejected  []rejection

	answer      *Message        // to the last request; nil: not known
	answerTo    promise.Promise // what that request should have read
	changedFrom int             // the first message that the host has changed since that request
}

// A rejection is a count of the provider that is not used.
type rejection struct {
	reason           string
	prompt, estimate int // tokens; estimate of the messages before the answer, 0: not known
}

// observing learns from the counts in the history of a draft.
type observing struct{ *draft }

// observeUsage learns from the provider's counts in messages that were not there at the last request. It runs on the
// request as it was replayed: only showRepeats may have made new edits.
func (o observing) observeUsage() {
	sent, same := len(o.ledger.Sent), o.firstChanged()
	o.unchangedPrefix = same
	if o.isLearned { // an earlier draft of this history has learned all
		return
	}
	o.answer, o.answerTo, o.changedFrom = o.findAnswer(), o.ledger.Promise, same
	others := sent // from here on, answers are to other requests
	switch {
	case o.ledger.OtherModel || o.withoutCounts:
		// Another model's tokenizer counted, with other tools and limits, or another process with other tools.
		o.unchangedPrefix = len(o.items)
	case same == sent:
		o.unchangedPrefix, others = o.observeNew(sent)
	default: // they count a request that this one does not continue
		if others = same; same == sent-1 {
			others = o.observeWithoutNewest(same)
		}
	}
	o.rejectFrom(others)
}

// observeNew learns from the answers behind the last request, which had the first `sent` messages. It returns up to
// which message the provider's newest count holds, and from which one on answers are to requests of others.
func (o observing) observeNew(sent int) (counted, others int) {
	if sent > 0 && sent < len(o.items) {
		o.takeAnswer(o.items[sent].sent)
	}
	sum, shown := o.sums(sent)
	read, _ := o.forgotten(sent)
	for i := sent; i < len(o.items); i++ {
		m := o.items[i].sent
		if m.Role == RoleUser {
			read = 0
		}
		if m.Summary || sent == 0 && !o.isInPlace(i) {
			return i, i // what was sent before this manager took over is not known
		}
		// saysUsage looks at the history: the repair may have dropped what stood between two answers.
		if k := o.items[i].index; m.Role == RoleAssistant && k >= 0 && saysUsage(o.history, k) {
			o.observeAnswer(m, i, count.Add(sum, read), shown)
		}
		if o.items[i].edit != nil {
			return i, i + 1 // somebody else sent the requests of the answers behind it, without this edit
		}
		sum = count.Add(sum, o.items[i].tokens())
		read = count.Add(read, o.forgottenAt(i))
		if !hasHiddenParts(m) {
			shown = count.Add(shown, o.items[i].tokens())
		}
	}
	return len(o.items), len(o.items)
}

// forgotten returns the tokens of reasoning in the first n messages that the provider read when these were a request,
// and does not read any more, and the first message that has some; or n.
func (o observing) forgotten(n int) (tokens, first int) {
	first = n
	for i := n - 1; i >= 0 && o.items[i].sent.Role != RoleUser; i-- {
		if gone := o.forgottenAt(i); gone > 0 {
			tokens, first = count.Add(tokens, gone), i
		}
	}
	return tokens, first
}

// forgottenAt returns the tokens of message i that do not count any more.
func (o observing) forgottenAt(i int) int {
	if f := o.items[i].fact; f == nil || !f.isEarlier || o.items[i].edit != nil {
		return 0
	}
	return reasoningOf(o.opts.Estimator, o.items[i].sent)
}

// sums returns two estimates: of the first n messages, and of those among them without hidden parts.
func (o observing) sums(n int) (sum, shown int) {
	for i := range n {
		sum = count.Add(sum, o.items[i].tokens())
		if !hasHiddenParts(o.items[i].sent) {
			shown = count.Add(shown, o.items[i].tokens())
		}
	}
	return sum, shown
}

// observeWithoutNewest learns from the usage of the answer to the last request, although the newest message of that
// request, which was message i, is gone or has changed. Some hosts put a text, such as the time, behind each request or
// into its newest message, and drop it later. The count includes the message as it was sent, so its share is
// subtracted. observeWithoutNewest returns the index of the message behind that answer, or i if there is no such
// answer.
func (o observing) observeWithoutNewest(i int) int {
	at := i
	if at < len(o.items) && o.items[at].sent.Role != RoleAssistant {
		at++ // the newest message is there, without that text
	}
	if at >= len(o.items) || o.items[at].index < 0 || !saysUsage(o.history, o.items[at].index) {
		return i
	}
	sum, shown := o.sums(i)
	read, _ := o.forgotten(i)
	sum = count.Add(sum, read)
	answer := *o.items[at].sent
	newest := o.accounting.BilledAs(max(0, o.ledger.Estimate-sum))
	answer.Usage = &Usage{Input: max(0, answer.Usage.Prompt()-newest)}
	o.observeAnswer(&answer, i, sum, shown)
	o.takeAnswer(&answer)
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
func (o observing) observeAnswer(m *Message, i, estimate, shown int) {
	prompt := m.Usage.Prompt()
	reason := o.accounting.Doubt(prompt, shown, o.window)
	switch {
	case isFailed(m):
		reason = "of a failed turn"
	case hasPart(m, isServerResult): // the provider called its own tools, and asked the model again
		reason = "the sum of several requests"
	}
	if reason != "" {
		o.rejected = append(o.rejected, rejection{reason, prompt, estimate})
		return
	}
	o.accounting.Observe(accounting.Anchor{Messages: i, Estimate: estimate, Prompt: prompt}, shown, o.opts.Overhead)
	o.accounting.Accept(prompt)
	o.setBudget()
}

// rejectFrom rejects the counts in message i and those behind it, because they are of other requests. It notes only the
// newest.
func (o observing) rejectFrom(i int) {
	for k := len(o.items) - 1; k >= i; k-- {
		if m := o.items[k].sent; m.Usage != nil && m.Role == RoleAssistant {
			const reason = "from before a compaction or another change: the request does not go on from that"
			o.rejected = append(o.rejected, rejection{reason, m.Usage.Prompt(), 0})
			return
		}
	}
}

// logRejected logs the counts that are not used. It waits until the request is committed, so that a draft that is
// thrown away logs nothing.
func (s *settings) logRejected(list []rejection) {
	for _, r := range list {
		s.opts.Logger.Debug("winnow: usage not used", "reason", r.reason, "prompt", r.prompt, "estimate", r.estimate)
	}
}

// takeAnswer learns that the last request was accepted, if next, the first message behind it, is its answer. Guessed
// limits may rise then.
func (o observing) takeAnswer(next *Message) {
	if next.Role == RoleAssistant && !isFailed(next) {
		l, a := o.ledger, &o.accounting
		a.Guess.Take(l.Tokens, a.Told(o.window-o.opts.Reserve))
		a.Body.Take(l.Bytes, l.toldBody(o.settings))
		o.setBudget()
	}
}

// findAnswer returns the message that answers the last request; nil: not known. An empty answer, which no request has,
// is billed too.
func (o observing) findAnswer() *Message {
	next := o.behindLast()
	if at := o.lastSent(); next == 0 && at >= 0 { // a host may go on with the history that a request returned
		next = o.items[at].index + 1
	}
	for ; next > 0 && next < len(o.history); next++ { // an empty message may stand in front of it
		if o.history[next].Role == RoleAssistant {
			return &o.history[next]
		}
	}
	return nil
}

// isInPlace reports whether message i stands where it does in the history, or in what the history is from a
// compaction of the provider on.
func (o observing) isInPlace(i int) bool {
	if i < o.start || o.start < 0 {
		return o.items[i].index == i
	}
	return o.items[i].index-o.compactedAt == i-o.start
}
