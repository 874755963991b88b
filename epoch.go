package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// When what was sent is rewritten, and what is shrunk where that is not enough. A rewrite makes the provider write
// everything behind it to its cache again. So everything stale is dropped together, at an epoch.

// lowWater is the share of the room that an epoch goes down to when a request does not fit, so that the next
// requests fit and their prefix stays in the prompt cache.
const lowWater = 0.5

// rewrite is pass 7. There are six reasons for an epoch. Old images have come together, or the model has ended a phase
// of its work. The provider's cache is cold, or the request has a new summary: then everything is written again anyway.
// Or the request does not fit. Or the epoch pays.
func (d *draft) rewrite() {
	cold, uncached := d.isCold(), d.opts.Cache.None
	thinks := func(x *item) bool { return hasThinking(x.sent) }
	endsPhase := d.endsPhase()
	d.stayBelow()
	if d.thinking() == ThinkingBound && !endsPhase && d.fits() && slices.ContainsFunc(d.items, thinks) {
		return // an epoch would lose what the model thought
	}
	if d.passReason = "old images"; cold {
		d.dropOldImages(1)
	} else {
		d.dropOldImages(imagesAtOnce)
	}
	fits := d.fits()
	if fits && d.isBelowFold() {
		return // nothing goes from a small request
	}
	if fits && endsPhase {
		d.passReason = "the model ended a phase of its work"
		d.drop(d.staleParts(1, holdFile))
	}
	switch {
	case cold:
		d.passReason = "nothing is in the prompt cache"
		steps := coldSteps
		if uncached {
			steps = warmSteps
		}
		d.drop(d.staleParts(steps, holdNothing))
		d.bareRecords(recordsShare)
	case fits && d.base == d.ledger.checkpoint:
		d.passReason = "carrying it further costs more than writing the cache again"
		d.rewriteIfItPays()
		return
	case fits:
		d.passReason = "behind a new summary everything is written to the cache again"
		d.drop(d.staleParts(warmSteps, holdNothing))
		return
	}
	pressed := !d.fits()
	if pressed {
		d.dropStale()
	}
	for uncached && d.bareRecords(recordsShare) {
		// Else the next request would do it, even if its history has nothing new.
	}
	wasIdle := cold && !uncached && !d.ledger.sentAt.IsZero()
	d.isCramped = (pressed || wasIdle) && d.isStillNearlyFull()
}

// endsPhase reports whether the newest answer, which no request had so far, ends a phase.
func (d *draft) endsPhase() bool {
	if d.opts.Tools == nil || !d.opts.Tools.Notes {
		return false
	}
	for i := len(d.items) - 1; i >= d.firstChanged(); i-- {
		m := d.items[i].sent
		if m.Role != RoleTool {
			return false
		}
		if tool, _ := callOf(d.sent(), i); tool == toolcall.PhaseTool && !m.IsError && !isMissingResult(m) {
			return true
		}
	}
	return false
}

// isStillNearlyFull reports whether the next epoch would follow soon. The newest results count as lowWater at most: no
// summary stands for them, and the next epoch can drop them.
func (d *draft) isStillNearlyFull() bool {
	newest := 0
	for i := len(d.items) - 1; i >= 0 && d.items[i].sent.Role == RoleTool; i-- {
		newest = count.Add(newest, d.items[i].tokens())
	}
	room := d.room()
	rest := d.total - newest
	return count.Add(rest, min(newest, count.Share(room, lowWater))) > count.Share(room, crampedShare)
}

// dropStale is the epoch of a request that does not fit. It drops what is stale, and then the oldest of the rest, until
// there is room for the next requests too.
func (d *draft) dropStale() {
	if d.isPressed, d.passReason = true, "the request did not fit"; d.cliff > 0 {
		d.passReason = "a larger request costs more as a whole"
	}
	d.dropOldImages(1)
	goal := count.Share(d.room(), lowWater)
	steps := pressedSteps
	if d.isCold() {
		steps = coldSteps
	}
	d.dropTo(goal, steps)
	if d.opts.WholeSteps > 0 && !d.fits() && !d.verdict().canHelp { // a summary would leave them whole
		d.givesUpSteps = true
		d.dropTo(goal, steps)
	}
	d.foldAllButNewest(goal)
}

// foldAllButNewest makes records of all steps but the newest before a model is asked for a summary. Records say more of
// these steps than a summary would, and they cost no call. In a window of 64 000 tokens, the recorded sessions then
// need 202 calls for summaries instead of 292.
func (d *draft) foldAllButNewest(goal int) {
	if d.isStillNearlyFull() && d.opts.asksSummarizer() {
		d.drop(d.staleParts(1, holdNothing))
		d.dropTo(goal, 1)
	}
}

// lookingWater and editingWater are lowWater for files in work: in a turn that has changed no file so far, and in
// another one. An agent that reads to prepare its edits quotes the files soon. In the recorded sessions in a window of
// 64 000 tokens, edits quote them twice as often for each token as the files of a turn that has edits. There .6 and .8
// cost .0008 less and .0006 more. In a turn that has edits .5 costs .001 less and loses .5 points of the lines.
const (
	lookingWater = 0.7
	editingWater = 0.6
)

// dropTo drops what is stale, and then the oldest of the rest, until the messages take at most goal tokens. Files in
// work are dropped last, and the given number of the newest steps stay whole.
func (d *draft) dropTo(goal, steps int) {
	if d.foldFrom() < goal { // else the host wants all that fits
		d.drop(d.staleParts(warmSteps, holdNothing))
	}
	for d.total > goal && d.bareRecords(recordsShare) {
	}
	d.dropUntil(goal, d.staleParts(steps, holdNothing))
	d.dropFilesTo(goal, steps)
}

// dropUntil drops the first parts of list until the messages take at most goal tokens.
func (d *draft) dropUntil(goal int, list []part) {
	left, n := d.total, 0
	for n < len(list) && left > goal {
		left -= list[n].saving
		n++
	}
	list = list[:n]
	slices.SortFunc(list, func(a, b part) int { return a.index - b.index })
	d.drop(list)
}

// dropFilesTo drops files in work, the largest first. To read a file again takes a request whatever its size, so it is
// cheaper to read a large one again than several small ones.
func (d *draft) dropFilesTo(goal, steps int) {
	water := lookingWater
	if d.changesFiles() {
		water = editingWater
	}
	goal = max(goal, count.Share(d.room(), water))
	if d.total <= goal {
		return
	}
	list := d.staleParts(steps, holdFile)
	slices.SortStableFunc(list, func(a, b part) int { return b.saving - a.saving })
	d.dropUntil(goal, list)
}

// rewriteIfItPays is the epoch of a request that fits while the cache is warm. Nothing happens if the host asks for the
// same request again: it gets the one that was sent.
func (d *draft) rewriteIfItPays() {
	if n := d.firstChanged(); n == len(d.ledger.sent) && n == len(d.items) {
		return
	}
	list := d.staleParts(warmSteps, holdNothing)
	d.drop(list[d.epochFrom(list):])
}

// epochFrom returns the first part of list with which an epoch pays most, or len(list) if none does. An epoch that
// begins at a part drops it and all parts behind it, and writes what is kept behind it to the cache again.
func (d *draft) epochFrom(list []part) int {
	worth := d.prices.worthOfKept()
	tokens := d.cachedTokens()
	best, from := 0.0, len(list)
	saving, behind := 0, 0
	next := len(tokens)
	for k := len(list) - 1; k >= 0; k-- {
		p := &list[k]
		for next > p.index {
			next--
			behind = count.Add(behind, tokens[next])
		}
		saving = count.Add(saving, p.saving)
		gain := float64(saving) - worth*float64(behind-saving)
		if gain > best {
			best, from = gain, k
		}
	}
	return from
}

// cachedTokens returns the tokens of each message, but 0 for those behind a message that the host has changed: writing
// these to the cache is not the price of an epoch.
func (d *draft) cachedTokens() []int {
	n := d.firstChanged()
	if n == len(d.ledger.sent) {
		n = len(d.items)
	}
	tokens := d.counts()
	clear(tokens[n:])
	return tokens
}

// dropOldImages replaces the images that are old by a line each, if at least `least` steps have some. From a request
// below the fold only those go that the provider may refuse.
func (d *draft) dropOldImages(least int) {
	isSmall := d.fits() && d.isBelowFold() && d.images() <= mostImages
	if isSmall || !d.isPressed && d.opts.FoldAbove >= 1 {
		return
	}
	var list []part
	turn := newestRequest(d.sent())
	steps, isCounted := 0, false
	for i := range min(imagesFrom(d.sent()), d.wholeFrom()) {
		m := d.items[i].sent
		if m.Role != RoleTool { // a step begins
			isCounted = false
		}
		if hasImage(m) && mayLoseImages(m, i < turn) && !d.isUnseen(i) {
			list = append(list, part{index: i, images: true, reason: oldImages})
			if !isCounted {
				steps, isCounted = steps+1, true
			}
		}
	}
	if steps >= least {
		d.drop(list)
	}
}

// shrinkToFit is pass 8: it shrinks what is left to shrink, and reports whether the request fits. The margin of the
// estimates alone is no reason to cut the newest results, or to fail, and neither is a cliff.
func (d *draft) shrinkToFit() bool {
	d.cliff = 0
	if !d.fitsBudget() {
		d.shrink()
	}
	if d.mostTokens > 0 { // planned only to make the body smaller: it may fit with more tokens than planned
		d.budget = d.accounting.Budget(d.window - d.opts.Reserve)
	}
	d.leaveOutImages()
	d.leaveOutThinking()
	if !d.fitsBody() {
		d.shrinkBody()
		d.leaveOutThinking() // behind the body's changes too: Recover may send what is still too large
	}
	return d.fitsBody() && d.fitsBudget()
}

// shrink clears all results that the model has seen. Where that is not enough, it cuts the others.
func (d *draft) shrink() {
	// Records first: they are the oldest, and each time half of them become bare.
	for !d.fits() && d.bareRecords(0) {
	}
	d.clearOld()
	for i, x := range d.items {
		p := x.edit
		isAdded := p != nil && (p.op == OpShow || p.op == OpTruncate && saysUnchanged(x.own))
		if isAdded && !d.fits() { // what was added goes before anything is cut
			d.show(i, nil)
		}
	}
	if !d.fits() {
		d.squeezeResults()
	}
}

// clearOld clears all results but those that the model has not seen: these are cut, if they have to be. The newest
// steps that the host wants whole go last.
func (d *draft) clearOld() {
	d.showRepeats()
	if from := d.wholeFrom(); from < len(d.items) {
		d.clearResults(func(i int) bool { return i >= from || d.isUnseen(i) })
		if d.fits() {
			return
		}
	}
	d.clearResults(d.isUnseen)
}

// clearResults clears all results but those that stay.
func (d *draft) clearResults(stays func(i int) bool) {
	o := *d.opts.Prune
	o.KeepLastAssistants = 0
	o.SoftTrimRatio, o.HardClearRatio, o.MinPrunableToolChars = 0, 0, 0
	p := newPruning(d.sent(), max(1, d.room()), o)
	p.tokens, p.stays = d.counts(), stays
	if d.opts.Recall {
		p.note = d.recallNote
	}
	p.apply()
	for k := range p.results {
		if r := &p.results[k]; r.Change != excerpt.None {
			d.edit(r.Index, p.left(r), max(1, r.Tokens), opOf(r), r.Reason())
		}
	}
}

// leaveOutImages leaves out images, the oldest first, until the request fits.
func (d *draft) leaveOutImages() {
	if d.fitsBudget() {
		return
	}
	request := newestRequest(d.sent())
	for i := 0; i < len(d.items) && !d.fitsBudget(); i++ {
		if i == request {
			continue
		}
		if m, tokens, ok := d.withoutImages(i); ok {
			reason := d.orUnseen(i, "its images are left out: the request does not fit otherwise")
			d.edit(i, m, tokens, OpClear, reason)
		}
	}
}

// squeezeResults cuts all results to the room that the other messages leave, and keeps both ends of each.
func (d *draft) squeezeResults() {
	var sizes []int
	for i := range d.items {
		if m := d.items[i].sent; returnsContent(m) && !m.Pinned {
			sizes = append(sizes, d.items[i].tokens())
		}
	}
	fair := count.Fair(sizes, max(0, d.room()-(d.total-count.Sum(sizes))))
	// Results cannot be cut below a minimum. Where that keeps some above their fair share, the others are cut further.
	for _, limit := range []int{fair, 0} {
		squeeze := d.squeeze(limit)
		for i := range d.items {
			d.cut(i, squeeze, "the request does not fit otherwise")
		}
		if d.fitsBudget() {
			return
		}
	}
}

// overflow returns the error that says what fills the window.
func (d *draft) overflow() *OverflowError {
	e := &OverflowError{Tokens: d.tokens(), Budget: d.budget, Overhead: d.accounting.Hidden(d.opts.Overhead)}
	if limit := d.bodyLimit(); limit > 0 {
		e.Bytes, e.MaxBytes = d.bytes(), limit
	}
	request := newestRequest(d.sent())
	if request < 0 {
		request = len(d.items)
	}
	for i := range d.items {
		m := d.items[i].sent
		switch {
		case m.Summary:
			e.Summary = count.Add(e.Summary, d.items[i].tokens())
		case m.Pinned || m.Role == RoleSystem:
			e.Pinned = count.Add(e.Pinned, d.items[i].tokens())
		case i >= request:
			e.Protected = count.Add(e.Protected, d.items[i].tokens())
		}
	}
	// Tokens may rest on the provider's count of the last request, which may be lower than the estimates of its parts.
	e.Overhead = min(e.Overhead, e.Tokens)
	if d.opts.Tools != nil {
		e.Tools = min(max(0, d.opts.Tools.Tokens), e.Overhead)
	}
	rest := e.Tokens - e.Overhead
	for _, n := range []*int{&e.Pinned, &e.Summary, &e.Protected} {
		*n = min(d.accounting.BilledAs(*n), rest)
		rest -= *n
	}
	return e
}
