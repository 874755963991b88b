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
type Names map[string]bool

// Add adds the names in s.
func (n Names) Add(s string) { identifier.Cover(n, s) }

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
func (n Names) write(b io.StringWriter, s string, room int) {
	var search nameSearch
	chosen := n.choose(search.find(n, s), leastNameWorth, room)
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
func (n Names) choose(found []foundName, worth float64, room int) (chosen []foundName) {
	for _, f := range found {
		if f.worth < worth {
			break
		}
		if f.tokens > room || n[f.id] {
			continue
		}
		room -= f.tokens
		chosen = append(chosen, f)
		identifier.CoverID(n, f.id)
	}
	slices.SortFunc(chosen, func(a, b foundName) int { return a.order - b.order })
	return chosen
}

// nameSearch finds the names of texts. Its memory is used again for the next one.
type nameSearch struct {
	found []foundName    // in the order of their first mentions
	at    map[string]int // where each stands in found; not used while these are few
}

// Up to fewNames are compared one by one: most texts have no more, and need no map. A map with more than manyNames is
// not used again: to clear it takes longer than to make a small one.
const fewNames, manyNames = 8, 256

// place returns where a name stands in found, or -1.
func (s *nameSearch) place(id string) int {
	if len(s.found) > fewNames {
		if k, ok := s.at[id]; ok {
			return k
		}
		return -1
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
		if s.at == nil || len(s.at) > manyNames {
			s.at = make(map[string]int, 4*fewNames)
		}
		clear(s.at)
		for k := range s.found {
			s.at[s.found[k].id] = k
		}
	case len(s.found) > fewNames:
		s.at[id] = len(s.found) - 1
	}
}

// find returns the names of text that are not in known, the one worth most first. They are valid until the next call.
func (s *nameSearch) find(known Names, text string) []foundName {
	s.found = s.found[:0]
	identifier.Scan(text, func(id string, kind identifier.Kind) {
		if !known[id] {
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
func (n Names) Choose(texts []Source, room int) []string {
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
// it is in the others.
func (n Names) findAll(texts []Source) (found []foundName) {
	at := map[string]int{}
	var search nameSearch
	for _, t := range texts {
		for _, f := range search.find(n, t.Text) {
			f.worth *= f.crowd // once more: a record has no room for listings
			if t.IsOwn {
				f.worth *= ownWorth
			}
			k, ok := at[f.id]
			if !ok {
				f.order = len(found)
				at[f.id] = f.order
				found = append(found, f)
				continue
			}
			old := &found[k]
			old.worth = max(old.worth, f.worth) + min(old.worth, f.worth)/2
		}
	}
	return found
}
