package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/sections"
)

// Passes 3 to 5: what was sent stands as it was sent.

// replaying puts what was sent into the place that it had: summary, turn limit, records, edits.
type replaying struct{ shortening }

// turnGrowth is how far the number of turns grows above the limit before the turns are cut to it in one go. Cutting at
// every turn would change the beginning of every request, and the prompt cache would never be read.
const turnGrowth = 1.5

// limitAndReplay runs them in order. The checkpoint comes first, because the turns that it stands for do not count.
func (a replaying) limitAndReplay() {
	if a.checkpoint != nil && !a.replayCheckpoint(a.checkpoint) {
		a.checkpoint = nil // a history that was rewound to before it, or another one
	}
	a.returned = a.returnedHistory() // before the turn limit: what only this request leaves out stays in it
	if limit := a.opts.HistoryTurns; limit > 0 {
		a.limitTurns(limit)
	}
	request, images := newestRequest(a.sent()), imagesFrom(a.sent())
	a.replayRecords(func(i int) bool {
		return a.staysWhole(i, request) || i >= images && hasImage(a.items[i].sent)
	})
	a.inForce = nil // what only records show is known now
	// Records have moved the messages, so both are looked for again. An older message with the same key may be edited
	// in its place.
	request, images = newestRequest(a.sent()), imagesFrom(a.sent())
	for i, x := range a.items {
		p := a.knownEdit(x.fact)
		if p == nil {
			continue
		}
		showsImages := p.isOldImages() && (i >= images || a.wasSentWhole(i))
		if i == request || showsImages || !a.mayReplay(i, p, request) {
			a.wholeAgain = append(a.wholeAgain, x.fact.key)
			continue
		}
		if p.undecoded {
			p.read(x.own, a.opts.Estimator, &a.index.hasher)
		}
		if a.show(i, p); p.isRepeat() {
			a.repeated[p.repeats] = true
		}
	}
	a.showRepeats(false)
	observing{a.draft}.observeUsage()
}

// staysWhole reports whether no record may stand for message i, before edits; request is the newest one. What a person
// wrote stays, and so does what the host does not let go. In the newest turn a message stays that has a signature which
// the provider wants to see.
func (a replaying) staysWhole(i, request int) bool {
	if m := a.items[i].sent; m.Role == RoleUser {
		return !a.inForceNow().over[a.items[i]]
	}
	return i >= request && a.isSentSigned(i, request)
}

// isSentSigned reports whether message i, before edits, is sent with a signature: it has one, and no edit leaves that
// out. request is the newest one.
func (a replaying) isSentSigned(i, request int) bool {
	m := a.items[i].sent
	if !hasSignature(m) {
		return false
	}
	p := a.knownEdit(a.items[i].fact)
	return p == nil || !a.mayReplay(i, p, request) || hasSignature(&Message{Parts: p.sent()})
}

// mayReplay reports whether message i is sent as p has it; request is the newest one. A pin is sent whole, and so is
// thinking that the model needs again. Thinking that the provider would refuse stays out even of a pin.
func (a replaying) mayReplay(i int, p *edit, request int) bool {
	m := a.items[i].sent
	switch {
	case (p.parts != nil || m.Role == RoleAssistant) && !haveSameCalls(p.sent(), m.Parts):
		return false // from a damaged state: results would lose their calls
	case p.isForeignThinking():
		return true // the provider would refuse it, even in a pin
	case m.Role != RoleAssistant && (p.op == OpClear || p.op == OpTrim) && a.isUnseen(i):
		return !m.Pinned && p.isOfUnseen()
	case !p.leavesOutThinking(m):
		return !m.Pinned // an edit of something else
	case a.thinking() == ThinkingBound:
		return !a.wasSentWhole(i) // the provider accepted the thinking then
	}
	return !m.Pinned && !a.needsThinking(i, request)
}

// needsThinking reports, for ThinkingDropped, whether message i must be sent with its thinking again. That is so if the
// message is of the newest turn, because the history was rewound into that turn or because the message reads like an
// older one: providers refuse the results of a tool loop without the thinking that led to it. A message that was sent
// whole since then stays whole.
func (a replaying) needsThinking(i, request int) bool { return i >= request || a.wasSentWhole(i) }

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

const (
	summarizedReason = "older than what is kept: a summary stands for it"
	wordsReason      = " (some of the words have no room in it)"
)

// replayCheckpoint puts the summary in the place of what it stands for. It returns false if the history has neither the
// summary nor the first message that was kept after it.
func (a replaying) replayCheckpoint(c *checkpoint) bool {
	if a.replayInPlace(c) {
		return true
	}
	first := a.firstKept(c, a.items)
	if first < 0 {
		return false
	}
	a.behind = a.items[first]
	// Pins are those of the history as it is now: one that was set after the summary is sent whole again.
	keep := append(outlives(a.sent(), first), slices.Repeat([]bool{true}, len(a.items)-first)...)
	keepFront(a.sent(), keep[:min(c.Front, first)])
	at := a.leaveOutSummarized(c, keep[:first])
	if c != a.ledger.checkpoint {
		a.names = a.namesBehind(first, keep)
	}
	summary := madeItem(&c.message, a.index.fact(&c.message, a.opts.Estimator))
	a.setItems(slices.Insert(kept(a.items, keep), at, summary))
	return true
}

// leaveOutSummarized drops the messages that c stands for: keep has the messages in front of the first one
// behind c, and says which outlive it. It returns where the summary belongs among those that stay.
func (a replaying) leaveOutSummarized(c *checkpoint, keep []bool) int {
	first, places := len(keep), placesIn(a.items)
	moved := a.items[first].index - c.FirstKept.Index // a host may have dropped some of what the summary stands for
	request, limited := c.Request.Moved(moved).Find(places), c.Limited.Moved(moved).Find(places)
	reopened := a.findReopened(request, first)
	// messages before the turn limit that it keeps, such as an earlier summary: the new summary stands for them
	inSummary := a.keptByLimit(max(0, limited))
	undigested, pending := c.unsummarized(a.items)
	a.reported = slices.Grow(a.reported, first)
	if c.isByDigest() {
		a.digested = slices.Grow(a.digested, max(0, first-undigested)+1)
	}
	unreadable := a.countUnreadable(c)
	isLimited := func(i int) bool { return i < limited && !inSummary[i] }
	// The summary takes the place of the first message that it stands for: what stands in front of that one is in the
	// provider's cache. A reopened request counts as such a message, because it was summarized too. So does the request
	// that the checkpoint keeps, unless it stood in front of all: the host may have dropped what stood there.
	begins := func(i int) bool {
		switch {
		case i < unreadable:
			return false
		case i == request, i == reopened:
			return i != request || !c.Leads
		}
		return !keep[i] && !isLimited(i)
	}
	isQuoted := a.quotedIn(c)
	at, kept := -1, 0
	for i := range first {
		if at < 0 && begins(i) {
			at = kept
		}
		if keep[i] = keep[i] || i < unreadable || i == request || i == reopened; keep[i] {
			kept++
			continue
		}
		op, reason := OpCompact, a.orUnseen(i, summarizedReason)
		hasWords := isQuoted(a.items[i])
		switch {
		case isLimited(i), i < limited && !hasWords: // it begins a turn of which an older summary has the rest
			op, reason = OpLimit, a.limitReason(i)
		case c.isByDigest() && (i >= undigested || i == pending):
			a.digested = append(a.digested, *a.items[i].own)
		}
		if op == OpCompact && !hasWords {
			reason += wordsReason
		}
		a.reported = append(a.reported, a.items[i].dropEdit(op, reason))
	}
	if at < 0 { // the host has dropped all of them
		at = kept
	}
	return at
}

// quotedIn returns what reports whether the summary of c has all words of a person in a message, if it has any.
func (a replaying) quotedIn(c *checkpoint) func(x *item) bool {
	said, words := a.dialogue(), sections.WordsIn(joinedText(&c.message))
	return func(x *item) bool {
		text := ""
		if x.index >= 0 {
			text = said.words(x.index)
		}
		return text == "" || words.Have(text)
	}
}

// countUnreadable returns how many messages no summary stands for, although they are older than c: they stand before a
// compaction that the model cannot read, and c was made for one that could.
func (a replaying) countUnreadable(c *checkpoint) (n int) {
	at := c.Limited.Find(placesOf(a.index.facts))
	if a.start >= 0 || at < 0 || compactionIn(&a.history[at]) < 0 {
		return 0
	}
	for n < len(a.items) && a.items[n].index < at {
		n++
	}
	return n
}

// replayInPlace reports whether the summary stands in the history. It puts the one that was sent in the place of its
// text.
func (a replaying) replayInPlace(c *checkpoint) bool {
	for i, x := range a.items {
		switch {
		case !x.own.Summary:
		case x.fact.key == c.Key:
			return true // the history is one that a request returned
		case x.fact.key == c.Plain && c == a.ledger.checkpoint: // the host keeps Compaction.Summary
			a.reported = append(a.reported, x.dropEdit(OpCompact, summarizedReason))
			a.items[i] = madeItem(&c.message, a.index.fact(&c.message, a.opts.Estimator))
			a.setItems(a.items)
			return true
		}
	}
	return false
}

// findReopened returns the index of a user request that is sent in addition to `request`, the one that the checkpoint
// knows, or -1. It stands before `first`, the first message that is kept. If the history was rewound, its newest
// request stands there, and the summary does not show that it is the open one. Once sent, such a request stays, so that
// the requests that follow begin with the same bytes.
func (a replaying) findReopened(request, first int) int {
	reopened := -1
	if a.begunWith == a.ledger.checkpoint {
		reopened = a.ledger.Reopened.Find(placesIn(a.items))
	}
	if newest := newestRequest(a.sent()); newest >= 0 && newest < first && newest != request {
		reopened = newest
	}
	if reopened >= 0 {
		a.reopened = a.items[reopened].position()
	}
	return reopened
}

// namesBehind returns the names of the calls that a request with a new checkpoint keeps: those of the messages of the
// request for which keep is true. `first` is the first one behind the summary.
func (a replaying) namesBehind(first int, keep []bool) *saved.Names {
	r := a.repair
	if r == nil {
		return nil
	}
	from := a.items[first].index
	isKept := make(map[int]bool, len(keep))
	for i, stays := range keep {
		isKept[a.items[i].index] = stays || isKept[a.items[i].index]
	}
	n := &saved.Names{Before: map[string][]string{}, Behind: map[string][]string{}}
	n.FirstKept = place.At(placesOf(a.index.facts), from)
	renamed := map[string]bool{}
	for s := range r.pairs.Calls {
		c := &r.pairs.Calls[s]
		at := a.section.inHistory(int(c.Message))
		if c.Failed || !isKept[at] {
			continue
		}
		list := n.Before
		if at >= from {
			list = n.Behind
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
	maps.DeleteFunc(n.Before, isOwn)
	maps.DeleteFunc(n.Behind, isOwn)
	return n
}

// limitTurns drops the oldest turns. The place of the last cut is remembered, so that the beginning of the request
// stays the same until the list has grown by half, or the cache is cold.
func (a replaying) limitTurns(limit int) {
	start := max(0, a.ledger.TurnStart.Find(placesInRequest(a.items))) // -1: a history that begins elsewhere
	turns := 0
	for i := start; i < len(a.items); i++ {
		if beginsTurn(a.items[i].sent) {
			turns++
		}
	}
	if turns > limit && a.endsInNews() && (a.isCold() || float64(turns) > turnGrowth*float64(limit)) {
		start = turnLimitStart(a.sent(), limit)
		if unseen := a.firstUnseen(); unseen < start {
			start = max(0, newestRequest(asOwn(a.items[:unseen+1]))) // its turn stays
		}
	}
	if start == 0 {
		return
	}
	a.turnStart = position{Key: a.items[start].fact.key, Index: start}
	a.limitedAt = a.items[start].position()
	keep := append(a.keptByLimit(start), slices.Repeat([]bool{true}, len(a.items)-start)...)
	dropped := false
	for i := range start {
		if !keep[i] {
			dropped = true
			a.reported = append(a.reported, a.items[i].dropEdit(OpLimit, a.limitReason(i)))
		}
	}
	if dropped {
		a.setItems(kept(a.items, keep))
	}
}

// keptByLimit marks the messages before `from` that survive the turn limit. It looks at what was in force when the
// turns were cut, and not at what is now: the beginning of the request stays as it is until the next cut.
func (a replaying) keptByLimit(from int) []bool {
	if from == 0 {
		return nil
	}
	f := findInForce(a.draft, a.items, from)
	return keptBefore(a.own(), from, func(i int) bool {
		x := a.items[i]
		return f.held[x] >= holdShown && x.own.Role != RoleTool // results stay with their calls
	})
}

// limitReason says why the turn limit leaves out message i. The model may not have seen a result that came late, of a
// turn that the host does not want.
func (a replaying) limitReason(i int) string {
	if a.isUnseen(i) {
		return limitReason + " (the model has not seen it)"
	}
	return limitReason
}

// endsInNews reports whether the newest message is another than that of the last request. Where it is not, the host
// asks again: what the model had not seen then, it has not seen now, though a repair may have moved it in front of an
// answer.
func (a replaying) endsInNews() bool {
	sent, n := a.ledger.Sent, len(a.items)
	return len(sent) == 0 || n == 0 || sent[len(sent)-1] != a.items[n-1].key()
}

// returnedHistory returns Request.History. What stands before a compaction of the provider stays in it, as it is: it is
// recalled from there, and sent to a model that cannot read the compaction.
func (a replaying) returnedHistory() []Message {
	switch {
	case a.start < 0:
		return messagesOf(a.own(), a.source)
	case a.checkpoint == nil:
		return clip(a.history)
	}
	kept := slices.Clone(a.history[:a.compactedAt+1])
	for _, x := range a.items[a.start+1:] {
		if x.index < 0 || x.index > a.compactedAt { // else it has moved behind the compaction
			kept = append(kept, *x.own)
		}
	}
	return kept
}

// replayRecords puts the records that were sent in the place of their runs, before texts are edited. stays reports
// whether message i has to be sent whole.
func (a replaying) replayRecords(stays func(i int) bool) {
	known := a.toReplay
	a.toReplay = nil
	if len(known) == 0 {
		return
	}
	// The same text may stand in a history many times, so a record stays where it was made. The host may have dropped
	// messages from before it; the run then stands elsewhere. There, a record stands only for a run with results,
	// because their ids distinguish it from other runs.
	byPlace, byFirst := map[int][]*runRecord{}, map[key][]*runRecord{}
	at := a.byIndex(len(a.history))
	for _, r := range known {
		if i := r.First.Index; i >= 0 && i < len(at) && at[i] > 0 && r.begins(a.items[at[i]-1:]) {
			byPlace[int(at[i]-1)] = append(byPlace[int(at[i]-1)], r)
		} else {
			byFirst[r.First.Key] = append(byFirst[r.First.Key], r)
		}
	}
	isResult := func(x *item) bool { return returnsContent(x.own) }
	used, lost := map[*runRecord]bool{}, map[*runRecord]bool{}
	var runs []recordedRun
	for i := 0; i < len(a.items); i++ {
		var found *runRecord
		for _, r := range byPlace[i] {
			if found == nil || r.Count > found.Count { // the longest, which was written last
				found = r
			}
		}
		for _, r := range byFirst[a.items[i].fact.key] {
			isLonger := found == nil || r.Count > found.Count
			if isLonger && !used[r] && r.begins(a.items[i:]) && slices.ContainsFunc(a.items[i:i+r.Count], isResult) {
				found = r
			}
		}
		switch {
		case found == nil:
		case !a.maySend(found, i, stays):
			lost[found] = true
		default:
			used[found] = true
			runs = append(runs, recordedRun{i, i + found.Count, found})
			i += found.Count - 1
		}
	}
	// A record without a place is remembered, because the history may come back to its run. A record whose run is here
	// and has to be sent whole is not: a run that was sent whole once stays whole.
	for _, r := range known {
		if !used[r] && !lost[r] {
			a.idle = append(a.idle, r)
		}
	}
	a.putRecords(runs)
}

// maySend reports whether r may still be sent for its run, which begins at message i. It may not if the run is the end
// of the request, or has a pin, a message for which stays returns true, or one that the model has not seen. This can
// change: a history that was rewound ends elsewhere, and a host may set a pin later.
func (a replaying) maySend(r *runRecord, i int, stays func(i int) bool) bool {
	end := i + r.Count
	for k := i; k < end; k++ {
		if a.items[k].own.Pinned || stays(k) || a.isUnseen(k) {
			return false
		}
	}
	return end < len(a.items)
}
