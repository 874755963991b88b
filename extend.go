package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
)

// Most calls of Prepare get the history of the last call with some messages more, and only have to send those too. They
// take this short way: its cost depends on the new messages, not on the length of the history. Whenever more is due,
// the call takes the long way through a draft.

// extend is the short way: it adds the new messages of history to r, the last request. done is false, and nothing has
// happened, if the long way has to be taken. The error comes from Options.Journal.
func (m *Manager) extend(history []Message, r *Request) (done bool, err error) {
	l, t := &m.ledger, &m.tail
	x := &l.index
	// The long way collects what the background has made, and settles an open recovery.
	if isBusy := m.background != nil || l.recovery != nil; isBusy || !t.known || !t.complete || len(l.sent) == 0 {
		return false, nil
	}
	// A message was found changed since, the history was rewound, or there is nothing to send.
	if t.changes != x.changes || len(history) < t.history || len(history) == 0 {
		return false, nil
	}
	// PrepareInto was given another request than the last one: its lists are not what was sent.
	if !t.isHistory && (len(r.Messages) != len(l.sent) || !t.isLast(r)) {
		return false, nil
	}
	if !x.goesOn(history, t.isHistory) {
		return false, nil
	}
	x.learn(history, m.opts.Estimator)
	added := history[t.history:]
	d := &m.short
	*d = shortWay{tail: t, sums: view{total: l.estimate}, draft: draft{
		settings: &m.settings, ledger: l, view: &d.sums, history: history, now: m.opts.Now(),
		budget:   l.budgetBy(&m.settings, &l.accounting),
		learned:  learned{accounting: l.accounting, rejected: d.rejected[:0]},
		progress: progress{unchangedPrefix: len(l.sent) + len(added)},
	}}
	if len(added) > 0 {
		d.takeAnswer(&added[0])
	}
	if !d.mayExtend(added) || !d.addToTail(added) {
		return false, nil
	}
	kept := *r // PrepareInto leaves the caller's request as it was after an error
	if err := m.journaled(d.added.edits != nil, func() { d.commitTail(added, r) }); err != nil {
		*r = kept
		return false, err
	}
	d.logRejected()
	d.history, d.added = nil, newMessages{} // they are in the host's memory, which must not be held
	return true, nil
}

// mayExtend reports whether nothing is due for which the whole history has to be read.
func (d *shortWay) mayExtend(added []Message) bool {
	l, o := d.ledger, &d.opts
	facts := l.index.facts[d.tail.history:]
	// What the model thought is bound to the content before it, and no epoch is worth its loss: see rewrite.
	waits := o.Thinking == ThinkingBound && d.tail.thinks
	if d.isCold() && (!waits || o.HistoryTurns > 0) {
		return false // nothing is in the cache: what is due is rewritten now, at no cost
	}
	if !waits && l.epochSearch.IsDue(d.tail.answers+countAnswers(added)) {
		return false // an epoch may pay now
	}
	if d.tail.hasDigested && d.isDigestDue(l.checkpoint, count.Add(d.tail.wholeTokens, sumOf(facts))) {
		return false
	}
	if o.Thinking == ThinkingBound && len(added) > 0 && !mayAnswer(&added[0]) &&
		slices.ContainsFunc(added, hasThinking) {
		return false // see brokenFrom
	}
	for i := range added {
		m := &added[i]
		isLimited := m.Role == RoleUser && o.HistoryTurns > 0
		if m.Pinned || m.Summary || isLimited {
			return false // each of these may change what becomes of older messages
		}
		if m.Role == RoleUser && d.tail.thinks && forgetsReasoning(o.Estimator) {
			return false // older reasoning counts no more
		}
		if compactionIn(m) >= 0 {
			return false // the request begins there now
		}
		if hasImage(m) || saysUnchanged(m) {
			return false // older images may go now, or a text comes back
		}
		// A history that was rewound has come back to a message that was sent edited, or in a record.
		if len(l.projections) > 0 && l.projections[facts[i].key] != nil || d.tail.endsRecord(facts[i].key) {
			return false
		}
	}
	return true
}

// minifyAdded minifies the new results. It returns false where that takes a look at the whole history: for a handle, or
// because the request was the history itself and now becomes a list of its own.
func (d *shortWay) minifyAdded() bool {
	n := &d.added
	needsHandle := false
	note := func() string { // a handle depends on all keys of the history, which are not read on the short way
		needsHandle = needsHandle || d.opts.Recall
		return ""
	}
	first := len(d.history) - len(n.sent)
	billed := d.lastBilled(first)
	for i := range n.sent {
		if n.sent[i].Role != RoleTool {
			d.tail.lines.add(&n.sent[i])
			continue
		}
		if d.mayRepeatOld(first + i) {
			return false
		}
		p := d.minified(d.history, first+i, n.facts[i], note)
		if needsHandle || p != nil && d.tail.isHistory {
			return false
		}
		if p == nil {
			continue
		}
		if d.opts.Thinking == ThinkingBound && slices.ContainsFunc(n.sent[i:], hasThinking) {
			return false // see brokenFrom
		}
		if first+i < billed {
			return false // what was billed was sent without this edit: see observeUsage
		}
		if n.edits == nil { // so far n.sent is a part of the host's list, which must not be changed
			n.edits, n.sent = make([]*projection, len(n.sent)), slices.Clone(n.sent)
		}
		m := &n.sent[i]
		m.Parts, m.Source = p.partsFor(m), nil
		n.edits[i] = p
		p.body = bodySize(m)
	}
	return true
}

// mayRepeatOld reports whether new result i of the history may have lines that an earlier message shows. The long way
// then finds out which lines.
func (d *shortWay) mayRepeatOld(i int) bool {
	if d.minifier.keepsShown || !mayRepeat(&d.history[i]) {
		return false
	}
	t := &d.tail.lines
	if t.marks == nil || t.messages >= 2*mostCompared {
		*t = linesOfNewest(d.history[:i])
	}
	return !t.addUnlessShown(d.history[i].Parts[0].Text)
}

// lastBilled returns the position in the history of the last answer with a usage, from position i on, or -1.
func (d *shortWay) lastBilled(i int) int {
	for k := len(d.history) - 1; k >= i; k-- {
		if saysUsage(d.history, k) {
			return k
		}
	}
	return -1
}

// resultsFit reports whether each new result is within the limit of one result, and those of the newest step within
// their common limit. As on the long way, the limits follow from the provider's counts, those of the new answers
// included.
func (d *shortWay) resultsFit() bool {
	n := &d.added
	t := newTruncation(*d.opts.Truncate, d.windowEstimate())
	batch := 0
	for i := range n.sent {
		if n.sent[i].Role != RoleTool {
			batch = 0
			continue
		}
		tokens := n.tokens(i)
		if !t.isWithin(&n.sent[i], tokens) {
			return false
		}
		batch = count.Add(batch, tokens)
	}
	return batch <= count.Share(d.room(), maxBatchShare)
}

// addToTail adds the new messages to the sums, and reports whether the request is in order and fits.
func (d *shortWay) addToTail(added []Message) bool {
	l, t := d.ledger, d.tail
	facts := l.index.facts[t.history:]
	r := repair{history: added, facts: facts, forRequest: true}
	// The long way changes ids that are in use, and gives results to calls without any.
	if !r.isClean() || len(added) > 0 && waitsForResults(added) || !t.idsAreNew(added) {
		return false
	}
	d.observeAdded(added, facts)
	d.added = newMessages{sent: added, facts: facts}
	if !d.minifyAdded() || !d.resultsFit() {
		return false
	}
	// Kept apart, because the tail must not change before it is certain that the short way is taken.
	shown, bytes := d.sumAdded()
	limit := d.bodyLimit()
	c := d.opts.Compact
	isAwaited := c.Background || c.BeforeCompact != nil && !l.flushed
	if !d.fits() || limit > 0 && bytes > limit {
		return false
	}
	if isAwaited && d.isWithin(c.SoftThreshold) {
		return false // a compaction is near, and something is to be done ahead of it
	}
	t.shown, t.bytes = shown, bytes
	return true
}

// observeAdded learns from the usage of the new answers. This manager did not send the messages between two of them: as
// on the long way, they count without edits.
func (d *shortWay) observeAdded(added []Message, facts []*fact) {
	t := d.tail
	total, shown := d.view.total, t.shown
	for i := range added {
		m := &added[i]
		if saysUsage(d.history, t.history+i) {
			d.observeAnswer(m, len(d.ledger.sent)+i, total, shown)
		}
		total = count.Add(total, facts[i].tokens)
		if !hasHiddenParts(m) {
			shown = count.Add(shown, facts[i].tokens)
		}
	}
}

// sumAdded adds the new messages, as they are sent, to the total of the view. It returns the new sums of the tail.
func (d *shortWay) sumAdded() (shown, bytes int) {
	n, t := &d.added, d.tail
	shown, bytes = t.shown, t.bytes
	for i := range n.sent {
		d.view.total = count.Add(d.view.total, n.tokens(i))
		if !hasHiddenParts(&n.sent[i]) {
			shown = count.Add(shown, n.tokens(i))
		}
		if p := n.edit(i); p != nil {
			bytes = count.Add(bytes, int(p.body))
		} else {
			bytes = count.Add(bytes, n.facts[i].bytes(&n.sent[i]))
		}
	}
	return shown, bytes
}

// commitTail writes the new request to r, and makes it what was sent last.
func (d *shortWay) commitTail(added []Message, r *Request) {
	l, t := d.ledger, d.tail
	before, history := len(l.sent), r.History
	p := sentPrefix{sent: l.estimate, unedited: t.uneditedTokens}
	d.commitAdded(r)
	t.addIDs(added)
	t.answers += countAnswers(added)
	t.thinks = t.thinks || slices.ContainsFunc(added, hasThinking)
	t.history = len(d.history)
	if t.isHistory { // nothing is copied: the request is the host's own list
		r.Messages, r.History, r.Edits = clip(d.history), clip(d.history), nil
	} else {
		r.Messages = append(r.Messages, d.added.sent...)
		if r.History = clip(d.history); !t.keepsAll {
			r.History = append(history, added...)
		}
	}
	t.remember(r)
	l.index.sentAnchor = l.index.anchor
	r.Tokens, r.Budget, r.FirstChanged, r.Bytes = d.tokens(), d.budget, before, t.bytes
	r.Counts = slices.Clip(l.counts)
	d.price(r, t.uneditedTokens, p)
	r.NeedsCompaction, r.Compaction, r.Rung = false, nil, ""
	r.Degraded = l.checkpoint != nil && l.checkpoint.degraded
	l.sentAt, l.tokens, l.estimate, l.bytes, l.accounting = d.now, r.Tokens, d.view.total, r.Bytes, d.accounting
	l.tries.begin()
}

// commitAdded makes the new messages the end of what was sent last, with their edits.
func (d *shortWay) commitAdded(r *Request) {
	l, t := d.ledger, d.tail
	for i, f := range d.added.facts {
		k := f.key
		if p := d.added.edit(i); p != nil {
			k = p.key
			if l.projections == nil {
				l.projections = map[key]*projection{}
			}
			l.projections[f.key] = p
			l.index.watch(d.history, t.history+i)
			r.Edits = append(r.Edits, p.edit(t.history+i, &d.added.sent[i], f))
		}
		l.sent = append(l.sent, k)
		l.counts = append(l.counts, d.added.tokens(i))
		t.uneditedTokens, t.wholeTokens = count.Add(t.uneditedTokens, f.tokens), count.Add(t.wholeTokens, f.tokens)
	}
}

// recordTail remembers what the short way has to know of d, which was sent as r.
func (m *Manager) recordTail(d *draft, r *Request) {
	l, t := &m.ledger, &m.tail
	messages := d.view.messages
	*t = requestTail{
		known: true, changes: l.index.changes, history: len(d.history), ids: t.ids,
		complete:   !waitsForResults(d.history) && !waitsForResults(messages) && !d.goesOn,
		recordEnds: endsOf(l.records),
	}
	// By their addresses: two lists that only have the same contents could differ later.
	t.isHistory = len(r.Edits) == 0 && mem.Base(messages) == mem.Base(d.history) && len(messages) == len(d.history)
	t.keepsAll = mem.Base(r.History) == mem.Base(d.history) && len(r.History) == len(d.history)
	t.answers, t.thinks = countAnswers(d.whole().messages), slices.ContainsFunc(messages, hasThinking)
	t.remember(r)
	l.index.sentAnchor = l.index.anchor
	t.ofHost = mem.Base(r.Messages) == mem.Base(d.history)
	t.share(r, l.index.isReread)
	clear(t.ids)
	t.addIDs(messages)
	// An id that is only in the history may come back into the request, so it counts as used too.
	if !t.isHistory {
		t.addIDs(d.history)
		for _, id := range d.ids { // also of calls that a summary stands for, or that the turn limit dropped
			t.addID(id)
		}
	}
	t.bytes, t.uneditedTokens = r.Bytes, d.estimateHistory(len(d.history))
	t.wholeTokens, t.hasDigested = d.uneditedTokens(), len(d.digested) > 0
	_, t.shown = d.view.sums(len(messages))
}

// waitsForResults reports whether the last calls of messages have no results behind them.
func waitsForResults(messages []Message) bool {
	results := 0
	for i := len(messages) - 1; i >= 0; i-- {
		m := &messages[i]
		if m.Role == RoleTool {
			results++
			continue
		}
		for range callsOf(m) {
			results--
		}
		return results < 0
	}
	return false
}
