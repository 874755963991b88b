package saved

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/pairing"
	"github.com/winnowgo/winnow/internal/place"
)

// Names are the ids with which calls were sent, of those calls that stayed when a summary was made.
type Names struct {
	SummaryKeys
	FirstKept place.Bookmark `json:"firstKept"`        // the first message behind it, of the host's own
	Before    CallNames      `json:"before,omitempty"` // of calls that are kept before that message
	Behind    CallNames      `json:"behind,omitempty"` // of all from there on
}

// SummaryKeys identify a summary in a history.
type SummaryKeys struct {
	Key   place.Key `json:"summary"` // as it is sent
	Plain place.Key `json:"plain"`   // with its text alone
}

// mostNames is for how many summaries names are kept: a host may go back to an earlier one.
const mostNames = 4

// AddNames returns a new list with n as the newest names, in the place of others behind the same summary.
func AddNames(list []Names, n Names) []Names {
	list = slices.DeleteFunc(slices.Clone(list), func(old Names) bool { return old.Key == n.Key })
	return append(list[max(0, len(list)-mostNames+1):], n)
}

// CallNames are, by an id that calls of the history have, the names of those calls in their order.
type CallNames map[string][]string

// namedCalls has bytes, because ids may not be UTF-8.
type namedCalls struct {
	ID    []byte   `json:"id,omitempty"`
	Names [][]byte `json:"names"`
}

// MarshalJSON writes the same names with the same bytes.
func (n CallNames) MarshalJSON() ([]byte, error) {
	list := make([]namedCalls, 0, len(n))
	for id, names := range n {
		c := namedCalls{ID: []byte(id)}
		for _, name := range names {
			c.Names = append(c.Names, []byte(name))
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b namedCalls) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return json.Marshal(list)
}

// UnmarshalJSON returns an error for a name that no call is sent with.
func (n *CallNames) UnmarshalJSON(text []byte) error {
	var list []namedCalls
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*n = make(CallNames, len(list))
	for _, c := range list {
		id := string(c.ID)
		for _, name := range c.Names {
			if name := string(name); name == "" || name != id && !pairing.IsValidID(name) {
				return errors.New("a call has no name")
			}
			(*n)[id] = append((*n)[id], string(name))
		}
	}
	return nil
}
