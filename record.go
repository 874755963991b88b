package winnow

import (
	"cmp"
	"encoding/base64"

	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/record"
)

// A record stands for a run of old messages: answers of the model, its calls and their results, and texts that the host
// inserted. Code writes it, and no model. It is sent with the same bytes as long as the prompt cache has them. Later
// records stand behind it, so that the cache is read.

// runRecord is a record and what it stands for. The record itself never changes. If it comes from a snapshot, keys and
// fact are set later.
type runRecord struct {
	first   position // of the run, in the repaired history
	count   int      // messages of the run
	last    key      // the last of them
	run     key      // key of these messages together
	isBare  bool     // only its frame is left
	message Message  // that is sent in their place
	key     key      // of message
	keys    []key    // of the run; nil: not known yet
	fact    *fact    // of message; nil: not known yet
}

// The reasons in edits: for messages that are gone, and for the record in their place.
const (
	foldReason   = "an old step: a record stands for it"
	recordReason = "the record of old steps"
)

// recordsShare is the share of the room above which the older half of the records becomes bare. Hardly any recorded
// session reaches it. It is for conversations that go on for days.
const recordsShare = 0.3

// newRecord returns a record with text for the run of count messages that begins at first. last is the key of its last
// message, and run is the key of all of them together.
func newRecord(h *hasher, first position, count int, last, run key, text string) *runRecord {
	r := &runRecord{first: first, count: count, last: last, run: run}
	r.message = Message{Role: RoleUser, Injected: true, Parts: []Part{{Text: text}}}
	r.key = h.key(&r.message)
	return r
}

// size estimates how many bytes r takes in a snapshot.
func (r *runRecord) size() int {
	return savedEditBytes + base64.StdEncoding.EncodedLen(len(r.message.Parts[0].Text))
}

// standsFor reports whether items begin with the run of r.
func (r *runRecord) standsFor(items []*item) bool {
	if r.count > len(items) || items[r.count-1].fact.key != r.last {
		return false
	}
	items = items[:r.count]
	if r.keys != nil {
		for k, x := range items {
			if x.fact.key != r.keys[k] {
				return false
			}
		}
		return true
	}
	keys := keysOf(items)
	if place.Of(keys) != r.run {
		return false
	}
	r.keys = keys
	return true
}

// mayFoldInjected reports whether m is a text that the host inserted and that a record may stand for once the host lets
// it go. The host pins what must stay.
func mayFoldInjected(m *Message) bool {
	stays := m.Pinned || m.Summary || record.Is(joinedText(m))
	return m.Injected && holdsOnlyText(m) && !stays
}

// folds are the records of a draft that are not among its items.
type folds struct {
	toReplay []*runRecord // that were sent; nil once they are replayed
	idle     []*runRecord // that found no place in this history

	newRecords int // how many records were not sent before
}

// compareRecords orders records, in the same way in each process.
func compareRecords(a, b *runRecord) int {
	return cmp.Or(cmp.Compare(a.first.Index, b.first.Index), cmp.Compare(a.count, b.count),
		place.Compare(a.run, b.run), place.Compare(a.key, b.key))
}
