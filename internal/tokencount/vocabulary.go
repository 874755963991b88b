package tokencount

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"
)

// none is the rank of bytes that are not a token. It is higher than any.
const none = 1<<32 - 1

// A vocabulary is a set of tokens with their ranks.
type vocabulary struct {
	ranks   map[string]uint32
	longest int // bytes of the longest token
}

// mostTokens is how many tokens a vocabulary has, about.
const mostTokens = 200_000

// readVocabulary unpacks a vocabulary: each token in order of its rank, as a uvarint length and its bytes, gzipped.
func readVocabulary(packed string) *vocabulary {
	var data []byte
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err == nil {
		data, err = io.ReadAll(z)
	}
	if err != nil {
		panic("tokencount: a vocabulary: " + err.Error()) // it is part of the program, and the tests read it
	}
	v, text := &vocabulary{ranks: make(map[string]uint32, mostTokens)}, string(data)
	for at := 0; at < len(data); {
		n, size := binary.Uvarint(data[at:])
		at += size + int(n)
		v.ranks[text[at-int(n):at]] = uint32(len(v.ranks))
		v.longest = max(v.longest, int(n))
	}
	return v
}

// rank returns the rank of s, or none.
func (v *vocabulary) rank(s string) uint32 {
	if len(s) > v.longest {
		return none
	}
	if rank, ok := v.ranks[s]; ok {
		return rank
	}
	return none
}
