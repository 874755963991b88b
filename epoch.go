package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// When what was sent is rewritten. A rewrite makes the provider write everything behind it to its cache again, so
// everything stale is dropped together, at an epoch.

// lowWater is the share of the room that an epoch goes down to when a request does not fit, so that the next
// requests fit and their prefix stays in the prompt cache.
const lowWater = 0.5

// Why a request is rewritten, for the log, where several places say it.
const (
	noFit         = "the request did not fit"
	nothingCached = "nothing is in the prompt cache"
)

// epoch is pass 7. It knows which old work may go, and what it costs to rewrite what was sent.
type epoch struct {
	folding
	isPressed bool // the request does not fit, and FoldAbove does not count
}

func newEpoch(d *draft) *epoch { return &epoch{folding: folding{shortening{d}}} }

// rewrite is pass 7. Each of the six reasons for an epoch stands with what it does.
func (e *epoch) rewrite() {
	isCold, uncached, endsPhase := e.isCold(), e.opts.Cache.None, e.endsPhase()
	thinks := func(x *item) bool { return hasThinking(x.sent) }
	e.setCliff()
	if e.thinking() == ThinkingBound && !endsPhase && e.fits() && slices.ContainsFunc(e.items, thinks) {
		return // an epoch would lose what the model thought
	}
	leastImages := imagesAtOnce
	if isCold {
		leastImages = 1
	}
	e.because("old images", func() { e.dropOldImages(leastImages) })
	fits := e.fits()
	if fits && e.isBelowFold() {
		return // nothing goes from a small request
	}
	if fits && endsPhase {
		e.because("the model ended a phase of its work", func() { e.drop(e.staleParts(1, holdFile)) })
	}
	switch {
	case isCold:
		e.because(nothingCached, e.foldInTheCold)
	case fits && e.begunWith == e.ledger.checkpoint:
		e.because("carrying it further costs more than writing the cache again", e.rewriteIfItPays)
		return
	case fits:
		e.because("behind a new summary everything is written to the cache again", func() {
			e.drop(e.staleParts(warmSteps, holdNothing))
		})
		return
	}
	pressed := !e.fits()
	switch {
	case pressed && e.cliff > 0:
		e.because("a larger request costs more as a whole", e.dropStale)
	case pressed:
		e.because(noFit, e.dropStale)
	}
	if uncached { // else the next request would do it, even if its history has nothing new
		e.because(nothingCached, func() {
			for e.bareRecords(recordsShare) {
			}
		})
	}
	wasIdle := isCold && !uncached && !e.ledger.SentAt.IsZero()
	e.isCramped = (pressed || wasIdle) && e.isStillNearlyFull()
}

// foldInTheCold is the epoch of a request of which nothing is in the cache.
func (e *epoch) foldInTheCold() {
	if e.opts.Cache.None {
		e.drop(e.staleParts(warmSteps, holdNothing))
	} else {
		e.drop(e.staleParts(coldSteps, holdNothing))
	}
	e.bareRecords(recordsShare)
}

// endsPhase reports whether the newest answer, which no request had so far, ends a phase.
func (e *epoch) endsPhase() bool {
	if e.opts.Tools == nil || !e.opts.Tools.Notes {
		return false
	}
	calls := answered{messages: e.sent()}
	for i := len(e.items) - 1; i >= e.firstChanged(); i-- {
		m := e.items[i].sent
		if m.Role != RoleTool {
			return false
		}
		if calls.tool(i) == toolcall.PhaseTool && !m.IsError && !isMissingResult(m) {
			return true
		}
	}
	return false
}

// isStillNearlyFull reports whether the next epoch would follow soon. The newest results count as lowWater at most: no
// summary stands for them, and the next epoch can drop them.
func (e *epoch) isStillNearlyFull() bool {
	newest := 0
	for i := len(e.items) - 1; i >= 0 && e.items[i].sent.Role == RoleTool; i-- {
		newest = count.Add(newest, e.items[i].tokens())
	}
	room := e.room()
	rest := e.total - newest
	return count.Add(rest, min(newest, count.Share(room, lowWater))) > count.Share(room, crampedShare)
}

// crampedShare is the share of the room above which the next epoch would follow soon. If an epoch cannot get below it,
// a summary is made at once, and not after several rewrites that each free less. In the recorded sessions 0.7 and 0.8
// cost the same.
const crampedShare = 0.8

// dropStale is the epoch of a request that does not fit. It drops what is stale, and then the oldest of the rest, until
// there is room for the next requests too.
func (e *epoch) dropStale() {
	e.isPressed = true
	e.dropOldImages(1)
	goal := count.Share(e.room(), lowWater)
	steps := pressedSteps
	if e.isCold() {
		steps = coldSteps
	}
	e.dropTo(goal, steps)
	if e.opts.WholeSteps > 0 && !e.fits() && !e.span().verdict().canHelp { // a summary would leave them whole
		e.givesUpSteps = true
		e.dropTo(goal, steps)
	}
	e.foldAllButNewest(goal)
}

// foldAllButNewest makes records of all steps but the newest before a model is asked for a summary. Records say more of
// these steps than a summary would, and they cost no call. In a window of 64 000 tokens, the recorded sessions then
// need 202 calls for summaries instead of 292.
func (e *epoch) foldAllButNewest(goal int) {
	if e.isStillNearlyFull() && e.opts.asksSummarizer() {
		e.drop(e.staleParts(1, holdNothing))
		e.dropTo(goal, 1)
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
func (e *epoch) dropTo(goal, steps int) {
	if e.foldFrom() < goal { // else the host wants all that fits
		e.drop(e.staleParts(warmSteps, holdNothing))
	}
	for e.total > goal && e.bareRecords(recordsShare) {
	}
	e.dropUntil(goal, e.staleParts(steps, holdNothing))
	e.dropFilesTo(goal, steps)
}

// dropUntil drops the first parts of list until the messages take at most goal tokens.
func (e *epoch) dropUntil(goal int, list []part) {
	left, n := e.total, 0
	for n < len(list) && left > goal {
		left -= list[n].saving
		n++
	}
	list = list[:n]
	slices.SortFunc(list, func(a, b part) int { return a.index - b.index })
	e.drop(list)
}

// dropFilesTo drops files in work, the largest first. To read a file again takes a request whatever its size, so it is
// cheaper to read a large one again than several small ones.
func (e *epoch) dropFilesTo(goal, steps int) {
	water := lookingWater
	if e.changesFiles() {
		water = editingWater
	}
	goal = max(goal, count.Share(e.room(), water))
	if e.total <= goal {
		return
	}
	list := e.staleParts(steps, holdFile)
	slices.SortStableFunc(list, func(a, b part) int { return b.saving - a.saving })
	e.dropUntil(goal, list)
}

// rewriteIfItPays is the epoch of a request that fits while the cache is warm. Nothing happens if the host asks for the
// same request again: it gets the one that was sent.
func (e *epoch) rewriteIfItPays() {
	if n := e.firstChanged(); n == len(e.ledger.Sent) && n == len(e.items) {
		return
	}
	list := e.staleParts(warmSteps, holdNothing)
	e.drop(list[e.epochFrom(list):])
}

// epochFrom returns the first part of list with which an epoch pays most, or len(list) if none does. An epoch that
// begins at a part drops it and all parts behind it, and writes what is kept behind it to the cache again.
func (e *epoch) epochFrom(list []part) int {
	worth := e.prices.worthOfKept()
	tokens := e.cachedTokens()
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
func (e *epoch) cachedTokens() []int {
	n := e.firstChanged()
	if n == len(e.ledger.Sent) {
		n = len(e.items)
	}
	tokens := e.counts()
	clear(tokens[n:])
	return tokens
}

// dropOldImages replaces the images that are old by a line each, if at least `least` steps have some. From a request
// below the fold only those go that the provider may refuse.
func (e *epoch) dropOldImages(least int) {
	isSmall := e.fits() && e.isBelowFold() && e.images() <= mostImages
	if isSmall || !e.isPressed && e.opts.FoldAbove >= 1 {
		return
	}
	var list []part
	turn := newestRequest(e.sent())
	steps, isCounted := 0, false
	for i := range min(imagesFrom(e.sent()), e.wholeFrom()) {
		m := e.items[i].sent
		if m.Role != RoleTool { // a step begins
			isCounted = false
		}
		if hasImage(m) && mayLoseImages(m, i < turn) && !e.isUnseen(i) {
			list = append(list, part{index: i, images: true, reason: oldImages})
			if !isCounted {
				steps, isCounted = steps+1, true
			}
		}
	}
	if steps >= least {
		e.drop(list)
	}
}

// changesFiles reports whether a call of the newest turn changes a file. It looks at the history, because a summary may
// stand for most of the turn.
func (e *epoch) changesFiles() bool {
	facts := e.index.facts
	for i := len(e.history) - 1; i >= max(0, e.compactedAt) && !beginsTurn(&e.history[i]); i-- {
		for _, s := range facts[i].subjectsOf(&e.history[i], e.minifier.files) {
			if s.files.Change() {
				return true
			}
		}
	}
	return false
}
