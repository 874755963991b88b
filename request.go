package winnow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/event"
	"github.com/winnowgo/winnow/internal/promise"
)

// Request is what a manager returns. You may append to its lists, but must not write to their elements.
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
	SummaryCalls    int         // to the Summarizer since the last Prepare that led to a request; failed ones too
	SummaryUsage    Usage       // what these were billed, by [ReportUsage]
}

// Compaction describes how a call replaced old history with a summary.
type Compaction struct {
	Summary      string   // its text, as it stands in the request
	FirstKept    int      // index, in the history passed in, of the first message that was not summarized
	TokensBefore int      // tokens of the request without the compaction
	TokensAfter  int      // tokens of the request
	Repaired     []string // what the summary lacked and the library appended
}

// commit makes the draft of p what was sent last, and returns its request. The error comes from Options.Journal.
func (c *call) commit(p *proposal) (*Request, error) {
	d, l, before := p.draft, c.ledger, *c.ledger
	r, cold, reason := d.request(), d.isCold(), d.reason()
	var missed *promise.Missed
	if d.answer != nil && d.answerTo == l.Promise { // else another call has counted it meanwhile
		missed = l.settlePromise(d.answer.Usage, d.settings)
	}
	l.remember(d)
	l.promise(d, &before, r.FirstChanged, reason)
	l.Bytes = r.Bytes
	if p.also != nil {
		p.also(l)
	}
	if l.isRestored {
		l.isRestored = false
		l.Breaker.Restarted(d.historyTokens()) // behind p.also, which subtracts what a digest has removed
	}
	if p.report != nil {
		l.recordSummary(d)
		p.report.TokensAfter, r.Compaction = r.Tokens, p.report
	}
	if err := c.writeDelta(); err != nil {
		return nil, err
	}
	switch log := c.opts.Logger; {
	case r.FirstChanged < len(before.Sent):
		log.Info(event.Rewritten, "first_changed", r.FirstChanged,
			"messages_before", len(before.Sent), "messages", len(r.Messages), "tokens_before", before.Tokens,
			"tokens", r.Tokens, "edits", len(d.newEdits), "records", d.newRecords, "cold", cold, "reason", reason)
	case d.firstWhy != "":
		// Nothing that was sent is rewritten. Without a log entry nobody would know why a part of the history is gone.
		log.Info("winnow: the history is sent shortened", "reason", reason, "edits", len(d.newEdits),
			"records", d.newRecords,
			"tokens_whole", d.estimateHistory(len(d.history)), "tokens", r.Tokens,
			"options", "FoldAbove, Prune, Truncate")
	}
	if l.BindsThinking && !before.BindsThinking {
		c.logBinding()
	}
	l.tries.count(r, c.meter)
	c.logMissed(missed)
	d.logRejected(d.rejected)
	if x := p.report; x != nil {
		c.opts.Logger.Info("winnow: compacted", "tokens_before", x.TokensBefore, "tokens_after", x.TokensAfter,
			"first_kept", x.FirstKept, "calls", r.SummaryCalls, "degraded", r.Degraded)
		c.manager.endBackground() // its summary is in use now, or is about messages that are replaced now
	}
	c.keep()
	return r, nil
}

// writeDelta passes what c has changed to Options.Journal. A line may be there although its sync failed: its number is
// not used again, and the next delta takes the place of all.
func (c *call) writeDelta() error {
	if c.opts.Journal == nil {
		return nil
	}
	number := c.ledger.journal.deltas + 1
	text, err := c.ledger.delta(number)
	if err == nil {
		c.note(func(l *ledger) { l.journal = journal{deltas: number, isUnknown: true} })
		err = c.opts.Journal(text)
	}
	if err != nil {
		return fmt.Errorf("winnow: writing the journal: %w", err)
	}
	c.ledger.wasWritten(number)
	return nil
}

// count sets in r how often the summarizer was asked and what that was billed: since the last request, and for the
// refused ones in whose place r is sent.
func (t *tries) count(r *Request, m *meter) {
	calls, usage := m.take()
	t.asked, t.usage = t.asked+calls, t.usage.plus(usage)
	r.SummaryCalls, r.SummaryUsage = t.asked, t.usage
}

// recordSummary remembers that d has a new summary.
func (l *ledger) recordSummary(d *draft) {
	l.Flushed = false // the next compaction has a flush of its own
	l.Names = withNames(l.Names, d.names, d.checkpoint.SummaryKeys)
	if d.checkpoint.isByDigest() {
		l.DigestAt = d.historyTokens()
	}
}

// remember notes that d was sent. It writes to no list and no map that another state may have.
func (l *ledger) remember(d *draft) {
	l.edits = withoutGone(d, l.editsSent(d))
	from := d.firstChanged()
	if from < len(l.Sent) {
		l.Sent = slices.Clip(l.Sent[:from])
	}
	for _, x := range d.items[from:] {
		l.Sent = append(l.Sent, x.key())
	}
	l.TurnStart, l.checkpoint, l.records, l.Reopened = d.turnStart, d.checkpoint, d.recordsBehind(d.items), d.reopened
	l.Apart = l.stillApart(d)
	l.BindsThinking = l.BindsThinking || d.saysBound() // before otherModel is forgotten
	l.SentAt, l.Tokens, l.Estimate, l.OtherModel = d.now, d.tokens(), d.total, false
	l.End, l.Ahead = d.ends()
	l.Accounting = d.accounting
	if d.unchangedPrefix < l.Accounting.Anchor.Messages {
		l.Accounting.Anchor.Messages = accounting.Lost
	}
}

// stillApart returns what was decided now, and before that what was decided of messages that this history has no more:
// a host may go on with Request.History, and go back to its log. The newest decisions stay.
func (l *ledger) stillApart(d *draft) []key {
	if len(l.Apart) == 0 {
		return d.apart
	}
	isNew := setOf(d.apart)
	older := slices.DeleteFunc(slices.Clone(l.Apart), func(k key) bool { return isNew[k] })
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
func (l *ledger) editsSent(d *draft) map[key]*edit {
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
	edits, isOwn := l.edits, false
	if len(d.newEdits) > 0 {
		edits, isOwn = make(map[key]*edit, len(edits)+len(d.newEdits)), true
		maps.Copy(edits, l.edits)
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

// pricing estimates what a request costs before it is sent. The sizes of messages are remembered, so no text is read
// for it.
type pricing struct{ *draft }

// knownHistory returns how many messages of the history the last request was made for: those before the first message
// behind its last one. If the history was rewound, forked or replaced, only those before firstChanged count.
func (c pricing) knownHistory(firstChanged int) int {
	last := c.lastSent()
	if last < 0 {
		last = firstChanged - 1
	}
	for _, x := range c.items[last+1:] {
		if x.index >= 0 {
			return x.index
		}
	}
	return len(c.history)
}

// price sets what r will cost, and what the whole history would cost.
func (c pricing) price(r *Request) {
	a := &c.accounting
	r.Cached = c.cached(c.tokensOf(0, r.FirstChanged), r.Tokens)
	r.Cost = c.prices.of(r.Tokens, r.Cached)
	// The difference of the two estimates is added to r.Tokens, which is better than any estimate of the whole history.
	history := c.estimateHistory(len(c.history))
	unedited := count.Add(r.Tokens, a.BilledAs(max(0, history-c.total)))
	unedited -= min(unedited, a.BilledAs(max(0, c.total-history)))
	r.CostUnedited = c.prices.of(unedited, c.cached(c.estimateHistory(c.knownHistory(r.FirstChanged)), unedited))
}

// cached returns how many of a request's tokens the provider reads from its cache, if it has seen the messages at the
// beginning, which are estimated as prefix. What no message shows, such as tools, comes before them.
func (c pricing) cached(prefix, tokens int) int {
	a := &c.accounting
	n := min(tokens, count.Add(a.Hidden(c.opts.Overhead), a.BilledAs(prefix)))
	if c.isCold() || n < c.prices.least {
		return 0
	}
	return n
}
