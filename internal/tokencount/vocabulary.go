package tokencount

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/winnowgo/winnow/internal/runes"
)

// none is the rank of bytes that are not a token. It is higher than any.
const none = 1<<32 - 1

// A vocabulary is a set of tokens with their ranks. Looking a string up in it is most of what counting costs, so it has
// a table of its own, which is three times as fast as a map and needs a third of its memory: two bytes are an index, up
// to eight are compared as a number, and only longer ones are compared with the text of the token.
type vocabulary struct {
	pairs   *[1 << 16]uint32 // rank of each two bytes
	keys    []uint64         // open addressing: up to 8 bytes as a number, or the hash of more
	ranks   []uint32         // for each key: rank<<lengthBits | length in bytes; 0 where there is no token
	shift   uint             // of a hash, to an index of keys
	text    string           // all tokens in the order of their ranks
	starts  []uint32         // where each begins in text, and the end
	longest int              // bytes of the longest token
}

// lengthBits are enough for the longest token, of 128 bytes.
const lengthBits = 8

// readVocabulary unpacks a vocabulary: each token in order of its rank, as a uvarint length and its bytes, gzipped.
func readVocabulary(packed string) (*vocabulary, error) {
	z, err := gzip.NewReader(bytes.NewReader([]byte(packed)))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, len(data))
	starts := []uint32{0}
	v := &vocabulary{pairs: new([1 << 16]uint32)}
	for at := 0; at < len(data); {
		n, size := binary.Uvarint(data[at:min(len(data), at+binary.MaxVarintLen64)])
		if size <= 0 || n == 0 || n >= 1<<lengthBits || n > uint64(len(data)-at-size) {
			return nil, errors.New("bpe: damaged vocabulary")
		}
		at += size
		text = append(text, data[at:at+int(n)]...)
		starts = append(starts, uint32(len(text)))
		v.longest = max(v.longest, int(n))
		at += int(n)
	}
	v.text, v.starts = string(text), append(make([]uint32, 0, len(starts)), starts...)
	v.index()
	return v, nil
}

// index fills the tables.
func (v *vocabulary) index() {
	for i := range v.pairs {
		v.pairs[i] = none
	}
	size := bits.Len(uint(2 * (len(v.starts) - 1))) // at most half full
	v.keys, v.ranks, v.shift = make([]uint64, 1<<size), make([]uint32, 1<<size), uint(64-size)
	for rank := range len(v.starts) - 1 {
		token := v.text[v.starts[rank]:v.starts[rank+1]]
		if len(token) == 2 {
			v.pairs[pairOf(token, 0)] = uint32(rank)
		}
		key, hash := keyOf(token)
		at := hash >> v.shift
		for v.ranks[at] != 0 {
			at = (at + 1) & uint64(len(v.keys)-1)
		}
		v.keys[at], v.ranks[at] = key, uint32(rank)<<lengthBits|uint32(len(token))
	}
}

// rank returns the rank of s, which is not empty, or none.
func (v *vocabulary) rank(s string) uint32 {
	if len(s) > v.longest {
		return none
	}
	key, hash := keyOf(s)
	for at := hash >> v.shift; ; at = (at + 1) & uint64(len(v.keys)-1) {
		found := v.ranks[at]
		if found == 0 {
			return none
		}
		if v.keys[at] != key || int(found&(1<<lengthBits-1)) != len(s) {
			continue
		}
		rank := found >> lengthBits
		if len(s) <= 8 || v.text[v.starts[rank]:v.starts[rank+1]] == s {
			return rank
		}
	}
}

// pairOf returns the index in vocabulary.pairs of the two bytes at s[i].
func pairOf(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }

// keyOf returns what of s stands in the table, and its hash. Strings of the same length up to 8 have the same key only
// if they are equal.
func keyOf(s string) (key, hash uint64) {
	const odd = 0x9E3779B97F4A7C15 // 2^64 / the golden ratio
	switch n := len(s); {
	case n >= 8:
		key = runes.LoadWord(s, n-8)
		for ; len(s) > 8; s = s[8:] {
			high, low := bits.Mul64(key^odd, runes.LoadWord(s, 0)^0xD6E8FEB86659FD93)
			key = high ^ low
		}
	case n >= 4:
		key = uint64(loadHalf(s, 0)) | uint64(loadHalf(s, n-4))<<32
	default:
		key = uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
	}
	high, low := bits.Mul64(key^uint64(len(s)), odd)
	return key, high ^ low
}
