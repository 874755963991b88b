package excerpt

import (
	"cmp"
	"math"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/tokencount"
)

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
func byPlace(a, b *foundName) int {
	switch {
	case a.text != b.text:
		return int(a.text - b.text)
	case a.rank != b.rank:
		return cmp.Compare(b.rank, a.rank)
	}
	return int(a.order - b.order)
}

// rankedName is a name in a list, with what it is worth.
type rankedName struct {
	worth float64
	index int32
}

// nameSearch finds the names of texts. It uses its memory again for the next text.
type nameSearch struct {
	ids  identifier.Set // in the order of their first mentions
	seen []seenName     // of each of ids
}

// seenName is what is known of a name that the text mentions.
type seenName struct {
	mentions int32 // in the text; 0: the name was known before
	kind     identifier.Kind
}

// manyNames is how many names a text may have for its memory to be used again. A set of more takes over 100 KB.
const manyNames = 4_096

// each calls f for the names of text that are not in known and are worth at least `least`, in the order of their first
// mentions. crowd is below 1 if the text is a listing.
func (s *nameSearch) each(known *identifier.Known, text string, least float64, f func(name foundName, crowd float64)) {
	s.scan(text)
	crowd := crowdOf(s.withoutKnown(known))
	for k, id := range s.ids.IDs() {
		s.seen[k].offer(id, k, crowd, least, f)
	}
}

// crowdOf returns the factor, at most 1, for the worth of each name in a text with this number of new names.
func crowdOf(fresh int) float64 { return min(1, listingNames/float64(max(1, fresh))) }

// scan finds the names in text.
func (s *nameSearch) scan(text string) {
	if s.ids.Len() > manyNames {
		s.ids, s.seen = identifier.Set{}, nil
	}
	s.ids.Clear()
	s.seen = s.seen[:0]
	identifier.Scan(text, s.mention)
}

// mention notes a mention of name id.
func (s *nameSearch) mention(id string, kind identifier.Kind) {
	if k := s.ids.Add(id); k < len(s.seen) {
		s.seen[k].mentions++
		return
	}
	s.seen = append(s.seen, seenName{1, kind})
}

// withoutKnown sets the mentions of the names that are in known to 0. It returns how many names are left.
func (s *nameSearch) withoutKnown(known *identifier.Known) (fresh int) {
	for k, id := range s.ids.IDs() {
		if known.Has(id) {
			s.seen[k].mentions = 0
		} else {
			fresh++
		}
	}
	return fresh
}

// offer calls f for the name id, the k-th of a text, if id is new and worth at least `least`.
func (n seenName) offer(id string, k int, crowd, least float64, f func(name foundName, crowd float64)) {
	if n.mentions == 0 {
		return
	}
	if worth, tokens := n.worth(id, crowd, least); worth >= least {
		f(foundName{id: id, worth: worth, tokens: int32(tokens), order: int32(k)}, crowd)
	}
}

// worth returns what the name id is worth and how many tokens it takes. If worth is below least, it may be too high,
// and tokens is 0.
func (n seenName) worth(id string, crowd, least float64) (worth float64, tokens int) {
	const fewestTokens = 2 // of a name and the space in front of it
	worth = nameWorth[n.kind] * math.Pow(float64(n.mentions), namePower) * crowd
	if worth/fewestTokens < least {
		return worth / fewestTokens, 0 // most names of a listing
	}
	tokens = tokencount.Cautious(id) + 1
	return worth / float64(tokens), tokens
}
