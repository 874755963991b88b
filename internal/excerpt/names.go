package excerpt

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Names holds the identifiers that a request mentions somewhere.
type Names struct {
	known identifier.Set
	// What the searches of texts use, one behind the other.
	search nameSearch
	all    []foundName
	at     identifier.Set // its numbers are the indexes of all
}

// NewNames returns no names, and has room for so many.
func NewNames(room int) *Names { return &Names{known: identifier.NewSet(room)} }

// Add adds the names in s.
func (n *Names) Add(s string) { identifier.Cover(&n.known, s) }

// A name is worth how often the model used names of its kind again after ten messages in the recorded sessions, counted
// for each mention in a result and divided by its tokens. A result that is full of names is a listing, and each of its
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

// foundName is a name in a text.
type foundName struct {
	id       string
	kind     identifier.Kind
	mentions int
	order    int // of the first mention
	tokens   int
	worth    float64
	crowd    float64 // below 1 in a listing
}

// write appends those names of s that are new and worth the most, in their order, in at most room tokens. They are
// known from then on.
func (n *Names) write(b io.StringWriter, s string, room int) {
	chosen := n.choose(n.search.find(&n.known, s), leastNameWorth, room)
	if len(chosen) == 0 {
		return
	}
	b.WriteString(" Names in it:")
	for _, f := range chosen {
		b.WriteString(" " + f.id)
	}
}

// choose returns those of found, which has the one worth most first, that are new and worth at least worth, in
// their order in the text and in at most room tokens. They are known from then on.
func (n *Names) choose(found []foundName, worth float64, room int) (chosen []foundName) {
	for _, f := range found {
		if f.worth < worth {
			break
		}
		if f.tokens > room || n.known.Has(f.id) {
			continue
		}
		room -= f.tokens
		chosen = append(chosen, f)
		identifier.CoverID(&n.known, f.id)
	}
	slices.SortFunc(chosen, func(a, b foundName) int { return a.order - b.order })
	return chosen
}

// nameSearch finds the names of texts. Its memory is used again for the next one.
type nameSearch struct {
	found []foundName    // in the order of their first mentions
	at    identifier.Set // its numbers are the indexes of found; not used while these are few
}

// Up to fewNames are compared one by one: most texts have no more. A set of more than manyNames is not used again: to
// clear it takes longer than to make a small one.
const fewNames, manyNames = 8, 256

// place returns where a name stands in found, or -1.
func (s *nameSearch) place(id string) int {
	if len(s.found) > fewNames {
		return s.at.Number(id)
	}
	return slices.IndexFunc(s.found, func(f foundName) bool { return f.id == id })
}

// mention notes a name.
func (s *nameSearch) mention(id string, kind identifier.Kind) {
	k := s.place(id)
	if k >= 0 {
		s.found[k].mentions++
		return
	}
	s.found = append(s.found, foundName{id: id, kind: kind, order: len(s.found), mentions: 1})
	switch {
	case len(s.found) == fewNames+1:
		if s.at.Len() > manyNames {
			s.at = identifier.Set{}
		}
		s.at.Clear()
		for k := range s.found {
			s.at.Add(s.found[k].id)
		}
	case len(s.found) > fewNames:
		s.at.Add(id)
	}
}

// find returns the names of text that are not in known, the one worth most first. They are valid until the next call.
func (s *nameSearch) find(known *identifier.Set, text string) []foundName {
	s.found = s.found[:0]
	identifier.Scan(text, func(id string, kind identifier.Kind) {
		if !known.Has(id) {
			s.mention(id, kind)
		}
	})
	found := s.found
	crowd := min(1, listingNames/float64(max(1, len(found))))
	for k := range found {
		f := &found[k]
		f.tokens, f.crowd = tokencount.Cautious(f.id)+1, crowd
		f.worth = nameWorth[f.kind] * math.Pow(float64(f.mentions), namePower) * crowd / float64(f.tokens)
	}
	slices.SortStableFunc(found, moreWorth)
	return found
}

// Source is a text in which names are looked for.
type Source struct {
	Text  string
	IsOwn bool // the model wrote it
}

// What is chosen for a record, which stands for many texts, is chosen more strictly than what stays of one.
const (
	// Names that the model wrote itself were used again 5 to 10 times as often as those that it only read, in the
	// recorded sessions; what it wrote often tells it anyway.
	ownWorth = 4
	// A name must be worth twice what it must be in a remainder.
	leastChosenWorth = 2 * leastNameWorth
)

// Choose returns those names of texts that are new and worth the most, in their order, in at most room tokens. They are
// known from then on.
func (n *Names) Choose(texts []Source, room int) []string {
	found := n.findAll(texts)
	slices.SortStableFunc(found, moreWorth)
	chosen := n.choose(found, leastChosenWorth, room)
	ids := make([]string, len(chosen))
	for k, f := range chosen {
		ids[k] = f.id
	}
	return ids
}

// moreWorth orders names, the one worth most first.
func moreWorth(a, b foundName) int { return cmp.Compare(b.worth, a.worth) }

// findAll finds the new names of texts. One that several hold is worth what it is in the best of them, and half of what
// it is in the others. They are valid until the next call.
func (n *Names) findAll(texts []Source) (found []foundName) {
	found = n.all[:0]
	n.at.Clear()
	for _, t := range texts {
		for _, f := range n.search.find(&n.known, t.Text) {
			f.worth *= f.crowd // once more: a record has no room for listings
			if t.IsOwn {
				f.worth *= ownWorth
			}
			k := n.at.Add(f.id)
			if k == len(found) {
				f.order = k
				found = append(found, f)
				continue
			}
			old := &found[k]
			old.worth = max(old.worth, f.worth) + min(old.worth, f.worth)/2
		}
	}
	n.all = found
	return found
}
