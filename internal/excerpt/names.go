package excerpt

import (
	"cmp"
	"io"
	"slices"

	"github.com/winnowgo/winnow/internal/identifier"
)

// Names holds the identifiers that a request mentions somewhere.
type Names struct {
	known identifier.Known
	// Memory that the searches of texts use one after the other.
	search nameSearch
	all    []foundName
	order  []rankedName
	at     identifier.Set // its numbers are the indexes of all
}

// NewNames returns an empty set with room for that many names.
func NewNames(room int) *Names { return &Names{known: identifier.NewKnown(room)} }

// Add adds the names in s.
func (n *Names) Add(s string) { identifier.Cover(&n.known, s) }

// A name's worth is how often the model used names of its kind again after ten messages in the recorded sessions, for
// each mention in a result, divided by the name's tokens. A result that is full of names is a listing, and each of its
// names is used less often.
const (
	leastNameWorth = 0.0007 // with less, the tokens cost more than asking again now and then
	namePower      = 0.35   // n mentions count as n to this power
	listingNames   = 160    // a result with more names is a listing
)

var nameWorth = [identifier.Kinds]float64{
	identifier.Path:   0.027,
	identifier.URL:    0.015,
	identifier.Hash:   0.017,
	identifier.Number: 0.012,
	identifier.Error:  0.04,
	identifier.Symbol: 0.05,
	identifier.Name:   0.05,
}

// write appends those names of s that are new and worth the most, in their order, in at most room tokens. It adds them
// to the known names.
func (n *Names) write(b io.StringWriter, s string, room int) {
	found := n.all[:0]
	n.search.each(&n.known, s, leastNameWorth, func(f foundName, _ float64) { found = append(found, f) })
	n.all = found
	for k, id := range n.choose(found, room) {
		if k == 0 {
			b.WriteString(" Names in it:")
		}
		b.WriteString(" ")
		b.WriteString(id)
	}
}

// choose returns those of found that are new and worth the most, in their order, in at most room tokens. It adds them
// to the known names.
func (n *Names) choose(found []foundName, room int) (ids []string) {
	n.order = n.order[:0]
	for k := range found {
		n.order = append(n.order, rankedName{found[k].worth, int32(k)})
	}
	slices.SortFunc(n.order, func(a, b rankedName) int { // not the names themselves: they are five times as large
		if a.worth != b.worth {
			return cmp.Compare(b.worth, a.worth)
		}
		return byPlace(&found[a.index], &found[b.index])
	})
	chosen := n.order[:0]
	for _, r := range n.order {
		f := &found[r.index]
		if int(f.tokens) > room || n.known.Has(f.id) {
			continue
		}
		room -= int(f.tokens)
		chosen = append(chosen, r)
		identifier.CoverID(&n.known, f.id)
	}
	slices.SortFunc(chosen, func(a, b rankedName) int { return byPlace(&found[a.index], &found[b.index]) })
	ids = make([]string, 0, len(chosen))
	for _, r := range chosen {
		ids = append(ids, found[r.index].id)
	}
	return ids
}

// Source is a text in which names are looked for.
type Source struct {
	Text  string
	IsOwn bool // the model wrote it
}

// A record stands for many texts, so its names are chosen more strictly than those of one result.
const (
	// In the recorded sessions, names that the model wrote itself were used again 5 to 10 times as often as names that
	// it only read. But what it wrote often stands in the record anyway.
	ownWorth = 4
	// A name must be worth a quarter more than in a remainder. In the recorded sessions, half as much again costs 0.1 %
	// less in a window of 200 000 tokens and the same in one of 64 000, and loses .03 points of the names that are
	// needed. No more than in a remainder costs 0.1 % more and keeps .01 points more of them.
	leastChosenWorth = 1.25 * leastNameWorth
)

// Choose returns those names of texts that are new and worth the most, in their order, in at most room tokens. It adds
// them to the known names.
func (n *Names) Choose(texts []Source, room int) []string {
	found := slices.DeleteFunc(n.findAll(texts), func(f foundName) bool { return f.worth < leastChosenWorth })
	return n.choose(found, room)
}

// findAll returns the new names of texts. A name that several texts hold is worth what it is worth in the best of them,
// and half of what it is worth in each other. The list is valid until the next call.
func (n *Names) findAll(texts []Source) []foundName {
	all := n.all[:0]
	n.at.Clear()
	for i, t := range texts {
		n.search.each(&n.known, t.Text, 0, func(f foundName, crowd float64) {
			f.text, f.rank = int32(i), f.worth
			f.worth *= crowd // once more: a record has no room for listings
			if t.IsOwn {
				f.worth *= ownWorth
			}
			k := n.at.Add(f.id)
			if k == len(all) {
				all = append(all, f)
				return
			}
			old := &all[k]
			old.worth = max(old.worth, f.worth) + min(old.worth, f.worth)/2
		})
	}
	n.all = all
	return all
}
