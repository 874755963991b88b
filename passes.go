package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/place"
)

// turnGrowth is how far the number of turns grows above the limit before the turns are cut to it in one go. Cutting at
// every turn would change the beginning of every request, and the prompt cache would never be read.
const turnGrowth = 1.5

// limitAndReplay is passes 3 to 5. The checkpoint comes first: the turns that it stands for do not count.
func (d *draft) limitAndReplay() {
	v := d.view
	if d.checkpoint != nil && !d.replayCheckpoint(d.checkpoint) {
		d.checkpoint = nil // a history that was rewound to before it, or another one
	}
	d.returned = d.returnedHistory() // before the turn limit: what only this request leaves out stays in it
	if limit := d.opts.HistoryTurns; limit > 0 {
		d.limitTurns(limit)
	}
	v.unedited = v.share()
	request, images := newestRequest(v.messages), imagesFrom(v.messages)
	d.replayRecords(func(i int) bool {
		return d.staysWhole(i, request) || i >= images && hasImage(&v.messages[i])
	})
	d.inForce = nil // what only records show is known now
	// Both are looked for again, because records have moved the messages. An older message with the same key may be
	// sent edited.
	request, images = newestRequest(v.messages), imagesFrom(v.messages)
	for i, f := range v.facts {
		p := d.knownEdit(f)
		if p == nil {
			continue
		}
		showsImages := p.reason == oldImages && (i >= images || d.wasSentWhole(i))
		if i == request || showsImages || !d.mayReplay(i, p, request) {
			d.wholeAgain = append(d.wholeAgain, f.key)
			continue
		}
		if p.undecoded {
			p.read(&v.messages[i], d.opts.Estimator, &d.ledger.index.hasher)
		}
		if v.project(i, p); p.isRepeat() {
			d.repeated[*p.repeats] = true
		}
	}
	d.settleRepeats()
	d.observeUsage()
}

// staysWhole reports whether no record may stand for message i of a view that is not edited yet; request is the newest
// one. What a person wrote stays, and so does what the host does not let go. In the newest turn a message stays that
// has a signature which the provider wants to see.
func (d *draft) staysWhole(i, request int) bool {
	if m := &d.view.messages[i]; m.Role == RoleUser {
		return !d.inForceNow().mayGo(i, m)
	}
	return i >= request && d.isSentSigned(i, request)
}

// isSentSigned reports whether message i of a view that is not edited yet is sent with a signature: it has one, and no
// edit leaves that out. request is the newest one.
func (d *draft) isSentSigned(i, request int) bool {
	m := &d.view.messages[i]
	if !hasSignature(m) {
		return false
	}
	p := d.knownEdit(d.view.facts[i])
	return p == nil || !d.mayReplay(i, p, request) || hasSignature(&Message{Parts: p.sent()})
}

// mayReplay reports whether message i is sent as p has it; request is the newest one. A pin is sent whole, and so is
// thinking that the model needs again. Thinking that the provider would refuse stays out even of a pin.
func (d *draft) mayReplay(i int, p *projection, request int) bool {
	m := &d.view.messages[i]
	switch {
	case (p.parts != nil || m.Role == RoleAssistant) && !haveSameCalls(p.sent(), m.Parts):
		return false // from a damaged state: results would lose their calls
	case p.reason == signedByAnother:
		return true // the provider would refuse it, even in a pin
	case !p.leavesOutThinking(m):
		return !m.Pinned // an edit of something else
	case d.opts.Thinking == ThinkingBound:
		return !d.wasSentWhole(i) // the provider accepted the thinking then
	}
	return !m.Pinned && !d.needsThinking(i, request)
}

// oldImages is the reason of an edit that leaves out images by age. It is not replayed where they are new: in a history
// that was rewound, and in another message that is the same.
const oldImages = "old images: a line stands for each"

// keptImages is how many of the newest steps with images keep them: Anthropic's example of a computer-use agent sends
// the newest 3.
const keptImages = 3

// imagesFrom returns the beginning of the newest steps with images that keep them. The images before it are old.
func imagesFrom(messages []Message) int {
	kept, has := 0, false
	for i := len(messages) - 1; i >= 0; i-- {
		if has = has || hasImage(&messages[i]); messages[i].Role == RoleTool || !has {
			continue
		}
		if kept++; kept == keptImages {
			return i
		}
		has = false
	}
	return 0
}

const summarizedReason = "older than what is kept: a summary stands for it"

// replayCheckpoint puts the summary in the place of what it stands for. It returns false if the history has neither the
// summary nor the first message that was kept after it.
func (d *draft) replayCheckpoint(c *checkpoint) bool {
	if d.replayInPlace(c) {
		return true
	}
	v := d.view
	first := d.firstKept(c, v)
	if first < 0 {
		return false
	}
	// Pins are those of the history as it is now: one that was set after the summary is sent whole again.
	keep := append(outlives(v.messages, first), slices.Repeat([]bool{true}, len(v.messages)-first)...)
	keepFront(v.messages, keep[:min(c.front, first)])
	at := d.leaveOutSummarized(c, keep[:first])
	if c != d.ledger.checkpoint {
		d.names = d.namesBehind(first, keep)
	}
	v.keepOnly(keep)
	v.insert(at, c.message, d.ledger.index.fact(&c.message, d.opts.Estimator))
	return true
}

// leaveOutSummarized drops the messages of the view that c stands for: keep has the messages in front of the first one
// behind c, and says which outlive it. It returns where the summary belongs among those that stay.
func (d *draft) leaveOutSummarized(c *checkpoint, keep []bool) int {
	v, first := d.view, len(keep)
	moved := v.index[first] - c.firstKept.Index // a host may have dropped some of what the summary stands for
	request, limited := c.request.Moved(moved).Find(v.places()), c.limited.Moved(moved).Find(v.places())
	reopened := d.findReopened(request, first)
	// messages before the turn limit that it keeps, such as an earlier summary: the new summary stands for them
	inSummary := d.keptByLimit(max(0, limited))
	undigested, pending := c.unsummarized(v)
	d.edits = slices.Grow(d.edits, first)
	if c.degraded {
		d.digested = slices.Grow(d.digested, max(0, first-undigested)+1)
	}
	unreadable := d.countUnreadable(c)
	isLimited := func(i int) bool { return i < limited && !inSummary[i] }
	// The summary takes the place of the first message that it stands for: what stands in front of that one is in the
	// provider's cache. A reopened request counts as such a message, because it was summarized too. So does the request
	// that the checkpoint keeps, unless it stood in front of all: the host may have dropped what stood there.
	begins := func(i int) bool {
		switch {
		case i < unreadable:
			return false
		case i == request, i == reopened:
			return i != request || !c.requestLeads
		}
		return !keep[i] && !isLimited(i)
	}
	at, kept := -1, 0
	for i := range first {
		if at < 0 && begins(i) {
			at = kept
		}
		if keep[i] = keep[i] || i < unreadable || i == request || i == reopened; keep[i] {
			kept++
			continue
		}
		op, reason := OpCompact, d.orUnseen(i, summarizedReason)
		switch {
		case isLimited(i):
			op, reason = OpLimit, limitReason
		case c.degraded && (i >= undigested || i == pending):
			d.digested = append(d.digested, v.messages[i])
		}
		d.edits = append(d.edits, v.dropEdit(i, op, reason))
	}
	if at < 0 { // the host has dropped all of them
		at = kept
	}
	return at
}

// replayInPlace reports whether the summary stands in the view. It puts the one that was sent in the place of its text.
func (d *draft) replayInPlace(c *checkpoint) bool {
	v := d.view
	for i, f := range v.facts {
		switch {
		case !v.messages[i].Summary:
		case f.key == c.key:
			return true // the history is one that a request returned
		case f.key == c.plain && c == d.ledger.checkpoint: // the host keeps Compaction.Summary
			d.edits = append(d.edits, v.dropEdit(i, OpCompact, summarizedReason))
			v.replace(i, c.message, d.ledger.index.fact(&c.message, d.opts.Estimator))
			return true
		}
	}
	return false
}

// findReopened returns the index of a user request that is sent in addition to `request`, the one that the checkpoint
// knows, or -1. It stands before `first`, the first message that is kept. If the history was rewound, its newest
// request stands there, and the summary does not show that it is the open one. Once sent, such a request stays, so that
// the requests that follow begin with the same bytes.
func (d *draft) findReopened(request, first int) int {
	v := d.view
	reopened := -1
	if d.base == d.ledger.checkpoint {
		reopened = d.ledger.reopened.Find(v.places())
	}
	if newest := newestRequest(v.messages); newest >= 0 && newest < first && newest != request {
		reopened = newest
	}
	if reopened >= 0 {
		d.reopened = v.position(reopened)
	}
	return reopened
}

// limitTurns drops the oldest turns. The place of the last cut is remembered, so that the beginning of the request
// stays the same until the list has grown by half, or the cache is cold.
func (d *draft) limitTurns(limit int) {
	v := d.view
	inView := place.List{Len: len(v.facts), Key: v.keyOf}
	start := max(0, d.ledger.turnStart.Find(inView)) // -1: a history that begins elsewhere
	turns := 0
	for i := start; i < len(v.messages); i++ {
		if beginsTurn(&v.messages[i]) {
			turns++
		}
	}
	if turns > limit && (d.isCold() || float64(turns) > turnGrowth*float64(limit)) {
		start = turnLimitStart(v.messages, limit)
		if unseen := d.firstUnseen(); unseen < start {
			start = max(0, newestRequest(v.messages[:unseen+1])) // its turn stays
		}
	}
	if start == 0 {
		return
	}
	d.turnStart = position{Key: v.facts[start].key, Index: start}
	d.limitedAt = v.position(start)
	keep := append(d.keptByLimit(start), slices.Repeat([]bool{true}, len(v.messages)-start)...)
	dropped := false
	for i := range start {
		if !keep[i] {
			dropped = true
			d.edits = append(d.edits, v.dropEdit(i, OpLimit, limitReason))
		}
	}
	if dropped {
		v.keepOnly(keep)
	}
}

// maxBatchShare is how much of the room the newest batch of results may take. Several results that are each within
// their limit must leave something for the conversation that they belong to. In the recorded sessions, 0.5 cuts files
// that are then read again: in a window of 64 000 tokens it costs .0016 more (BENCHMARKS.md says of what).
const maxBatchShare = 0.7

// shortenNew is pass 6. It shortens results that were not sent yet and, after a refusal, those that were: what is in no
// cache costs nothing to cut.
func (d *draft) shortenNew() {
	d.passReason = "a new result is larger than one may be"
	v := d.view
	t := newTruncation(*d.opts.Truncate, d.windowEstimate())
	wasSent := d.sentBefore()
	d.minifyUnsent(wasSent)
	d.showUnchanged(wasSent)
	wasRefused := d.ledger.tries.Refusals > 0
	// The newest results that were not sent yet stand together at the end: those of one step.
	batch := len(v.messages)
	for i := len(v.messages) - 1; i >= 0 && returnsContent(&v.messages[i]) && !wasSent(i); i-- {
		batch = i
	}
	d.capResults(batch, t.limit, count.Share(d.room(), maxBatchShare))
	for i := range v.messages {
		if wasRefused || !wasSent(i) && !d.isRecalled(i) {
			d.cut(i, t, oversizedReason)
		}
	}
	d.settleRepeats()
	d.leaveOutRepeats(wasSent)
}

// sentBefore returns a function that says whether the last request held message i as it stands now.
func (d *draft) sentBefore() func(i int) bool {
	same := d.firstChanged()
	rest := make(map[key]bool, len(d.ledger.sent)-same)
	for _, k := range d.ledger.sent[same:] {
		rest[k] = true
	}
	return func(i int) bool { return i < same || rest[d.view.sentKey(i)] }
}

// capResults cuts the largest results from message `from` on, none of which may have more than limit tokens, so
// that together they take at most budget tokens. Each keeps its head and its tail: the model asked for all of
// them, and nobody knows which end it wants.
func (d *draft) capResults(from, limit, budget int) {
	v := d.view
	var sizes []int
	for i := from; i < len(v.messages); i++ {
		if m := &v.messages[i]; returnsContent(m) && !m.Pinned && !d.isRecalled(i) {
			sizes = append(sizes, min(v.tokens[i], limit))
		}
	}
	if count.Sum(sizes) <= budget {
		return
	}
	t := &truncation{TruncateOptions: *d.opts.Truncate, limit: count.Fair(sizes, budget), bothEnds: true}
	for i := from; i < len(v.messages); i++ {
		if !d.isRecalled(i) {
			d.cut(i, t, "the results of one step are larger together than they may be")
		}
	}
}
