package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/models"
)

// The history, indexed and repaired: each message with its fact, and each call with its name.

// section is the part of a history that a request is made from.
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

// repaired is the history as a request may contain it: indexed, repaired, and from the provider's own compaction on.
type repaired struct {
	section section              // the part that was repaired
	source  []Message            // section.messages as repaired; the items are made from it
	facts   []*fact              // of all messages of the history, those of repaired ones as they are sent
	repair  *repair              // nil: nothing had to be repaired
	fault   *InvalidMessageError // of the first message that no request can hold; nil: there is none
	apart   []key                // see ledger
	unseen  int                  // the index behind the newest answer
	beginning
}

// reading is passes 1 and 2: the history with a fact for each message, and calls paired with results.
type reading struct {
	*draft
	own []*fact // of source
}

func newReading(d *draft) *reading { return &reading{draft: d} }

// read takes the history into the draft, indexed and repaired.
func (h *reading) read() {
	h.facts = h.index.update(h.history, h.opts.Estimator)
	h.section = h.fromCompaction(h.facts)
	h.source, h.own = h.section.messages, h.section.facts
	h.repairPairing()
	h.findUnseen()
	h.setItems(h.toItems())
	if h.compactedAt >= 0 {
		h.start = slices.IndexFunc(h.items, func(x *item) bool { return x.index == h.compactedAt })
	}
	if h.start >= 0 {
		h.limitedAt = h.items[h.start].position() // a summary of what follows does not stand for what is in front
	}
}

// ends returns the positions of the newest message of the history, as that has it, and of the one ahead of it.
func (b *basis) ends() (end, ahead position) {
	facts := b.index.facts
	if n := min(len(b.history), len(facts)) - 1; n >= 0 {
		if end = (position{Key: facts[n].key, Index: n}); n > 0 {
			ahead = position{Key: facts[n-1].key, Index: n - 1}
		}
	}
	return end, ahead
}

// behindLast returns the index of what follows the history of the last request; 0: this history does not have that.
func (b *basis) behindLast() int {
	facts := placesOf(b.index.facts)
	if end := b.ledger.End.Find(facts); end >= 0 {
		return end + 1
	}
	// Hosts may put text, such as the time, at the end of a request and drop it later.
	i := b.ledger.Ahead.Find(facts) + 1
	if i > 0 && i < len(b.history) && b.history[i].Role != RoleAssistant {
		i++
	}
	return i
}

// findUnseen finds what the model has not seen. An answer that failed proves nothing.
func (h *reading) findUnseen() {
	h.unseen = len(h.history)
	for h.unseen > 0 && (h.history[h.unseen-1].Role != RoleAssistant || isFailed(&h.history[h.unseen-1])) {
		h.unseen--
	}
}

// toItems returns the messages of which a request is made.
func (h *reading) toItems() []*item {
	items, call := itemsOf(h.source, h.own), 0
	for k, x := range items {
		if h.repair == nil {
			x.index = h.section.inHistory(k)
			continue
		}
		i := h.repair.origin[k]
		if i < 0 { // a result that stands in belongs to its call
			i = int32(call)
		} else if h.source[k].Role != RoleTool {
			call = int(i)
		}
		x.index = h.section.inHistory(int(i))
	}
	return items
}

// repairPairing repairs the pairing of calls and results. A message that it makes or changes is another one for the
// provider, so it has a fact of its own.
func (h *reading) repairPairing() {
	x, e, s := h.index, h.opts.Estimator, &h.section
	r := &repair{history: s.messages, facts: s.facts, forRequest: true, given: h.ledger.namesFor(s.messages, s.facts)}
	r.standsApart = h.standsApart()
	if r.isClean() {
		return
	}
	if h.fault = r.fault(); h.fault != nil {
		h.fault.Index = s.inHistory(h.fault.Index)
	}
	_, edits := r.run()
	if len(edits) == 0 {
		return
	}
	for _, e := range edits {
		e.Index = s.inHistory(e.Index)
		h.reported = append(h.reported, e)
	}
	h.repair, h.source, h.own, h.facts = r, r.out, make([]*fact, len(r.out)), slices.Clone(h.facts)
	for k, i := range r.origin {
		switch {
		case i < 0:
			h.own[k] = x.fact(&r.out[k], e)
		case r.changed[k]:
			h.own[k] = x.repaired(s.facts[i], &r.out[k], e)
			h.facts[s.inHistory(int(i))] = h.own[k]
		default:
			h.own[k] = s.facts[i]
		}
	}
}

// standsApart returns a function that reports whether `later`, another result of the call that `first` answers, keeps
// its own place although the model has not answered in between: the last request had `first`, or it was decided before.
// Both are messages of the repaired history.
func (h *reading) standsApart() func(first, later *Message) bool {
	l := h.ledger
	var sent, apart map[key]bool
	return func(first, later *Message) bool {
		if sent == nil {
			sent, apart = setOf(l.Sent), setOf(l.Apart)
		}
		k := h.index.hasher.key(first)
		p := l.edits[k]
		isSent := sent[k] || p != nil && sent[p.key]
		k = h.index.hasher.key(later)
		if !isSent && !apart[k] {
			return false
		}
		h.apart = append(h.apart, k)
		return true
	}
}

// Where the provider itself has compacted the conversation, the request begins: providers neither read nor bill what
// stands before. So it is not sent, and no record or summary is made of it. Behind it all goes on as in a history that
// begins there.

const (
	compactedReason = "the provider has summarized it itself"
	sealedReason    = "a summary that only another provider can read"
)

// beginning is where the request begins, if the provider has compacted the conversation.
type beginning struct {
	start           int // position in the request of the message with that compaction; -1: none
	compactedAt     int // its index in the history; -1: none
	compactedTokens int // of the history, that it stands for
}

// compactionIn returns the index of the last part of m in which a provider has summarized everything before it, or -1.
// A part does not stand for calls in front of it in the same message, because their results follow it.
func compactionIn(m *Message) int {
	found := -1
	if m.Role == RoleTool || m.Role == RoleSystem || isFailed(m) {
		return found
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == KindToolCall:
			return found
		case p.Kind == KindOpaque && p.MediaType == MediaCompaction && (p.Text != "" || p.Signature != ""):
			found = i
		}
	}
	return found
}

// fromCompaction returns the part of the history from the provider's newest compaction on; the message with that
// compaction is pinned. Of what stands before, system messages stay in front of it, because they may change and the
// host sends them in every request. Pins stay behind it, where the provider reads them, and so do steps of which a
// result came later.
func (h *reading) fromCompaction(facts []*fact) section {
	h.beginning = beginning{start: -1, compactedAt: -1}
	begin, isSealed := -1, false
	for i := len(h.history) - 1; i >= 0 && begin < 0; i-- {
		switch part := compactionIn(&h.history[i]); {
		case part >= 0 && h.canRead(&h.history[i].Parts[part]):
			begin = i
		case part >= 0:
			isSealed = true
		}
	}
	if begin < 0 && !isSealed {
		return section{messages: h.history, facts: facts}
	}
	var x, behind section
	stays, returned := outliveCompaction(h.history, max(0, begin))
	for i, stay := range stays {
		switch {
		case !stay:
			h.compactedTokens = count.Add(h.compactedTokens, facts[i].tokens)
			h.reported = append(h.reported, newDropEdit(OpCompact, h.history, i, facts[i].tokens, compactedReason))
		case i >= returned || h.history[i].Role == RoleSystem:
			x.add(h.history[i], facts[i], i)
		default:
			behind.add(h.history[i], facts[i], i)
		}
	}
	if begin >= 0 {
		h.compactedAt = begin
		x.add(h.cutCompacted(begin, facts[begin]))
	}
	for k := range behind.messages {
		x.add(behind.messages[k], behind.facts[k], behind.index[k])
	}
	for i := begin + 1; i < len(h.history); i++ {
		if compactionIn(&h.history[i]) == 0 && len(h.history[i].Parts) == 1 { // unreadable, and nothing else
			h.reported = append(h.reported, newDropEdit(OpTrim, h.history, i, facts[i].tokens, sealedReason))
			continue
		}
		x.add(h.history[i], facts[i], i)
	}
	return x
}

// outliveCompaction marks the messages of h[:begin] that stay, although the provider compacts at message begin. The
// newest of them, from `returned` on, belong in front of that: an adapter pins what people said if the provider
// returned it together with an item of its own.
func outliveCompaction(h []Message, begin int) (stays []bool, returned int) {
	stays = outlives(listed(h), begin)
	open := map[int]bool{} // answers whose results are not all from before
	calls := answered{messages: listed(h)}
	for i := begin; i < len(h); i++ {
		if owner := calls.owner(i); owner >= 0 && owner < begin {
			stays[owner], open[owner] = true, true
		}
	}
	keepResults(&calls, stays, open)
	for i := range stays { // an older compaction, even if it is pinned
		stays[i] = stays[i] && compactionIn(&h[i]) < 0
	}
	returned = begin
	for returned > 0 && h[begin].Role == RoleUser && stays[returned-1] && h[returned-1].Role == RoleUser {
		returned--
	}
	return stays, returned
}

// cutCompacted returns message i of the history without what stands in it before the compaction of the provider, its
// fact, and i.
func (h *reading) cutCompacted(i int, f *fact) (Message, *fact, int) {
	m := h.history[i]
	m.Pinned = true
	part := compactionIn(&m)
	if part == 0 {
		return m, f, i
	}
	m.Parts, m.Source = m.Parts[part:], nil
	e := newDropEdit(OpCompact, h.history, i, f.tokens, compactedReason)
	f = h.index.repaired(f, &m, h.opts.Estimator)
	e.After = max(1, f.tokens)
	h.compactedTokens = count.Add(h.compactedTokens, max(0, e.Before-e.After))
	h.reported = append(h.reported, e)
	return m, f, i
}

// canRead reports whether the model can read p, a compaction: it is plain text, or its own provider sealed it. Only the
// Responses API seals them, and a model of an unknown maker may be one that it serves.
func (h *reading) canRead(p *Part) bool { return p.Text != "" || models.MayReadSealed(h.opts.Model) }
