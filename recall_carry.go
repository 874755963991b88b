package winnow

import (
	"encoding/json"

	"github.com/winnowgo/winnow/internal/recall"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// To recall a message by its handle is like making its call again. The answer has the subject of the original, and both
// stay whole longer from then on.

// recalledBy returns the handle that call asks for if it is of the recall tool, or "".
func recalledBy(call *Part) string {
	if call.Name != recall.Name {
		return ""
	}
	return recall.ReadCall(call.Arguments).Handle
}

// recalls finds the subjects of the calls of the recall tool in a view.
type recalls struct {
	draft   *draft
	read    int                 // how many messages of the view handles covers
	handles map[string]int      // position in the view of each result, by its handle
	absent  map[string]*subject // subjects of messages that are not in the view, by handle
}

// subject returns the subject of the message that handle names. The result at position end of the view shows that
// message; subjects has the subjects of the results before end.
func (r *recalls) subject(subjects []*subject, end int, handle string) *subject {
	v := r.draft.view
	if r.handles == nil {
		r.handles, r.absent = map[string]int{}, map[string]*subject{}
		if r.draft.handles == nil {
			r.draft.handles = handlesOf(r.draft.facts)
		}
	}
	for ; r.read < end; r.read++ {
		if subjects[r.read] != nil && v.index[r.read] >= 0 && !r.draft.isRecalled(r.read) {
			r.handles[r.draft.handles.Of(v.index[r.read])] = r.read
		}
	}
	if i, ok := r.handles[handle]; ok {
		return subjects[i]
	}
	c := r.absent[handle]
	if c == nil {
		quoted, _ := json.Marshal(handle) // a string always has a JSON form
		c = &subject{call: toolcall.Hash(recall.Name, quoted)}
		r.absent[handle] = c
	}
	return c
}
