package digest

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Source says where an identifier was mentioned.
type Source uint8

const (
	FromUser Source = iota
	FromAssistant
	FromThinking
	FromArguments
	FromResult
	FromHost     // injected and system messages
	FromPrevious // the summary so far
	sources
)

// note is what is known of one identifier.
type note struct {
	id       string
	kind     identifier.Kind
	messages [sources]int32 // messages that mention it
	newest   [sources]int32 // the newest of them, from 1
}

// scanBytes bounds what is read of one text. Identifiers that are used again stand near the ends of a large result; its
// middle is data.
const scanBytes = 16 << 10

// shortReport is how many bytes the result of a call has that made something, and does not list what there is.
const shortReport = 1_500

// Table collects the identifiers of a history.
type Table struct {
	at    map[string]int // the indexes of notes
	notes []note
	now   int32      // messages so far
	ranks []rankedID // see ranked; nil: not known
}

// maxIDs bounds the table: what bulk output mentions once is then not added.
const maxIDs = 200_000

func NewTable() *Table { return &Table{at: map[string]int{}} }

// Next begins a message.
func (t *Table) Next() {
	t.ranks = nil
	t.now++
}

// Scan takes in the identifiers of a text of the current message.
func (t *Table) Scan(s string, from Source) {
	if len(s) > 2*scanBytes {
		t.Scan(s[len(s)-scanBytes:], from)
		s = s[:scanBytes]
	}
	isReport := from == FromResult && len(s) <= shortReport
	identifier.Scan(secret.Mask(s), func(id string, kind identifier.Kind) {
		if isReport && (kind == identifier.URL || kind == identifier.Hash) {
			t.add(id, kind, FromArguments) // what was made: a commit, a request to merge, an order
		} else {
			t.add(id, kind, from)
		}
	})
}

func (t *Table) add(id string, kind identifier.Kind, from Source) {
	i, ok := t.at[id]
	if !ok {
		if len(t.notes) >= maxIDs && from == FromResult {
			return
		}
		i = len(t.notes)
		t.at[id] = i
		t.notes = append(t.notes, note{id: id, kind: kind})
	}
	t.ranks = nil
	n := &t.notes[i]
	if n.newest[from] != t.now || n.messages[from] == 0 {
		n.messages[from]++
		n.newest[from] = t.now
	}
}

// What makes an identifier likely to be used again. The numbers were fitted by coordinate ascent on half of
// the recorded sessions, for the share that the assistant uses again and, at a third, for all that occur
// again; the other half of the sessions is 1.5 points below the first. The weight of a result was set later,
// for the first share alone and on all sessions of TestDigestKeepsIdentifiers.
const (
	freshAge    = 40   // messages after which a mention counts about half
	freshFloor  = 0.13 // what the oldest mention counts
	repeatPower = 0.85 // n mentions count as n to this power
	costPower   = 1.1  // worth is divided by the tokens to this power
)

// sourceWeight is what a mention counts by its source, kindWeight an identifier by its kind.
var (
	sourceWeight = [sources]float64{FromUser: 0.8, FromAssistant: 1.2, FromThinking: 0.15, FromArguments: 1.75,
		FromResult: 0.25, FromHost: 0.2, FromPrevious: 1}
	kindWeight = [identifier.Kinds]float64{identifier.Path: 1.1, identifier.URL: 0.8, identifier.Hash: 0.8,
		identifier.Number: 0.25, identifier.Error: 0.7, identifier.Symbol: 0.85, identifier.Name: 2}
)

// score ranks an identifier by how likely it is to be used again: mentions by people and the model count
// more than those in bulk output, and new ones more than old ones.
func (t *Table) score(n *note) float64 {
	s := 0.0
	for from := range sources {
		if n.messages[from] == 0 {
			continue
		}
		age := float64(t.now - n.newest[from])
		fresh := freshFloor + (1-freshFloor)*freshAge/(freshAge+age)
		s += sourceWeight[from] * math.Pow(float64(n.messages[from]), repeatPower) * fresh
	}
	return s * kindWeight[n.kind]
}

// rankedID is an identifier with what it costs and what it is worth for that.
type rankedID struct {
	index, units, chars int
	worth               float64
}

// ranked returns all identifiers, the most worth first and at the same worth by the first mention. The table remembers
// them, because a summary asks for them several times.
func (t *Table) ranked() []rankedID {
	if t.ranks != nil {
		return t.ranks
	}
	t.ranks = make([]rankedID, len(t.notes))
	for i := range t.notes {
		n := &t.notes[i]
		r := rankedID{index: i, units: tokencount.CautiousUnits(n.id), chars: utf8.RuneCountInString(n.id) + 1}
		tokens := max(1, r.units/tokencount.UnitsPerToken, (r.chars+2)/tokencount.CharsPerToken)
		r.worth = t.score(n) / math.Pow(float64(tokens), costPower)
		t.ranks[i] = r
	}
	slices.SortFunc(t.ranks, func(a, b rankedID) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.index, b.index))
	})
	return t.ranks
}

// Pick returns the identifiers that are most worth keeping in room tokens, by kind and by first mention,
// for lines that begin with Labels. What covered holds is in the summary already.
func (t *Table) Pick(room int, covered *identifier.Known) [identifier.Kinds][]string {
	units, chars := room*tokencount.UnitsPerToken, room*tokencount.CharsPerToken
	var begun [identifier.Kinds]bool
	var chosen []int
	for _, r := range t.ranked() {
		n := &t.notes[r.index]
		if covered.Has(n.id) {
			continue
		}
		cost, length := r.units, r.chars
		if !begun[n.kind] {
			label := "\n- " + Labels[n.kind] + ": "
			cost, length = cost+tokencount.CautiousUnits(label), length+len(label)
		}
		if cost > units || length > chars {
			continue
		}
		units, chars = units-cost, chars-length
		begun[n.kind] = true
		identifier.CoverID(covered, n.id)
		chosen = append(chosen, r.index)
	}
	slices.Sort(chosen)
	var out [identifier.Kinds][]string
	for _, i := range chosen {
		n := &t.notes[i]
		out[n.kind] = append(out[n.kind], n.id)
	}
	return out
}

// Recall adds identifiers that an earlier summary listed, as older than all messages.
func (t *Table) Recall(ids []string) {
	now := t.now
	t.now = 0
	for _, id := range ids {
		t.Scan(id, FromPrevious)
	}
	t.now = now
}
