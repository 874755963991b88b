package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/models"
)

// Where the provider itself has compacted the conversation, the request begins: providers neither read nor bill what
// stands before. So it is not sent, and no record or summary is made of it. Behind it all goes on as in a history that
// begins there.

const (
	compactedReason = "the provider has summarized it itself"
	sealedReason    = "a summary that only another provider can read"
)

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

// fromCompaction returns the part of the history from the newest compaction of the provider on, which is pinned. Of
// what stands before, system messages stay in front of it, because they may change and the host sends them in every
// request. Pins stay behind it, where the provider reads them, and so do steps of which a result came later.
func (d *draft) fromCompaction(facts []*fact) section {
	h := d.history
	d.beginning = beginning{start: -1, compactedAt: -1}
	begin, isSealed := -1, false
	for i := len(h) - 1; i >= 0 && begin < 0; i-- {
		switch part := compactionIn(&h[i]); {
		case part >= 0 && d.canRead(&h[i].Parts[part]):
			begin = i
		case part >= 0:
			isSealed = true
		}
	}
	if begin < 0 && !isSealed {
		return section{messages: h, facts: facts}
	}
	var x, behind section
	stays, returned := outliveCompaction(h, max(0, begin))
	for i, stay := range stays {
		switch {
		case !stay:
			d.compactedTokens = count.Add(d.compactedTokens, facts[i].tokens)
			d.edits = append(d.edits, newDropEdit(OpCompact, h, i, facts[i].tokens, compactedReason))
		case i >= returned || h[i].Role == RoleSystem:
			x.add(h[i], facts[i], i)
		default:
			behind.add(h[i], facts[i], i)
		}
	}
	if begin >= 0 {
		d.compactedAt = begin
		x.add(d.cutCompacted(begin, facts[begin]))
	}
	for k := range behind.messages {
		x.add(behind.messages[k], behind.facts[k], behind.index[k])
	}
	for i := begin + 1; i < len(h); i++ {
		if compactionIn(&h[i]) == 0 && len(h[i].Parts) == 1 { // unreadable, and nothing else
			d.edits = append(d.edits, newDropEdit(OpTrim, h, i, facts[i].tokens, sealedReason))
			continue
		}
		x.add(h[i], facts[i], i)
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
func (d *draft) cutCompacted(i int, f *fact) (Message, *fact, int) {
	m := d.history[i]
	m.Pinned = true
	part := compactionIn(&m)
	if part == 0 {
		return m, f, i
	}
	m.Parts, m.Source = m.Parts[part:], nil
	e := newDropEdit(OpCompact, d.history, i, f.tokens, compactedReason)
	f = d.index.repaired(f, &m, d.opts.Estimator)
	e.After = max(1, f.tokens)
	d.compactedTokens = count.Add(d.compactedTokens, max(0, e.Before-e.After))
	d.edits = append(d.edits, e)
	return m, f, i
}

// canRead reports whether the model can read p, a compaction: it is plain text, or its own provider sealed it. Only the
// Responses API seals them, and a model of an unknown maker may be one that it serves.
func (d *draft) canRead(p *Part) bool { return p.Text != "" || models.MayReadSealed(d.opts.Model) }

// findStart finds where in the request the section begins.
func (d *draft) findStart() {
	if d.compactedAt < 0 {
		return
	}
	d.start = slices.IndexFunc(d.items, func(x *item) bool { return x.index == d.compactedAt })
	if d.start >= 0 {
		d.limitedAt = d.items[d.start].position() // a summary of what follows does not stand for what is in front
	}
}

// countUnreadable returns how many messages no summary stands for, although they are older than c: they
// stand before a compaction that the model cannot read, and c was made for one that could.
func (d *draft) countUnreadable(c *checkpoint) (n int) {
	at := c.limited.Find(placesOf(d.index.facts))
	if d.start >= 0 || at < 0 || compactionIn(&d.history[at]) < 0 {
		return 0
	}
	for n < len(d.items) && d.items[n].index < at {
		n++
	}
	return n
}

// returnedHistory returns Request.History. What stands before a compaction of the provider stays in it, as it is: it is
// recalled from there, and sent to a model that cannot read the compaction.
func (d *draft) returnedHistory() []Message {
	switch {
	case d.start < 0:
		return messagesOf(d.own(), d.source)
	case d.checkpoint == nil:
		return clip(d.history)
	}
	kept := slices.Clone(d.history[:d.compactedAt+1])
	for _, x := range d.items[d.start+1:] {
		if x.index < 0 || x.index > d.compactedAt { // else it has moved behind the compaction
			kept = append(kept, *x.own)
		}
	}
	return kept
}

// isInPlace reports whether message i stands where it does in the history, or in what the history is from a
// compaction of the provider on.
func (d *draft) isInPlace(i int) bool {
	if i < d.start || d.start < 0 {
		return d.items[i].index == i
	}
	return d.items[i].index-d.compactedAt == i-d.start
}
