package winnow

import (
	"cmp"
	"encoding/base64"

	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
)

// A record stands for a run of old messages: answers of the model, its calls and their results, and texts that the
// host inserted. Code writes it, and it is sent with the same bytes for as long as the prompt cache has them. Later
// records stand behind it, so that the cache is read.

// runRecord is a record and what it stands for. The record itself never changes; keys and fact are found out later
// where it comes from a snapshot.
type runRecord struct {
	first   position // of the run, in the repaired history
	count   int      // messages of the run
	last    key      // the last of them
	run     key      // of these messages together
	lean    int      // how often it was made leaner
	message Message  // that is sent in their place
	key     key      // of message
	keys    []key    // of the run; nil: not known yet
	fact    *fact    // of message; nil: not known yet
}

// The reasons of edits: of messages that are gone, and of the record in their place.
const (
	foldReason   = "an old step: a record stands for it"
	recordReason = "the record of old steps"
)

// newRecord returns the record with this text of a run.
func newRecord(h *hasher, first position, count int, last, run key, text string) *runRecord {
	r := &runRecord{first: first, count: count, last: last, run: run}
	r.message = Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: text}}}
	r.key = h.key(&r.message)
	return r
}

// size is about what r takes in a snapshot, in bytes.
func (r *runRecord) size() int {
	return savedEditBytes + base64.StdEncoding.EncodedLen(len(r.message.Parts[0].Text))
}

// standsAt reports whether the messages of v from i on are the run of r.
func (r *runRecord) standsAt(v *view, i int) bool {
	if i+r.count > len(v.facts) || v.facts[i+r.count-1].key != r.last {
		return false
	}
	facts := v.facts[i : i+r.count]
	if r.keys != nil {
		for k := range facts {
			if facts[k].key != r.keys[k] {
				return false
			}
		}
		return true
	}
	keys := keysIn(facts)
	if place.Of(keys) != r.run {
		return false
	}
	r.keys = keys
	return true
}

// maySend reports whether the run of r, which stands at i, may be left out still. What is newest is sent whole, and so
// is a pin, and what stays says so of: a history that was rewound ends elsewhere, and a host changes what it says of a
// message.
func (r *runRecord) maySend(v *view, i int, stays func(i int) bool) bool {
	if i+r.count == len(v.facts) {
		return false
	}
	for k := i; k < i+r.count; k++ {
		if v.messages[k].Pinned || stays(k) {
			return false
		}
	}
	return true
}

// mayFoldInjected reports whether m is a text of the host, which a record may stand for once a person has asked for
// something else. The host pins what must stay.
func mayFoldInjected(m *Message) bool {
	stays := m.Pinned || m.Summary || record.Is(joinedText(m))
	return m.Injected && holdsOnlyText(m) && !stays
}

// folds are the records of a draft.
type folds struct {
	toReplay []*runRecord       // that were sent; nil once they are replayed
	standing map[int]*runRecord // that the view has, by the position in unfolded of the first message of each run
	idle     []*runRecord       // that found no place in this history
	unfolded *view              // the view without records; nil: it has none
	origin   []int              // of each message of the view, its position in unfolded

	newRecords int            // that were not sent before
	writer     *record.Writer // of all of them: its memory is used again; nil: there was none
}

// compareRecords is an order of records that is the same in each process.
func compareRecords(a, b *runRecord) int {
	return cmp.Or(cmp.Compare(a.first.Index, b.first.Index), cmp.Compare(a.count, b.count),
		place.Compare(a.run, b.run), place.Compare(a.key, b.key))
}
