package place

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/winnowgo/winnow/internal/mem"
)

// Hasher computes a key from texts and numbers. One hasher computes many keys, so that its memory is used again.
type Hasher struct {
	sha    hash.Hash
	buffer []byte
	sum    [sha256.Size]byte
}

// Begin begins a new key.
func (h *Hasher) Begin() {
	if h.sha == nil {
		h.sha = sha256.New()
		h.buffer = make([]byte, 0, 1<<10)
	}
	h.sha.Reset()
}

// Text adds s with its length in front, so that neighbours cannot run into each other.
func (h *Hasher) Text(s string) {
	h.Number(len(s))
	if len(s) >= cap(h.buffer) { // too long to be copied first
		h.flush()
		h.sha.Write(mem.Bytes(s))
		return
	}
	for len(s) > 0 {
		n := min(len(s), cap(h.buffer)-len(h.buffer))
		h.buffer = append(h.buffer, s[:n]...)
		s = s[n:]
		if len(h.buffer) == cap(h.buffer) {
			h.flush()
		}
	}
}

// Bytes adds b as Text does.
func (h *Hasher) Bytes(b []byte) { h.Text(mem.String(b)) }

// Number adds n in eight bytes.
func (h *Hasher) Number(n int) {
	if cap(h.buffer)-len(h.buffer) < 8 {
		h.flush()
	}
	h.buffer = binary.LittleEndian.AppendUint64(h.buffer, uint64(n))
}

// flush writes the buffer to the hash. Short texts are collected there because each write takes time of its own.
func (h *Hasher) flush() {
	h.sha.Write(h.buffer)
	h.buffer = h.buffer[:0]
}

// Key returns the key of what was added since Begin.
func (h *Hasher) Key() Key {
	h.flush()
	return Key(h.sha.Sum(h.sum[:0])[:len(Key{})])
}
