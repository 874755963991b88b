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
	number [8]byte
	sum    [sha256.Size]byte
}

// Begin begins a new key.
func (h *Hasher) Begin() {
	if h.sha == nil {
		h.sha = sha256.New()
	}
	h.sha.Reset()
}

// Text adds s with its length in front, so that neighbours cannot run into each other.
func (h *Hasher) Text(s string) {
	h.Number(len(s))
	h.sha.Write(mem.Bytes(s))
}

// Bytes adds b as Text does.
func (h *Hasher) Bytes(b []byte) { h.Text(mem.String(b)) }

// Number adds n in eight bytes.
func (h *Hasher) Number(n int) {
	binary.LittleEndian.PutUint64(h.number[:], uint64(n))
	h.sha.Write(h.number[:])
}

// Key returns the key of what was added since Begin.
func (h *Hasher) Key() Key { return Key(h.sha.Sum(h.sum[:0])[:len(Key{})]) }
