package winnow

import (
	"maps"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/pairing"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/sections"
)

// Names of calls: the ids that they are sent with, where the history has ids that are used again, or empty. They follow
// from the order of the calls. A host that goes on with a summary has lost that order, and so has one that drops what
// the summary stands for. So the names of the calls behind it are remembered.

// givenNames are the names of the calls that were kept when a summary was made.
type givenNames struct {
	summaryKeys
	firstKept bookmark // the first message that the summary does not stand for, among the host's own messages

	// by the ids in the history, in their order: of calls that are kept before that message, and of all from there on
	before, behind map[string][]string
}

// summaryKeys identify a summary in a history.
type summaryKeys struct {
	key   key // as it is sent
	plain key // with its text alone: Compaction.Summary
}

// namesFor returns the names for the calls of history. facts are those of its messages, and `newest` is the key of the
// newest summary. A summary may stand in the history, or the history may have what the newest one stands for, or the
// end of that.
func namesFor(history []Message, facts []*fact, known []*givenNames, newest key) (g pairing.Given) {
	if len(known) == 0 {
		return g
	}
	for i, m := range slices.Backward(history) {
		if !m.Summary {
			continue
		}
		for _, n := range slices.Backward(known) {
			if n.isOf(facts[i].key) {
				return pairing.Given{Names: joinNames(n.before, n.behind)}
			}
		}
	}
	for _, n := range known {
		if n.key != newest {
			continue
		}
		if from := n.firstKept.Find(placesOf(facts)); from >= 0 {
			return pairing.Given{From: int32(from), Names: n.behind, Count: true}
		}
	}
	return g
}

// summaryKeys returns the keys of m, a summary in its frame.
func (h *hasher) summaryKeys(m *Message) summaryKeys {
	plain := strings.TrimPrefix(joinedText(m), sections.Begin)
	plain = plain[:max(0, strings.LastIndex(plain, sections.End))]
	return summaryKeys{h.key(m), h.key(&Message{Role: RoleUser, Parts: []Part{{Text: plain}}})}
}

// placesOf returns the messages with these facts.
func placesOf(facts []*fact) place.List {
	return place.List{Len: len(facts), Key: func(i int) key { return facts[i].key }}
}

// isOf reports whether k is the key of the summary, or of its text alone.
func (s *summaryKeys) isOf(k key) bool { return k == s.key || k == s.plain }

// joinNames returns the names of a with those of b behind them.
func joinNames(a, b map[string][]string) map[string][]string {
	if len(a) == 0 {
		return b
	}
	all := maps.Clone(a)
	for id, names := range b {
		all[id] = slices.Concat(all[id], names)
	}
	return all
}

// withNames returns list with n as the names behind the summary with these keys. It does not change list.
func withNames(list []*givenNames, n *givenNames, keys summaryKeys) []*givenNames {
	isSame := func(old *givenNames) bool { return old.key == keys.key }
	switch {
	case n == nil && !slices.ContainsFunc(list, isSame):
		return list
	case n == nil:
		n = &givenNames{} // behind an earlier summary with the same text, calls had names; here each has its id
	}
	n.summaryKeys = keys
	list = slices.DeleteFunc(slices.Clone(list), isSame)
	return append(list[max(0, len(list)-saved.MostNames+1):], n)
}
