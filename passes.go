package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/place"
)

// The history, indexed and repaired: each message with its fact, and each call with its name.

// section is the part of a history of which a request is made.
type section struct {
	messages []Message
	facts    []*fact
	index    []int // in the history; nil: it is the whole history
}

func (x *section) add(m Message, f *fact, i int) {
	x.messages, x.facts, x.index = append(x.messages, m), append(x.facts, f), append(x.index, i)
}

// inHistory returns the index in the history of message i.
func (x *section) inHistory(i int) int {
	if x.index == nil {
		return i
	}
	return x.index[i]
}

// indexAndRepair is passes 1 and 2 of the list at draft.passes.
func (d *draft) indexAndRepair() {
	facts := d.index.update(d.history, d.opts.Estimator)
	if own := d.repairHistory(facts); own == nil {
		d.source = d.section.messages
		d.setItems(itemsOf(d.source, d.section.facts))
	} else {
		d.takeRepaired(own)
	}
	for _, x := range d.items {
		x.index = d.section.inHistory(x.index)
	}
	d.findStart()
	d.findUnseen()
}

// takeRepaired makes the request of what the repair made, whose messages have the facts own.
func (d *draft) takeRepaired(own []*fact) {
	r := d.repair
	for _, e := range r.edits {
		e.Index = d.section.inHistory(e.Index)
		d.edits = append(d.edits, e)
	}
	d.source = r.out
	d.setItems(itemsOf(r.out, own))
	call := 0
	for k, i := range r.origin {
		if i < 0 { // a result that stands in belongs to its call
			i = int32(call)
		} else if r.out[k].Role != RoleTool {
			call = int(i)
		}
		d.items[k].index = int(i)
	}
}

// repairHistory repairs the pairing of the history, whose messages have these facts. It returns the facts of the
// repaired messages, or nil if nothing had to be repaired.
func (d *draft) repairHistory(facts []*fact) (own []*fact) {
	x, e := d.index, d.opts.Estimator
	d.facts, d.section = facts, d.fromCompaction(facts)
	s := &d.section
	r := &repair{history: s.messages, facts: s.facts, forRequest: true, given: d.ledger.namesFor(s.messages, s.facts)}
	r.standsApart = d.standsApart()
	if r.isClean() {
		return nil
	}
	if d.fault = r.fault(); d.fault != nil {
		d.fault.Index = s.inHistory(d.fault.Index)
	}
	_, edits := r.run()
	if len(edits) == 0 {
		return nil
	}
	// A message that the repair made or changed is another one for the provider, so it has a fact of its own.
	own = make([]*fact, len(r.out))
	d.repair, d.facts = r, slices.Clone(facts)
	for k, i := range r.origin {
		switch {
		case i < 0:
			own[k] = x.fact(&r.out[k], e)
		case r.changed[k]:
			own[k] = x.repaired(s.facts[i], &r.out[k], e)
			d.facts[s.inHistory(int(i))] = own[k]
		default:
			own[k] = s.facts[i]
		}
	}
	return own
}

// standsApart returns a function that says whether later, a result of a call that has first, is shown where it stands
// although the model has not answered in between: the last request had first, or it was decided before. Both are
// messages of the repaired history.
func (d *draft) standsApart() func(first, later *Message) bool {
	l := d.ledger
	var sent, apart map[key]bool
	return func(first, later *Message) bool {
		if sent == nil {
			sent, apart = setOf(l.sent), setOf(l.apart)
		}
		k := d.index.hasher.key(first)
		p := l.edits[k]
		isSent := sent[k] || p != nil && sent[p.key]
		k = d.index.hasher.key(later)
		if !isSent && !apart[k] {
			return false
		}
		d.apart = append(d.apart, k)
		return true
	}
}

// namesBehind returns the names of the calls that a request with a new checkpoint keeps: those of the messages of the
// request for which keep is true. `first` is the first one behind the summary.
func (d *draft) namesBehind(first int, keep []bool) *givenNames {
	r := d.repair
	if r == nil {
		return nil
	}
	from := d.items[first].index
	isKept := make(map[int]bool, len(keep))
	for i, stays := range keep {
		isKept[d.items[i].index] = stays || isKept[d.items[i].index]
	}
	n := &givenNames{before: map[string][]string{}, behind: map[string][]string{}}
	n.firstKept = place.At(placesOf(d.index.facts), from, func(int) bool { return true })
	renamed := map[string]bool{}
	for s := range r.pairs.Calls {
		c := &r.pairs.Calls[s]
		at := d.section.inHistory(int(c.Message))
		if c.Failed || !isKept[at] {
			continue
		}
		list := n.before
		if at >= from {
			list = n.behind
		}
		list[c.ID] = append(list[c.ID], r.pairs.SentID(int32(s)))
		if r.pairs.IsRenamed(int32(s)) {
			renamed[c.ID] = true
		}
	}
	if len(renamed) == 0 {
		return nil
	}
	isOwn := func(id string, _ []string) bool { return !renamed[id] }
	maps.DeleteFunc(n.before, isOwn)
	maps.DeleteFunc(n.behind, isOwn)
	return n
}

// turnGrowth is how far the number of turns grows above the limit before the turns are cut to it in one go. Cutting at
// every turn would change the beginning of every request, and the prompt cache would never be read.
const turnGrowth = 1.5

// limitAndReplay is passes 3 to 5. The checkpoint comes first: the turns that it stands for do not count.
func (d *draft) limitAndReplay() {
	if d.checkpoint != nil && !d.replayCheckpoint(d.checkpoint) {
		d.checkpoint = nil // a history that was rewound to before it, or another one
	}
	d.returned = d.returnedHistory() // before the turn limit: what only this request leaves out stays in it
	if limit := d.opts.HistoryTurns; limit > 0 {
		d.limitTurns(limit)
	}
	request, images := newestRequest(d.sent()), imagesFrom(d.sent())
	d.replayRecords(func(i int) bool {
		return d.staysWhole(i, request) || i >= images && hasImage(d.items[i].sent)
	})
	d.inForce = nil // what only records show is known now
	// Both are looked for again, because records have moved the messages. An older message with the same key may be
	// sent edited.
	request, images = newestRequest(d.sent()), imagesFrom(d.sent())
	for i, x := range d.items {
		p := d.knownEdit(x.fact)
		if p == nil {
			continue
		}
		showsImages := p.reason == oldImages && (i >= images || d.wasSentWhole(i))
		if i == request || showsImages || !d.mayReplay(i, p, request) {
			d.wholeAgain = append(d.wholeAgain, x.fact.key)
			continue
		}
		if p.undecoded {
			p.read(x.own, d.opts.Estimator, &d.index.hasher)
		}
		if d.show(i, p); p.isRepeat() {
			d.repeated[*p.repeats] = true
		}
	}
	d.settleRepeats()
	d.observeUsage()
}

// staysWhole reports whether no record may stand for message i, before edits; request is the newest one. What a person
// wrote stays, and so does what the host does not let go. In the newest turn a message stays that has a signature which
// the provider wants to see.
func (d *draft) staysWhole(i, request int) bool {
	if m := d.items[i].sent; m.Role == RoleUser {
		return !d.inForceNow().over[d.items[i]]
	}
	return i >= request && d.isSentSigned(i, request)
}

// isSentSigned reports whether message i, before edits, is sent with a signature: it has one, and no edit leaves that
// out. request is the newest one.
func (d *draft) isSentSigned(i, request int) bool {
	m := d.items[i].sent
	if !hasSignature(m) {
		return false
	}
	p := d.knownEdit(d.items[i].fact)
	return p == nil || !d.mayReplay(i, p, request) || hasSignature(&Message{Parts: p.sent()})
}

// mayReplay reports whether message i is sent as p has it; request is the newest one. A pin is sent whole, and so is
// thinking that the model needs again. Thinking that the provider would refuse stays out even of a pin.
func (d *draft) mayReplay(i int, p *edit, request int) bool {
	m := d.items[i].sent
	switch {
	case (p.parts != nil || m.Role == RoleAssistant) && !haveSameCalls(p.sent(), m.Parts):
		return false // from a damaged state: results would lose their calls
	case p.reason == signedByAnother:
		return true // the provider would refuse it, even in a pin
	case !p.leavesOutThinking(m):
		return !m.Pinned // an edit of something else
	case d.thinking() == ThinkingBound:
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
func imagesFrom(messages sequence) int {
	kept, has := 0, false
	for i := messages.len() - 1; i >= 0; i-- {
		m := messages.at(i)
		if has = has || hasImage(m); m.Role == RoleTool || !has {
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
	first := d.firstKept(c, d.items)
	if first < 0 {
		return false
	}
	// Pins are those of the history as it is now: one that was set after the summary is sent whole again.
	keep := append(outlives(d.sent(), first), slices.Repeat([]bool{true}, len(d.items)-first)...)
	keepFront(d.sent(), keep[:min(c.front, first)])
	at := d.leaveOutSummarized(c, keep[:first])
	if c != d.ledger.checkpoint {
		d.names = d.namesBehind(first, keep)
	}
	summary := madeItem(&c.message, d.index.fact(&c.message, d.opts.Estimator))
	d.setItems(slices.Insert(kept(d.items, keep), at, summary))
	return true
}

// leaveOutSummarized drops the messages that c stands for: keep has the messages in front of the first one
// behind c, and says which outlive it. It returns where the summary belongs among those that stay.
func (d *draft) leaveOutSummarized(c *checkpoint, keep []bool) int {
	first, places := len(keep), placesIn(d.items)
	moved := d.items[first].index - c.firstKept.Index // a host may have dropped some of what the summary stands for
	request, limited := c.request.Moved(moved).Find(places), c.limited.Moved(moved).Find(places)
	reopened := d.findReopened(request, first)
	// messages before the turn limit that it keeps, such as an earlier summary: the new summary stands for them
	inSummary := d.keptByLimit(max(0, limited))
	undigested, pending := c.unsummarized(d.items)
	d.edits = slices.Grow(d.edits, first)
	if c.degraded != "" {
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
			op, reason = OpLimit, d.limitReason(i)
		case c.degraded != "" && (i >= undigested || i == pending):
			d.digested = append(d.digested, *d.items[i].own)
		}
		d.edits = append(d.edits, d.items[i].dropEdit(op, reason))
	}
	if at < 0 { // the host has dropped all of them
		at = kept
	}
	return at
}

// replayInPlace reports whether the summary stands in the history. It puts the one that was sent in the place of its
// text.
func (d *draft) replayInPlace(c *checkpoint) bool {
	for i, x := range d.items {
		switch {
		case !x.own.Summary:
		case x.fact.key == c.key:
			return true // the history is one that a request returned
		case x.fact.key == c.plain && c == d.ledger.checkpoint: // the host keeps Compaction.Summary
			d.edits = append(d.edits, x.dropEdit(OpCompact, summarizedReason))
			d.items[i] = madeItem(&c.message, d.index.fact(&c.message, d.opts.Estimator))
			d.setItems(d.items)
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
	reopened := -1
	if d.base == d.ledger.checkpoint {
		reopened = d.ledger.reopened.Find(placesIn(d.items))
	}
	if newest := newestRequest(d.sent()); newest >= 0 && newest < first && newest != request {
		reopened = newest
	}
	if reopened >= 0 {
		d.reopened = d.items[reopened].position()
	}
	return reopened
}

// limitTurns drops the oldest turns. The place of the last cut is remembered, so that the beginning of the request
// stays the same until the list has grown by half, or the cache is cold.
func (d *draft) limitTurns(limit int) {
	start := max(0, d.ledger.turnStart.Find(placesBy(d.items))) // -1: a history that begins elsewhere
	turns := 0
	for i := start; i < len(d.items); i++ {
		if beginsTurn(d.items[i].sent) {
			turns++
		}
	}
	if turns > limit && d.endsInNews() && (d.isCold() || float64(turns) > turnGrowth*float64(limit)) {
		start = turnLimitStart(d.sent(), limit)
		if unseen := d.firstUnseen(); unseen < start {
			start = max(0, newestRequest(asOwn(d.items[:unseen+1]))) // its turn stays
		}
	}
	if start == 0 {
		return
	}
	d.turnStart = position{Key: d.items[start].fact.key, Index: start}
	d.limitedAt = d.items[start].position()
	keep := append(d.keptByLimit(start), slices.Repeat([]bool{true}, len(d.items)-start)...)
	dropped := false
	for i := range start {
		if !keep[i] {
			dropped = true
			d.edits = append(d.edits, d.items[i].dropEdit(OpLimit, d.limitReason(i)))
		}
	}
	if dropped {
		d.setItems(kept(d.items, keep))
	}
}

// limitReason says why the turn limit leaves out message i. The model may not have seen a result that came late, of a
// turn that the host does not want.
func (d *draft) limitReason(i int) string {
	if d.isUnseen(i) {
		return limitReason + " (the model has not seen it)"
	}
	return limitReason
}

// endsInNews reports whether the newest message is another than that of the last request. Where it is not, the host
// asks again: what the model had not seen then, it has not seen now, though a repair may have moved it in front of an
// answer.
func (d *draft) endsInNews() bool {
	sent, n := d.ledger.sent, len(d.items)
	return len(sent) == 0 || n == 0 || sent[len(sent)-1] != d.items[n-1].key()
}

// maxBatchShare is how much of the room the newest batch of results may take. Several results that are each within
// their limit must leave something for the conversation that they belong to. In the recorded sessions, 0.5 cuts files
// that are then read again: in a window of 64 000 tokens it costs .0016 more (BENCHMARKS.md says of what).
const maxBatchShare = 0.7

// shortenNew is pass 6. It shortens results that were not sent yet and, after a refusal, those that were: what is in no
// cache costs nothing to cut.
func (d *draft) shortenNew() {
	d.passReason = "a new result is larger than one may be"
	t := newTruncation(*d.opts.Truncate, d.windowEstimate())
	wasSent := d.sentBefore()
	d.minifyUnsent(wasSent)
	d.showUnchanged(wasSent)
	wasRefused := d.ledger.tries.Refusals > 0
	// The newest results that were not sent yet stand together at the end: those of one step.
	batch := len(d.items)
	for i := len(d.items) - 1; i >= 0 && returnsContent(d.items[i].sent) && !wasSent(i); i-- {
		batch = i
	}
	d.capResults(batch, t.limit, count.Share(d.room(), maxBatchShare))
	for i := range d.items {
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
	return func(i int) bool { return i < same || rest[d.items[i].key()] }
}

// capResults cuts the largest results from message `from` on, none of which may have more than limit tokens, so
// that together they take at most budget tokens. Each keeps its head and its tail: the model asked for all of
// them, and nobody knows which end it wants.
func (d *draft) capResults(from, limit, budget int) {
	var sizes []int
	for i := from; i < len(d.items); i++ {
		if m := d.items[i].sent; returnsContent(m) && !m.Pinned && !d.isRecalled(i) {
			sizes = append(sizes, min(d.items[i].tokens(), limit))
		}
	}
	if count.Sum(sizes) <= budget {
		return
	}
	t := &truncation{TruncateOptions: *d.opts.Truncate, limit: count.Fair(sizes, budget), bothEnds: true}
	for i := from; i < len(d.items); i++ {
		if !d.isRecalled(i) {
			d.cut(i, t, "the results of one step are larger together than they may be")
		}
	}
}
