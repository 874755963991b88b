package winnow

import (
	"maps"
	"slices"

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
