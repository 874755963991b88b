package recall

import (
	"encoding/binary"
	"strconv"
)

// A handle names a message to the model for as long as the message is in the history. It is a number, because models
// copy numbers of this length without error and write nothing else in their place. It is computed from the message, by
// what a provider is sent of it. So it is the same in every request, after a restart and after a fork, nothing has to
// be remembered for it, and a handle of another conversation is not known in this one. The exception is a call without
// an id of its own whose made name another call has later: it has its handle as long as its name is remembered. Eight
// digits are three tokens in most vocabularies, and eight in those that spell numbers out.

// Key identifies a message by what a provider is sent of it.
type Key = [16]byte

// Lengths of handles.
const (
	handleDigits     = 8  // of a message
	longHandleDigits = 11 // of a message whose short handle an earlier one has
	spanDigits       = 9  // of all that was left out before a message
)

// shortHandle is the handle of a message, unless an earlier one has the same.
func shortHandle(k Key) uint64 {
	const least = 10_000_000
	return least + binary.LittleEndian.Uint64(k[:8])%(9*least)
}

// longHandle is the handle of a message whose short handle is taken; it is three digits longer. Of a thousand messages,
// two have the same short handle with a chance of one in two hundred. That two have the same long one does not happen
// in practice.
func longHandle(k Key) uint64 {
	return shortHandle(k)*1_000 + uint64(binary.LittleEndian.Uint32(k[8:]))%1_000
}

// SpanHandle is the handle of all that was left out before the message with key k.
func SpanHandle(k Key) string {
	const least = 100_000_000
	return strconv.FormatUint(least+binary.LittleEndian.Uint64(k[8:])%(9*least), 10)
}

// Handles gives the messages of a history their handles.
type Handles struct {
	count int
	key   func(i int) Key
	first map[uint64]Key // by short handle, the first message that has it
}

// NewHandles returns the handles of count messages. key returns the key of message i.
func NewHandles(count int, key func(i int) Key) *Handles {
	h := &Handles{count, key, make(map[uint64]Key, count)}
	for i := range count {
		k := key(i)
		short := shortHandle(k)
		if _, taken := h.first[short]; !taken {
			h.first[short] = k
		}
	}
	return h
}

// Of returns the handle of message i.
func (h *Handles) Of(i int) string {
	k := h.key(i)
	n := shortHandle(k)
	if h.first[n] != k {
		n = longHandle(k)
	}
	return strconv.FormatUint(n, 10)
}

// Find returns the index of the first message that has this handle, or -1. isSpan says that the handle is for what was
// left out before the message.
func (h *Handles) Find(handle string) (index int, isSpan bool) {
	isSpan = len(handle) == spanDigits
	for i := range h.count {
		if isSpan && SpanHandle(h.key(i)) == handle || !isSpan && h.Of(i) == handle {
			return i, isSpan
		}
	}
	return -1, isSpan
}
