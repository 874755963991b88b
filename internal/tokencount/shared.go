package tokencount

import (
	_ "embed"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
)

// What the tables of all families share. It is read from data/ when the first table is asked for. The files hold
// statistics, and no text of anybody.
var (
	// letters.txt has, for each family, its name and 27 rows (a letter, or anything else) of 27 columns (the
	// next one), in any case: fiftieths of a token that this pair adds, '@' being none. A word whose pairs are
	// common is one token; where a rare pair stands it breaks.
	//go:embed data/letters.txt
	lettersFile string
	// pairs.txt lists, by script, pairs that make tokens: punctuation that is a token of o200k, and pairs of letters
	// that many tokens of o200k hold (in Cyrillic and Arabic 40, in Devanagari 12, in Thai 6). A pair that is not
	// listed usually is a token border; without the list a word in Ukrainian or in capitals costs what a Russian one
	// does.
	//go:embed data/pairs.txt
	pairsFile string
	// han.b64 is a bitmap from U+4E00 on: bit set, the character is one token of o200k.
	//go:embed data/han.b64
	hanFile string
	// constants.tsv has a row for each constant and a column for each family, in tokens: see pair.go. They and
	// letters.txt were fitted by iteratively reweighted least squares, that is to the median of the relative error, to
	// 2 150 texts (781 of 36 kinds, the others of code, data and 90 languages) and 16 600 pieces of them of 500 bytes,
	// each counted by the family's own tokenizer. "unknown" was fitted to the third most of the families.
	//go:embed data/constants.tsv
	constantsFile string
)

// knownPairs is a set of pairs of characters of one block of 128.
type knownPairs [128 * 128 / 64]uint64

func pairIndex(prev, cur uint32) uint32 { return prev&127<<7 | cur&127 }

// miss returns 1 if the pair is not in the set, 0 if it is.
func (k *knownPairs) miss(i uint32) int32 { return int32(^k[i>>6&255] >> (i & 63) & 1) }

// block is what is known about 16 characters.
type block struct {
	rare   uint16 // bit set: a Chinese character that is not a token
	script script
}

// sharedTables do not depend on the family.
type sharedTables struct {
	blocks [4096]block   // by code point / 16
	pairs  [8]knownPairs // by slot
}

// pairScripts have their pairs in data/pairs.txt, and in sharedTables.pairs in the slot behind their index here.
// Each is a block of 128 characters. Slot 0 is punctuation.
var pairScripts = []string{"cyr", "arabic", "deva", "thai"}

// pairsPunct is the slot of punctuation.
const pairsPunct = 0

// shared makes the tables when they are first asked for.
var shared = sync.OnceValue(func() *sharedTables {
	t := &sharedTables{}
	for _, r := range scriptRanges {
		s := slices.Index(scriptNames[:], r.name)
		for i := r.first >> 4; i < len(t.blocks); i++ { // as far as the next one
			t.blocks[i].script = script(s)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(pairsFile), "\n") {
		name, list, _ := strings.Cut(line, " ")
		slot := 1 + slices.Index(pairScripts, name)
		runes := []rune(list)
		for k := 0; k+1 < len(runes); k += 2 {
			at := pairIndex(uint32(runes[k]), uint32(runes[k+1]))
			t.pairs[slot][at>>6] |= 1 << (at & 63)
		}
	}
	common, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(hanFile, "\n", ""))
	if err != nil {
		panic("tokencount: data/han.b64: " + err.Error()) // the file is part of the program, and the tests read it
	}
	for i := range t.blocks {
		if t.blocks[i].script != scriptHan {
			continue
		}
		t.blocks[i].rare = 0xFFFF
		if at := 2 * (i - 0x4E00>>4); at >= 0 && at < len(common) {
			t.blocks[i].rare = ^(uint16(common[at]) | uint16(common[at+1])<<8)
		}
	}
	return t
})
