package genai

import (
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
)

// madePrefix begins the ids that are made for calls without one. They are never sent.
const madePrefix = "winnow_made_"

func isMade(id string) bool { return strings.HasPrefix(id, madePrefix) }

// madeIDs makes ids for calls without one, from the call itself. A call keeps its id as long as the number of equal
// calls before it is the same, even if the caller drops other messages from the front.
type madeIDs struct{ seen map[uint64]int } // calls by their hash

func (m *madeIDs) next(call *winnow.Part) string {
	h := fnv.New64a()
	for _, s := range []string{call.Name, call.Signature, string(call.Arguments)} {
		_, _ = io.WriteString(h, s+"\xff")
	}
	if m.seen == nil {
		m.seen = map[uint64]int{}
	}
	sum := h.Sum64()
	m.seen[sum]++
	id := madePrefix + strconv.FormatUint(sum, 32)
	if n := m.seen[sum]; n > 1 { // also if two calls have the same hash
		id += "_" + strconv.Itoa(n)
	}
	return id
}
