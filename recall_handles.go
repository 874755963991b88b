package winnow

import (
	"encoding/binary"
	"strconv"
)

// A handle names a message to the model, for as long as the message is in the history. It is a number, because models
// copy numbers of this length without error and write nothing else in their place. It is made of the message itself, by
// what a provider is sent of it: so it is the same in every request, after a restart and after a fork, nothing has to
// be remembered for it, and that of another conversation is not known in this one. Eight digits are three tokens of
// most vocabularies, and eight of those that spell numbers out.

// shortHandle is the handle of a message, unless an earlier one has the same.
func shortHandle(k key) uint64 {
	const least = 10_000_000
	return least + binary.LittleEndian.Uint64(k[:8])%(9*least)
}

// longHandle is three digits longer. Of a thousand messages, with one chance in two hundred some two have the same
// short one; that they have the same long one does not happen.
func longHandle(k key) uint64 {
	return shortHandle(k)*1_000 + uint64(binary.LittleEndian.Uint32(k[8:]))%1_000
}

// spanHandle is the handle of what was left out before a message.
func spanHandle(k key) string {
	const least = 100_000_000
	return strconv.FormatUint(least+binary.LittleEndian.Uint64(k[8:])%(9*least), 10)
}

// handles gives the messages of a history their handles.
type handles struct {
	facts []*fact
	first map[uint64]key // by short handle, the first message that has it
}

func handlesOf(facts []*fact) *handles {
	h := &handles{facts: facts, first: make(map[uint64]key, len(facts))}
	for _, f := range facts {
		n := shortHandle(f.key)
		if _, taken := h.first[n]; !taken {
			h.first[n] = f.key
		}
	}
	return h
}

// of returns the handle of message i.
func (h *handles) of(i int) string {
	k := h.facts[i].key
	n := shortHandle(k)
	if h.first[n] != k {
		n = longHandle(k)
	}
	return strconv.FormatUint(n, 10)
}

// findHandle returns the first message that has a handle, or -1. A short one is that of the first message that has it.
func findHandle(facts []*fact, handle string) int {
	n, err := strconv.ParseUint(handle, 10, 64)
	if err != nil {
		return -1
	}
	number := shortHandle
	if len(handle) == longHandleDigits {
		number = longHandle
	}
	for i, f := range facts {
		if number(f.key) == n {
			return i
		}
	}
	return -1
}

// findSpan returns the first message that has a handle for what was left out before it, or -1.
func findSpan(facts []*fact, handle string) int {
	for i, f := range facts {
		if spanHandle(f.key) == handle {
			return i
		}
	}
	return -1
}
