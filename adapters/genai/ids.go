package genai

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
)

// madePrefix begins the ids that are made for calls without one. They are never sent.
const madePrefix = "winnow_made_"

func isMade(id string) bool { return strings.HasPrefix(id, madePrefix) }

// madeIDs makes ids for calls without one, from the call itself. A call keeps its id as long as the number of equal
// calls before it is the same, even if the caller drops other messages from the front.
type madeIDs struct {
	seen  map[uint64]int // calls by their hash
	calls int            // expected number of calls
}

func (m *madeIDs) next(call *winnow.Part) string {
	h := uint64(fnvOffset)
	h = fnv(h, call.Name)
	h = fnv(h, call.Signature)
	h = fnv(h, call.Arguments)
	if m.seen == nil {
		m.seen = make(map[uint64]int, m.calls)
	}
	n := m.seen[h] + 1
	m.seen[h] = n
	id := make([]byte, 0, 64) // stays on the stack
	id = strconv.AppendUint(append(id, madePrefix...), h, 32)
	if n > 1 { // also if two calls have the same hash
		id = strconv.AppendInt(append(id, '_'), int64(n), 10)
	}
	return string(id)
}

// FNV-1a as in package hash/fnv, but without the allocations of its interface.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// fnv adds s and a terminator to the hash.
func fnv[T string | json.RawMessage](h uint64, s T) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return (h ^ 0xff) * fnvPrime
}
