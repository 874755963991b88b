package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/place"
)

// The history, indexed and repaired: each message with its fact, and each call with its name.

// indexAndRepair is passes 1 and 2 of the list at Manager.draft.
func (d *draft) indexAndRepair() {
	facts := d.ledger.index.update(d.history, d.opts.Estimator)
	if own := d.repairHistory(facts); own == nil {
		d.view = newView(d.section.messages, d.section.facts)
	} else {
		d.viewRepaired(own)
	}
	for k, i := range d.view.index {
		d.view.index[k] = d.section.inHistory(i)
	}
	d.findStart()
	d.findUnseen()
}

// viewRepaired makes the view of what the repair made, whose messages have the facts own.
func (d *draft) viewRepaired(own []*fact) {
	r := d.repair
	for _, e := range r.edits {
		e.Index = d.section.inHistory(e.Index)
		d.edits = append(d.edits, e)
	}
	d.view = newView(r.out, own)
	d.ids = slices.AppendSeq(r.pairs.NewIDs(), maps.Keys(r.given.Names))
	call := 0
	for k, i := range r.origin {
		if i < 0 { // a result that stands in belongs to its call
			i = int32(call)
		} else if r.out[k].Role != RoleTool {
			call = int(i)
		}
		d.view.index[k] = int(i)
	}
}

// repairHistory repairs the pairing of the history, whose messages have these facts. It returns the facts of the
// repaired messages, or nil if nothing had to be repaired.
func (d *draft) repairHistory(facts []*fact) (own []*fact) {
	x, e := &d.ledger.index, d.opts.Estimator
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
	if d.goesOn = r.goesOn; len(edits) == 0 {
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
		k := l.index.hasher.key(first)
		p := l.projections[k]
		isSent := sent[k] || p != nil && sent[p.key]
		k = l.index.hasher.key(later)
		if !isSent && !apart[k] {
			return false
		}
		d.apart = append(d.apart, k)
		return true
	}
}

// namesBehind returns the names of the calls that a request with a new checkpoint keeps: those of the messages of the
// view for which keep is true. `first` is the first one behind the summary.
func (d *draft) namesBehind(first int, keep []bool) *givenNames {
	r, v := d.repair, d.view
	if r == nil {
		return nil
	}
	from := v.index[first]
	isKept := make(map[int]bool, len(keep))
	for i, stays := range keep {
		isKept[v.index[i]] = stays || isKept[v.index[i]]
	}
	n := &givenNames{before: map[string][]string{}, behind: map[string][]string{}}
	n.firstKept = place.At(placesOf(d.ledger.index.facts), from, func(int) bool { return true })
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
