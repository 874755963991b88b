// Package sample tells whether a text is the one that was seen before, by its address and its length. This takes some
// nanoseconds, however long the text is.
package sample

import (
	"hash/maphash"
	"math/bits"

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

// Add adds s to the hash h. Of a long text it takes only the address and the length, unless readAll is set.
func Add(h uint64, s string, readAll bool) uint64 {
	if h = Mix(h, uint64(len(s))); len(s) == 0 {
		return h
	}
	if readAll || len(s) <= Long {
		return Mix(h, Of(s))
	}
	return Mix(h, uint64(mem.Address(s))) // it identifies a string as long as somebody holds it
}

// Place returns a hash of the address and the length of s.
func Place(s string) uint64 {
	return bits.RotateLeft64(uint64(len(s)), 48) ^ uint64(mem.Address(s))
}
