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
	known identifier.Known
	// Memory that the searches of texts use one after the other.
	seen []seenName     // the names of one text, in the order of their first mentions
	at   map[string]int // their indexes
	all  []foundName
}

// foundName is a name in a text, with what it is worth.
type foundName struct {
	id     string
	worth  float64
	rank   float64 // the names of one text come in the order of their ranks, the greatest first
	text   int32
	order  int32 // of the first mention in the text
	tokens int32
}

// byPlace orders names by where they were found.
func byPlace(a, b foundName) int {
	return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(b.rank, a.rank), cmp.Compare(a.order, b.order))
}

// seenName is what is known of a name that a text mentions.
type seenName struct {
	id       string
	mentions int32
	kind     identifier.Kind
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

// manyNames is how many names a text may have for its memory to be used again. A set of more takes over 100 KB.
const manyNames = 4_096

// each calls f for the names of text that are not known and are worth at least `least`, in the order of their first
// mentions. crowd is below 1 if the text is a listing.
func (n *Names) each(text string, least float64, f func(name foundName, crowd float64)) {
	if n.at == nil || len(n.seen) > manyNames {
		n.at, n.seen = map[string]int{}, nil
	}
	clear(n.at)
	clear(n.seen) // the texts that they lie in are not held
	n.seen = n.seen[:0]
	identifier.Scan(text, func(id string, kind identifier.Kind) {
		k, ok := n.at[id]
		if !ok {
			k = len(n.seen)
			n.at[id], n.seen = k, append(n.seen, seenName{id: id, kind: kind})
		}
		n.seen[k].mentions++
	})
	fresh := 0
	for k := range n.seen {
		if n.known.Has(n.seen[k].id) {
			n.seen[k].mentions = 0
		} else {
			fresh++
		}
	}
	crowd := min(1, listingNames/float64(max(1, fresh)))
	for k, seen := range n.seen {
		const fewestTokens = 2 // of a name and the space in front of it
		worth := nameWorth[seen.kind] * math.Pow(float64(seen.mentions), namePower) * crowd
		if seen.mentions == 0 || worth/fewestTokens < least {
			continue // most names of a listing
		}
		tokens := tokencount.Cautious(seen.id) + 1
		if worth /= float64(tokens); worth >= least {
			f(foundName{id: seen.id, worth: worth, tokens: int32(tokens), order: int32(k)}, crowd)
		}
	}
}

// write appends those names of s that are new and worth the most, in their order, in at most room tokens. It adds them
// to the known names.
func (n *Names) write(b io.StringWriter, s string, room int) {
	found := n.all[:0]
	n.each(s, leastNameWorth, func(f foundName, _ float64) { found = append(found, f) })
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
	slices.SortFunc(found, func(a, b foundName) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), byPlace(a, b))
	})
	chosen := found[:0]
	for _, f := range found {
		if int(f.tokens) > room || n.known.Has(f.id) {
			continue
		}
		room -= int(f.tokens)
		chosen = append(chosen, f)
		identifier.CoverID(&n.known, f.id)
	}
	slices.SortFunc(chosen, byPlace)
	ids = make([]string, 0, len(chosen))
	for _, f := range chosen {
		ids = append(ids, f.id)
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
	at := map[string]int{} // the indexes of all
	for i, t := range texts {
		n.each(t.Text, 0, func(f foundName, crowd float64) {
			f.text, f.rank = int32(i), f.worth
			f.worth *= crowd // once more: a record has no room for listings
			if t.IsOwn {
				f.worth *= ownWorth
			}
			k, ok := at[f.id]
			if !ok {
				at[f.id], all = len(all), append(all, f)
				return
			}
			old := &all[k]
			old.worth = max(old.worth, f.worth) + min(old.worth, f.worth)/2
		})
	}
	n.all = all
	return all
}
