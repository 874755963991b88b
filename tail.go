package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/sample"
)

// requestTail is what the short way has to know of the last request.
type requestTail struct {
	known    bool
	changes  int                 // index.changes at that time
	history  int                 // messages of the history that was passed in
	complete bool                // no call waited for its result at the end
	ids      map[uint32]struct{} // hashes of the call ids in use
	shared   sharedLists         // of the last request, where the next one may share them

	lines linesShown // by the newest messages

	recordEnds []key // the last messages of what records stand for, sorted
	listAddresses
	tailSums
}

// listAddresses say where the lists of the last request lie.
type listAddresses struct {
	isHistory bool    // the request was the history itself
	messages  uintptr // Request.Messages
	ofHost    bool    // messages lies in the host's memory
	kept      uintptr // Request.History
	keptLen   int     // length of Request.History
	keepsAll  bool    // Request.History was the history itself
}

// tailSums are the sums to which new messages are added.
type tailSums struct {
	answers        int  // of the model, in the request
	thinks         bool // the request holds thinking
	shown          int  // estimate of the messages without hidden parts
	bytes          int  // of the body
	uneditedTokens int  // estimate of the history that was passed in, as it is
	wholeTokens    int  // estimate of the request's messages without records and edits
	hasDigested    bool // the history holds what a digest stands in for
}

// sharedLists are the lists of a request. Requests share them: each is longer than the one before it, and what is
// written lies behind the end of all earlier ones.
//
// Without the lists the next request is made as a whole, in time that grows with the history. So they are held, at 192
// bytes a message, if the host holds the messages as well. If it reads its log anew for each request, they are not:
// they alone would keep the texts in memory, and they would save nothing, because such messages are compared one by one
// anyway.
type sharedLists struct {
	known    bool
	messages []Message
	history  []Message
	edits    []Edit
}

// share lets the next request share the lists of r, unless they are the host's. isReread says that the host reads its
// history anew for each request.
func (t *requestTail) share(r *Request, isReread bool) {
	if t.isHistory || t.ofHost || isReread {
		t.shared = sharedLists{}
		return
	}
	t.shared = sharedLists{known: true, messages: r.Messages, edits: r.Edits}
	if !t.keepsAll {
		t.shared.history = r.History
	}
}

// request returns a request with the lists of the last one, or nil if they are not held or isReread: the host has read
// its history anew since.
func (t *requestTail) request(isReread bool) *Request {
	if t.isHistory {
		return new(Request)
	}
	if !t.shared.known || isReread {
		return nil
	}
	return &Request{Messages: t.shared.messages, History: t.shared.history, Edits: t.shared.edits}
}

// isLast reports whether r has the lists of the last request.
func (t *requestTail) isLast(r *Request) bool {
	if mem.Base(r.Messages) != t.messages {
		return false
	}
	return t.keepsAll || len(r.History) == t.keptLen && mem.Base(r.History) == t.kept
}

// remember notes where the lists of r lie: the next call extends them only if it gets the same ones.
func (t *requestTail) remember(r *Request) {
	t.messages, t.kept, t.keptLen = mem.Base(r.Messages), mem.Base(r.History), len(r.History)
}

func (t *requestTail) addIDs(messages []Message) {
	for i := range messages {
		for p := range callsOf(&messages[i]) {
			t.addID(p.ID)
		}
	}
}

// hashOfID is enough to know an id by: a collision, one in a million calls of a long conversation, only sends a request
// the long way.
func hashOfID(id string) uint32 { return uint32(sample.Of(id)) }

// addID marks an id as used.
func (t *requestTail) addID(id string) {
	if t.ids == nil {
		t.ids = make(map[uint32]struct{})
	}
	t.ids[hashOfID(id)] = struct{}{}
}

// idsAreNew reports whether no call of messages has an id that is in use.
func (t *requestTail) idsAreNew(messages []Message) bool {
	for i := range messages {
		for p := range callsOf(&messages[i]) {
			if _, used := t.ids[hashOfID(p.ID)]; used {
				return false
			}
		}
	}
	return true
}

// endsRecord reports whether k is the last of the messages that a record stands for. A new message with such a key
// shows that a rewound history has come back to it.
func (t *requestTail) endsRecord(k key) bool {
	_, found := slices.BinarySearchFunc(t.recordEnds, k, place.Compare)
	return found
}

// endsOf returns the last key of what each of records stands for, sorted.
func endsOf(records []*runRecord) []key {
	if len(records) == 0 {
		return nil
	}
	ends := make([]key, len(records))
	for i, r := range records {
		ends[i] = r.last
	}
	slices.SortFunc(ends, place.Compare)
	return ends
}
