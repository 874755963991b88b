package genai

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
)

// madePrefix begins the ids of calls that have none. They are never sent.
const madePrefix = "winnow_made_"

func isMade(id string) bool { return strings.HasPrefix(id, madePrefix) }

// madeIDs makes ids for calls without one. They are made of the call, so that it has the same one as long as
// as many of the same calls stand before it, whatever else the caller drops from the front.
type madeIDs struct {
	seen  map[uint64]int // calls by their hash
	calls int            // how many there will be
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
	id := make([]byte, 0, 64) // on the stack
	id = strconv.AppendUint(append(id, madePrefix...), h, 32)
	if n > 1 { // of two calls with one hash as well
		id = strconv.AppendInt(append(id, '_'), int64(n), 10)
	}
	return string(id)
}

// FNV-1a, of package hash/fnv, without the memory that its interface takes.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// fnv adds s and an end to the hash.
func fnv[T string | json.RawMessage](h uint64, s T) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return (h ^ 0xff) * fnvPrime
}
