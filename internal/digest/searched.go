package digest

import (
	"index/suffixarray"
	"strings"
)

// searched is a text in which others are looked for. Reading it for each of thousands would take time quadratic in its
// length. So after some reading it gets an index, which costs about as much as reading it a hundred times.
type searched struct {
	text  string
	read  int // bytes
	index *suffixarray.Index
	// The pieces of four bytes that are in the text, by their hashes: a bit each. Most of what is looked for has a
	// piece that the text does not have, so the text need not be read.
	pieces []uint64
}

const (
	pieceBytes    = 4  // shorter pieces are in most texts, and longer ones do not fit into short names
	pieceHashBits = 18 // 32 KB, of which a text of 64 KB sets a quarter at most
)

func pieceHash(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) * 0x9e3779b1 >> (32 - pieceHashBits)
}

// mayContain reports whether all pieces of s are in the text, or may be.
func (t *searched) mayContain(s string) bool {
	if t.pieces == nil {
		t.pieces = make([]uint64, 1<<pieceHashBits/64)
		for i := range max(0, len(t.text)-pieceBytes+1) {
			h := pieceHash(t.text[i : i+pieceBytes])
			t.pieces[h/64] |= 1 << (h % 64)
		}
	}
	for i := range max(0, len(s)-pieceBytes+1) {
		if h := pieceHash(s[i : i+pieceBytes]); t.pieces[h/64]>>(h%64)&1 == 0 {
			return false
		}
	}
	return true
}

// contains reports whether s, which is not empty, stands in the text.
func (t *searched) contains(s string) bool {
	if !t.mayContain(s) {
		return false
	}
	if t.index == nil && t.read < searchedWithoutIndex {
		t.read += len(t.text)
		return strings.Contains(t.text, s)
	}
	if t.index == nil {
		t.index = suffixarray.New([]byte(t.text))
	}
	return len(t.index.Lookup([]byte(s), 1)) > 0
}

const searchedWithoutIndex = 8 << 20 // bytes
