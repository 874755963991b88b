// Package sample tells whether a text is the one that was seen before, by a few of its bytes and by its address. This
// takes some nanoseconds, however long the text is.
package sample

import (
	"hash/maphash"
	"math/bits"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/mem"
)

// seed differs in each process, so that nobody can write two texts with one hash.
var seed = maphash.MakeSeed()

// Mix returns the hash h with x added. As in wyhash, that is one multiplication to 128 bits. The factor is the golden
// ratio. The constant that is added keeps a product of 0 from making the hash 0.
func Mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, 0x9e3779b97f4a7c15)
	return hi ^ lo + 0x632be59bd9b4e019
}

// Of returns a hash of all of s.
func Of(s string) uint64 { return maphash.String(seed, s) }

// Long is the length above which Add does not read all of a text. To hash 256 bytes takes about as long as to wait for
// one line of memory.
const Long = 256

// Add adds s to the hash h. Of a long text it reads the address, the length and a few bytes, unless readAll is set.
func Add(h uint64, s string, readAll bool) uint64 {
	if h = Mix(h, uint64(len(s))); len(s) == 0 {
		return h
	}
	if readAll || len(s) <= Long {
		return Mix(h, Of(s))
	}
	// The address identifies a string as long as somebody holds it. When its memory was freed and is used again, the
	// words from the beginning, the middle and the end tell the new text from the old one.
	h = Mix(h, uint64(mem.Address(s)))
	h = Mix(h, ascii.LoadWord(s, 0))
	h = Mix(h, ascii.LoadWord(s, len(s)/2-4))
	return Mix(h, ascii.LoadWord(s, len(s)-8))
}

// spreadWords is how many words of a text AddSpread reads. They find a redaction: the new text may have the address and
// the length of the old one, and the same beginning, middle and end.
const spreadWords = 64

// AddSpread adds words that are spread over s to the hash h.
func AddSpread(h uint64, s string) uint64 {
	if len(s) < 8 {
		return h
	}
	if len(s) <= 8*spreadWords { // all of it costs less
		return Mix(h, Of(s))
	}
	at := uint64(len(s)) * 0x9e3779b97f4a7c15
	for range spreadWords {
		at ^= at >> 29
		at *= 0xbf58476d1ce4e5b9
		offset, _ := bits.Mul64(at, uint64(len(s)-7))
		hi, lo := bits.Mul64(h^ascii.LoadWord(s, int(offset)), 0x9e3779b97f4a7c15)
		h = hi ^ lo + 1
	}
	return h
}

// Place returns a hash of the address and the length of s.
func Place(s string) uint64 {
	return bits.RotateLeft64(uint64(len(s)), 48) ^ uint64(mem.Address(s))
}
