package winnow

import (
	"cmp"
	"index/suffixarray"
	"math"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// idSource says where an identifier was mentioned.
type idSource uint8

const (
	fromUser idSource = iota
	fromAssistant
	fromThinking
	fromArguments
	fromResult
	fromHost     // injected and system messages
	fromPrevious // the summary so far
	idSources
)

// idNote is what is known of one identifier.
type idNote struct {
	id       string
	kind     identifier.Kind
	marked   bool             // a file that was changed
	messages [idSources]int32 // messages that mention it
	newest   [idSources]int32 // the newest of them, from 1
	focus    float32          // sum over the results that mention it: less where a result mentions many
}

// idTable collects the identifiers of a history.
type idTable struct {
	at    map[string]int
	notes []idNote
	now   int32 // messages so far
	fresh []int // identifiers that the current result mentions
}

// maxIDs bounds the table: what bulk output mentions once is then not added.
const maxIDs = 200_000

// next begins a message.
func (t *idTable) next() {
	if len(t.fresh) > 0 {
		share := float32(math.Pow(1+float64(len(t.fresh))/focusIDs, -focusPower))
		for _, i := range t.fresh {
			t.notes[i].focus += share
		}
		t.fresh = t.fresh[:0]
	}
	t.now++
}

func (t *idTable) scan(s string, from idSource) {
	if len(s) > 2*scanBytes {
		t.scan(s[len(s)-scanBytes:], from)
		s = s[:scanBytes]
	}
	identifier.Scan(s, func(id string, kind identifier.Kind) { t.add(id, kind, from) })
}

func (t *idTable) add(id string, kind identifier.Kind, from idSource) {
	i, ok := t.at[id]
	if !ok {
		if len(t.notes) >= maxIDs && from == fromResult {
			return
		}
		i = len(t.notes)
		t.at[id] = i
		t.notes = append(t.notes, idNote{id: id, kind: kind})
	}
	n := &t.notes[i]
	if n.newest[from] != t.now || n.messages[from] == 0 {
		n.messages[from]++
		n.newest[from] = t.now
		if from == fromResult {
			t.fresh = append(t.fresh, i)
		}
	}
}

// mark says that id is a file that was changed.
func (t *idTable) mark(id string) {
	if i, ok := t.at[id]; ok {
		t.notes[i].marked = true
	}
}

// What makes an identifier likely to be used again. The numbers were fitted by coordinate ascent on half of
// the recorded sessions, for the share that the assistant uses again and, at a third, for all that occur
// again; the other half of the sessions is 1.5 points below the first. See TestDigestKeepsIdentifiers.
const (
	freshAge    = 40   // messages after which a mention counts about half
	freshFloor  = 0.13 // what the oldest mention counts
	repeatPower = 0.85 // n mentions count as n to this power
	markedBonus = 6    // a file that was changed
	costPower   = 1.1  // worth is divided by the tokens to this power
	focusIDs    = 60   // a result that mentions so many others …
	focusPower  = 1.5  // … counts half to this power
)

// sourceWeight is what a mention counts by its source, kindWeight an identifier by its kind.
var (
	sourceWeight = [idSources]float64{fromUser: 0.8, fromAssistant: 1.2, fromThinking: 0.15, fromArguments: 1.75, fromResult: 1.2, fromHost: 0.2, fromPrevious: 1}
	kindWeight   = [identifier.Kinds]float64{identifier.Path: 1.1, identifier.URL: 0.8, identifier.Hash: 0.8, identifier.Number: 0.25, identifier.Error: 0.7, identifier.Symbol: 0.85, identifier.Name: 2}
)

// score ranks an identifier by how likely it is to be used again: mentions by people and the model count
// more than those in bulk output, and new ones more than old ones.
func (t *idTable) score(n *idNote) float64 {
	s := 0.0
	for from := range idSources {
		if n.messages[from] == 0 {
			continue
		}
		age := float64(t.now - n.newest[from])
		fresh := freshFloor + (1-freshFloor)*freshAge/(freshAge+age)
		mentions := float64(n.messages[from])
		if from == fromResult {
			mentions = float64(n.focus)
		}
		s += sourceWeight[from] * math.Pow(mentions, repeatPower) * fresh
	}
	if n.marked {
		s *= markedBonus
	}
	return s * kindWeight[n.kind]
}

// pick returns the identifiers that are most worth keeping in room tokens, by kind and by first mention,
// for lines that begin with kindLabels. What covered or said holds is in the summary already.
func (t *idTable) pick(room int, covered map[string]bool, said string) [identifier.Kinds][]string {
	units, chars := room*tokencount.UnitsPerToken, room*tokencount.CharsPerToken
	var begun [identifier.Kinds]bool
	chosen := make(map[string]rankedID)
	misses := 0
	written := searched{text: said}
	for _, r := range t.ranked() {
		n := &t.notes[r.index]
		if covered[n.id] {
			continue
		}
		if written.contains(n.id) { // within a longer word
			covered[n.id] = true
			continue
		}
		cost, length := r.units, r.chars
		if !begun[n.kind] {
			label := "\n- " + kindLabels[n.kind] + ": "
			cost, length = cost+tokencount.CautiousUnits(label), length+len(label)
		}
		if cost > units || length > chars {
			if misses++; misses > 32 {
				break
			}
			continue
		}
		units, chars = units-cost, chars-length
		begun[n.kind] = true
		identifier.Within(n.id, func(s string) {
			covered[s] = true
			if part, ok := chosen[s]; ok { // the end of a path that is now there as a whole
				units, chars = units+part.units, chars+part.chars
				delete(chosen, s)
			}
		})
		chosen[n.id] = r
	}
	var out [identifier.Kinds][]string
	for i := range t.notes {
		n := &t.notes[i]
		if _, ok := chosen[n.id]; ok {
			out[n.kind] = append(out[n.kind], n.id)
		}
	}
	return out
}

// searched is a text in which others are looked for. To read it for each of thousands would take the square of its
// length, so that from some reading on it gets an index, which costs about as much as reading it a hundred times.
type searched struct {
	text  string
	read  int // bytes
	index *suffixarray.Index
}

const searchedWithoutIndex = 8 << 20 // bytes

// contains says that s, which is not empty, stands in the text.
func (t *searched) contains(s string) bool {
	if t.index == nil && t.read < searchedWithoutIndex {
		t.read += len(t.text)
		return strings.Contains(t.text, s)
	}
	if t.index == nil {
		t.index = suffixarray.New([]byte(t.text))
	}
	return len(t.index.Lookup([]byte(s), 1)) > 0
}

// rankedID is an identifier with what it costs and what it is worth for that.
type rankedID struct {
	index, units, chars int
	worth               float64
}

// ranked returns all identifiers, the one that is worth most first.
func (t *idTable) ranked() []rankedID {
	list := make([]rankedID, len(t.notes))
	for i := range t.notes {
		n := &t.notes[i]
		r := rankedID{index: i, units: tokencount.CautiousUnits(n.id), chars: runes.Count(n.id) + 1}
		tokens := max(1, r.units/tokencount.UnitsPerToken, (r.chars+2)/tokencount.CharsPerToken)
		r.worth = t.score(n) / math.Pow(float64(tokens), costPower)
		list[i] = r
	}
	slices.SortStableFunc(list, func(a, b rankedID) int { return cmp.Compare(b.worth, a.worth) })
	return list
}
