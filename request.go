package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
)

// Request is what a manager returns. Append to its lists, and do not write to their elements.
//
// Bytes, Cached and the costs are expectations, without the answer and the call that wrote a summary. Costs are in
// uncached input tokens of a small prompt, at the prices of [CacheOptions], and in the tier of the request's size.
type Request struct {
	Messages []Message // send these
	History  []Message // repaired and compacted, but never pruned: a host may keep these instead of its own list
	Tokens   int       // estimate of Messages plus Options.Overhead
	Counts   []int     // estimate of each of Messages, not corrected by the provider's counts
	Budget   int       // what Tokens fits into: the window minus the reserve
	Edits    []Edit    // all that makes Messages differ from the history passed in, by index in it

	FirstChanged    int         // the first message that changed since the previous request, or that one's length
	NeedsCompaction bool        // only of Plan: Prepare would compact
	Compaction      *Compaction // what this call compacted; nil if it did not
	Degraded        string      // why some of the summary in it was made without an LLM; "": none was, see [Digest]
	Rung            string      // what Recover did: "clear", "compact", "truncate", "digest", "smallest"; "": nothing
	Bytes           int         // about the size of the body: Messages as JSON, without what is not in the history
	Cached          int         // what the provider is expected to read from its cache: what stands before FirstChanged
	Cost            float64     // Cached at ReadPrice and the rest at WritePrice; Tokens if nothing is cached
	CostUnedited    float64     // the same for the history as it was passed in

	// calls to the Summarizer that this request took, and what they were billed by [ReportUsage]: those too that failed
	// or were refused, for it or since the last one, or for the refused request in whose place Recover made it
	SummaryCalls int
	SummaryUsage Usage
}

// Compaction describes how a call replaced old history with a summary.
type Compaction struct {
	Summary      string   // its text, as it stands in the request
	FirstKept    int      // index, in the history passed in, of the first message that was not summarized
	TokensBefore int      // tokens of the request without the compaction
	TokensAfter  int      // tokens of the request
	Repaired     []string // what the summary lacked and the library appended
}

// record remembers that d was sent. It writes to no list and no map that another state may have.
func (l *ledger) record(d *draft) {
	l.edits = d.withoutGone(d.editsSent())
	if l.recovery != nil { // what was before it is kept within the same bounds
		open := *l.recovery
		open.before.edits = d.withoutGone(open.before.edits)
		open.before.records = d.withoutGoneRecords(open.before.records)
		l.recovery = &open
	}
	from := d.firstChanged()
	l.journal.sent = min(l.journal.sent, from)
	if from < len(l.sent) {
		l.sent = slices.Clip(l.sent[:from])
	}
	for _, x := range d.items[from:] {
		l.sent = append(l.sent, x.key())
	}
	l.turnStart, l.checkpoint, l.records, l.reopened = d.turnStart, d.checkpoint, d.recordsBehind(), d.reopened
	l.apart = d.stillApart()
	l.bindsThinking = l.bindsThinking || d.saysBound() // before otherModel is forgotten
	l.sentAt, l.tokens, l.estimate, l.otherModel = d.now, d.tokens(), d.total, false
	if l.accounting = d.accounting; l.isRestored {
		l.isRestored = false
		l.breaker.Restarted(d.historyTokens())
	}
	if d.unchangedPrefix < l.accounting.Anchor.Messages {
		l.accounting.Anchor.Messages = accounting.Lost
	}
}

// stillApart returns what was decided now, and before that what was decided of messages that this history has no more:
// a host may go on with Request.History, and go back to its log. The newest decisions stay.
func (d *draft) stillApart() []key {
	if len(d.ledger.apart) == 0 {
		return d.apart
	}
	isNew := setOf(d.apart)
	older := slices.DeleteFunc(slices.Clone(d.ledger.apart), func(k key) bool { return isNew[k] })
	all := append(older, d.apart...)
	return all[max(0, len(all)-maxRemembered):]
}

// editsSent returns the edits that were sent so far, and those of d. It leaves out
//
//   - those of messages that d sends whole again: a pin, or the newest request of a history that was rewound to it.
//     The cache holds what was sent last, so such a message stays whole when it is unpinned, or another one follows.
//   - those of results that leave out lines of an earlier one, if d does not send them because a record or a summary
//     stands for them. A minified text can be made again from its message, but the text of such an edit cannot: it
//     would be kept for as long as the conversation lives.
func (d *draft) editsSent() map[key]*edit {
	again, isWhole, repeats := setOf(d.wholeAgain), map[key]bool{}, map[key]bool{}
	for _, x := range d.items {
		k := x.fact.key
		if x.edit.isRepeat() {
			repeats[k] = true
		}
		switch {
		case x.edit != nil:
			delete(again, k) // another message with the same key
		case again[k]:
			isWhole[k] = true
		}
	}
	isForgotten := func(k key, p *edit) bool { return again[k] && isWhole[k] || p.isRepeat() && !repeats[k] }
	edits, isOwn := d.ledger.edits, false
	if len(d.newEdits) > 0 {
		edits, isOwn = make(map[key]*edit, len(edits)+len(d.newEdits)), true
		maps.Copy(edits, d.ledger.edits)
		maps.Copy(edits, d.newEdits)
	}
	for k, p := range edits {
		if isForgotten(k, p) {
			if !isOwn {
				edits, isOwn = maps.Clone(edits), true
			}
			delete(edits, k)
		}
	}
	return edits
}

// observeUsage learns from the provider's counts in messages that were not there at the last request. It runs on the
// request as it was replayed, without new edits.
func (d *draft) observeUsage() {
	sent := len(d.ledger.sent)
	if d.unchangedPrefix = d.firstChanged(); d.isLearned { // an earlier draft of this history has learned all
		return
	}
	// Another model's tokenizer counted, with other tools and limits, or another process with other tools.
	if d.ledger.otherModel || d.withoutCounts {
		d.rejectFrom(sent)
		d.unchangedPrefix = len(d.items)
		return
	}
	d.lastUsage = d.usageOfAnswer()
	if i := d.unchangedPrefix; i < sent {
		if i == sent-1 {
			i = d.observeWithoutNewest(i)
		}
		d.rejectFrom(i) // they count a request that this one does not continue
		return
	}
	if sent > 0 && sent < len(d.items) {
		d.takeAnswer(d.items[sent].sent)
	}
	sum, shown := d.sums(sent)
	read := d.readThen(sent)
	for i := sent; i < len(d.items); i++ {
		m := d.items[i].sent
		if m.Role == RoleUser {
			read = 0
		}
		// what was sent before this manager took over is not known
		if d.unchangedPrefix = i; m.Summary || sent == 0 && !d.isInPlace(i) {
			d.rejectFrom(i)
			return
		}
		// saysUsage looks at the history: the repair may have dropped what stood between two
		// answers.
		if k := d.items[i].index; m.Role == RoleAssistant && k >= 0 && saysUsage(d.history, k) {
			d.observeAnswer(m, i, count.Add(sum, read), shown)
		}
		if d.items[i].edit != nil {
			d.rejectFrom(i + 1) // the requests of those answers were sent by somebody else, without this edit
			return
		}
		sum = count.Add(sum, d.items[i].tokens())
		read = count.Add(read, d.forgottenAt(i))
		if !hasHiddenParts(m) {
			shown = count.Add(shown, d.items[i].tokens())
		}
	}
	d.unchangedPrefix = len(d.items)
}

// readThen returns the tokens of reasoning in the first n messages that the provider read when these were a request,
// and does not read any more.
func (d *draft) readThen(n int) (tokens int) {
	for i := n - 1; i >= 0 && d.items[i].sent.Role != RoleUser; i-- {
		tokens = count.Add(tokens, d.forgottenAt(i))
	}
	return tokens
}

// forgottenAt returns the tokens of message i that do not count any more.
func (d *draft) forgottenAt(i int) int {
	if f := d.items[i].fact; f == nil || !f.isEarlier || d.items[i].edit != nil {
		return 0
	}
	return reasoningOf(d.opts.Estimator, d.items[i].sent)
}

// sums returns two estimates: of the first n messages, and of those among them without hidden parts.
func (d *draft) sums(n int) (sum, shown int) {
	for i := range n {
		sum = count.Add(sum, d.items[i].tokens())
		if !hasHiddenParts(d.items[i].sent) {
			shown = count.Add(shown, d.items[i].tokens())
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
	at := i
	if at < len(d.items) && d.items[at].sent.Role != RoleAssistant {
		at++ // the newest message is there, without that text
	}
	if at >= len(d.items) || d.items[at].index < 0 || !saysUsage(d.history, d.items[at].index) {
		return i
	}
	sum, shown := d.sums(i)
	sum = count.Add(sum, d.readThen(i))
	answer := *d.items[at].sent
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
	switch {
	case isFailed(m):
		reason = "of a failed turn"
	case hasPart(m, isServerResult): // the provider called its own tools, and asked the model again
		reason = "the sum of several requests"
	}
	if reason != "" {
		d.rejected = append(d.rejected, rejection{reason, prompt, estimate})
		return
	}
	d.accounting.Observe(accounting.Anchor{Messages: i, Estimate: estimate, Prompt: prompt}, shown, d.opts.Overhead)
	d.accounting.Accept(prompt)
	d.setBudget()
}

// rejectFrom rejects the counts in message i and those behind it, because they are of other requests. It notes only the
// newest.
func (d *draft) rejectFrom(i int) {
	for k := len(d.items) - 1; k >= i; k-- {
		if m := d.items[k].sent; m.Usage != nil && m.Role == RoleAssistant {
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
	return d.accounting.Tokens(d.total, d.unchangedPrefix, d.opts.Overhead)
}

// crampedShare is the share of the room above which the next epoch would follow soon. If an epoch cannot get below it,
// a summary is made at once, and not after several rewrites that each free less. In the recorded sessions 0.7 and 0.8
// cost the same.
const crampedShare = 0.8

// fits reports whether the request fits its budget. The margin of its estimates may take up to half of the reserve, but
// not more, because a request that is refused costs more than one that is a little smaller.
func (d *draft) fits() bool {
	n := d.tokens()
	return n <= d.limit() && count.Add(n, d.margin()) <= d.ceiling()
}

// fitsBudget is fits without the margin and the cliff: the least that holds of what is sent.
func (d *draft) fitsBudget() bool { return d.tokens() <= d.budget }

// margin returns by how much d.tokens may be too low.
func (d *draft) margin() int { return d.accounting.Margin(d.total, d.unchangedPrefix) }

// limit returns the budget, or the cliff that the request is to stay below.
func (d *draft) limit() int { return count.Least(d.budget, d.cliff) }

// ceiling returns the budget and half of the reserve, see fits. Nothing above a cliff is below it.
func (d *draft) ceiling() int { return count.Least(count.Add(d.budget, d.opts.Reserve/2), d.cliff) }

// room returns how many estimated tokens the messages may have once something that was sent is changed: the request
// does not go on from the one that the provider counted then.
func (d *draft) room() int {
	return d.accounting.Room(d.limit(), d.ceiling(), d.opts.Overhead)
}

// roomWithoutMargin is room without the margin of the estimates.
func (d *draft) roomWithoutMargin() int {
	return d.accounting.RoomWithoutMargin(d.limit(), d.opts.Overhead)
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
		d.setBudget()
	}
}

// What a request costs, as far as that is known before it is sent. The sizes of messages are remembered, so no text is
// read for it.

// sentPrefix is the size, in estimated tokens, of the beginning that the last request had already.
type sentPrefix struct {
	sent     int // of the request, as it was sent
	unedited int // of the history, as it is
}

// prefix estimates the messages before firstChanged, which are as they were sent.
func (d *draft) prefix(firstChanged int) sentPrefix {
	return sentPrefix{
		sent: d.tokensOf(0, firstChanged), unedited: d.estimateHistory(d.knownHistory(firstChanged)),
	}
}

// estimateHistory estimates the first n messages of the history, as they are, without what the provider's own
// compaction stands for: no provider reads or bills that.
func (d *draft) estimateHistory(n int) int {
	facts := d.index.facts
	sum := 0
	for _, f := range facts[:min(n, len(facts))] {
		sum = count.Add(sum, f.tokens)
	}
	return max(0, sum-d.compactedTokens)
}

// knownHistory returns how many messages of the history the last request was made for: those before the first message
// behind its last one. If the history was rewound, forked or replaced, only those before firstChanged count.
func (d *draft) knownHistory(firstChanged int) int {
	last := d.lastSent()
	if last < 0 {
		last = firstChanged - 1
	}
	for _, x := range d.items[last+1:] {
		if x.index >= 0 {
			return x.index
		}
	}
	return len(d.history)
}

// usageOfAnswer returns what was billed for the answer to the last request; nil: not known. An empty answer, which no
// request has, is billed too.
func (d *draft) usageOfAnswer() *Usage {
	at, newest := d.lastSent(), -1
	for ; at >= 0 && d.items[at].sent.Role != RoleAssistant; at-- { // the repair may have moved some of these
		newest = max(newest, d.items[at].index)
	}
	for next := newest + 1; next > 0 && next < len(d.history); next++ { // an empty message may stand in front of it
		if d.history[next].Role == RoleAssistant {
			return d.history[next].Usage
		}
	}
	return nil
}

// lastSent returns the position of the last request's last message, or -1 if d does not have it.
func (d *draft) lastSent() int {
	n := len(d.ledger.sent)
	if n == 0 {
		return -1
	}
	was := func(i int) bool { // by the edits of the ledger, because those of d were not sent yet
		k := d.items[i].fact.key
		if p := d.ledger.edits[k]; p != nil && !d.items[i].sent.Pinned {
			k = p.key
		}
		return k == d.ledger.sent[n-1]
	}
	if n <= len(d.items) && was(n-1) {
		return n - 1
	}
	for i := len(d.items) - 1; i >= 0; i-- { // messages before it were dropped
		if was(i) {
			return i
		}
	}
	return -1
}

// price sets what r will cost, and what the whole history would cost, which is estimated as `history` tokens. p is what
// the last request had already of both.
func (d *draft) price(r *Request, history int, p sentPrefix) {
	a := &d.accounting
	r.Cached = d.cached(p.sent, r.Tokens)
	r.Cost = d.prices.of(r.Tokens, r.Cached)
	// The difference of the two estimates is added to r.Tokens, which is better than any estimate of the whole history.
	unedited := count.Add(r.Tokens, a.BilledAs(max(0, history-d.total)))
	unedited -= min(unedited, a.BilledAs(max(0, d.total-history)))
	r.CostUnedited = d.prices.of(unedited, d.cached(p.unedited, unedited))
}

// cached returns how many of a request's tokens the provider reads from its cache, if it has seen the messages at the
// beginning, which are estimated as prefix. What no message shows, such as tools, comes before them.
func (d *draft) cached(prefix, tokens int) int {
	a := &d.accounting
	n := min(tokens, count.Add(a.Hidden(d.opts.Overhead), a.BilledAs(prefix)))
	if d.isCold() || n < d.prices.least {
		return 0
	}
	return n
}
