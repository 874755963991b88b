package excerpt

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Names holds the identifiers that a request mentions somewhere. The zero value holds none.
type Names struct{ known identifier.Known }

// Add adds the names in s.
func (n *Names) Add(s string) { identifier.Cover(&n.known, s) }

// A name's worth is how often the model used names of its kind again after ten messages in the recorded sessions, for
// each mention in a result, divided by the name's tokens.
const (
	leastNameWorth = 0.0007 // with less, the tokens cost more than asking again now and then
	namePower      = 0.35   // n mentions count as n to this power
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

// Source is a text in which names are looked for.
type Source struct {
	Text  string
	IsOwn bool // the model wrote it
}

// Choose returns those names of texts, which a record stands for, that are new and worth the most, in their order, in
// at most room tokens. It adds them to the known names.
func (n *Names) Choose(texts []Source, room int) []string {
	return n.choose(texts, leastChosenWorth, room)
}

// foundName is a name in texts, with what it is worth.
type foundName struct {
	isOwn    bool // the model wrote it, too
	id       string
	worth    float64
	place    int32 // among the names that were found
	tokens   int32
	mentions int32 // in the text that is read
	kind     identifier.Kind
}

// choose is [Names.Choose] with the least worth of a name.
func (n *Names) choose(texts []Source, least float64, room int) (ids []string) {
	found := n.find(texts)
	worthy := found[:0]
	for _, f := range found {
		f.tokens = int32(tokencount.Cautious(f.id) + 1)
		if f.worth /= float64(f.tokens); f.worth >= least {
			worthy = append(worthy, f)
		}
	}
	byPlace := func(a, b foundName) int { return cmp.Compare(a.place, b.place) }
	slices.SortFunc(worthy, func(a, b foundName) int { return cmp.Or(cmp.Compare(b.worth, a.worth), byPlace(a, b)) })
	chosen := worthy[:0]
	for _, f := range worthy {
		if int(f.tokens) <= room && !n.known.Has(f.id) { // one that was chosen may have it in itself
			room -= int(f.tokens)
			chosen = append(chosen, f)
			identifier.CoverID(&n.known, f.id)
		}
	}
	slices.SortFunc(chosen, byPlace)
	for _, f := range chosen {
		if strings.Contains(f.id, " ") { // among others, nobody could tell where it begins
			f.id = `"` + f.id + `"`
		}
		ids = append(ids, f.id)
	}
	return ids
}

// find returns the names of texts that are not known, in the order of their first mentions. A name that several texts
// hold is worth what it is worth in the best of them, and half of what it is worth in each other.
func (n *Names) find(texts []Source) (found []foundName) {
	at := make(map[string]int, 16*len(texts)) // the indexes of found; -1: known
	for _, t := range texts {
		var mentioned []int // in t
		identifier.Scan(secret.Mask(t.Text), func(id string, kind identifier.Kind) {
			k, isSeen := at[id]
			if !isSeen {
				if k = len(found); n.known.Has(id) {
					k = -1
				} else {
					found = append(found, foundName{id: id, kind: kind, place: int32(k)})
				}
				at[id] = k
			}
			if k < 0 {
				return
			}
			found[k].isOwn = found[k].isOwn || t.IsOwn
			if found[k].mentions++; found[k].mentions == 1 {
				mentioned = append(mentioned, k)
			}
		})
		share := 1.0
		if t.IsOwn {
			share = ownWorth
		}
		for _, k := range mentioned {
			f := &found[k]
			worth := nameWorth[f.kind] * math.Pow(float64(f.mentions), namePower) * share
			f.worth, f.mentions = max(f.worth, worth)+min(f.worth, worth)/2, 0
		}
	}
	return slices.DeleteFunc(found, func(f foundName) bool {
		return !f.isOwn && f.kind == identifier.Number && saysLittle(f.id, at)
	})
}

// saysLittle reports whether nobody asks for a number that the model did not write: it is no whole number, but a time,
// a size or an address; or the next one or the one before is there too, as with the numbers of lines.
func saysLittle(number string, at map[string]int) bool {
	n, err := strconv.Atoi(number)
	_, hasNext := at[strconv.Itoa(n+1)]
	_, hasLast := at[strconv.Itoa(n-1)]
	return err != nil || hasNext || hasLast
}
