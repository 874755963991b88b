package tokencount

import (
	"math"
	"slices"
)

// A Table has what the texts of one family of tokenizers cost. It is made from the constants of the family and never
// written to afterwards.
type Table struct {
	// pair[previous | current<<8] is what an ASCII byte costs behind another. Where previous has 0x80, the byte before
	// equals the one before that, so that the third equal byte in a row can have a cost of its own.
	pair    [1 << 15]int32
	scripts [64]scriptCost // by script; there are 64, so that an index needs no check
	rareHan int32          // more for a Chinese character that is not a token
	shared  *sharedTables
}

// Scale is the fixed point of all costs: a cost of 1 is 1/2 048 of a token, which is exact enough for any constant and
// small enough for 16 bits.
const Scale = 2048

func fixed(tokens float64) int32 { return int32(math.Round(tokens * Scale)) }

// Tokens returns the tokens of s, rounded up. It reads s once, takes any bytes, and allocates nothing.
func (t *Table) Tokens(s string) int { return Tokens(t.text(s)) }

// Tokens rounds a cost, in 1/Scale of a token, up to whole tokens.
func Tokens(cost int64) int {
	return int(min((max(cost, 0)+Scale-1)/Scale, math.MaxInt))
}

// scriptCost is what a character of a script costs.
type scriptCost struct {
	each     int32    // every character
	first    [2]int32 // more for the first in a row: behind anything, and behind an ASCII letter
	repeated int32    // more for a character that equals the one before
	rarePair int32    // more for a character that rarely follows the one before
	pairs    uint8    // slot of sharedTables.pairs; 0 if the script has no pairs
}

// newTable works out what each pair of bytes and each script costs.
func newTable(m constants) *Table {
	t := &Table{shared: shared(), rareHan: fixed(m.of["cjkRare"])}
	for p := range byte(128) {
		for c := range byte(128) {
			cost := fixed(pairCost(m, t.shared, p, c))
			t.pair[int(p)|int(c)<<8] = cost
			if name := thirdName(c); p == c && name != "" {
				cost = fixed(m.of[name])
			}
			t.pair[int(p)|0x80|int(c)<<8] = cost
		}
	}
	for s, name := range scriptNames {
		first := fixed(m.of["r_"+name])
		t.scripts[s] = scriptCost{
			each:     fixed(m.of["s_"+name]),
			first:    [2]int32{first, first},
			repeated: fixed(m.of["q_"+name]),
			rarePair: fixed(m.of["x_"+name]),
			pairs:    uint8(1 + slices.Index(pairScripts, name)),
		}
		if script(s).isLatin() {
			t.scripts[s].first[1] = fixed(m.of["latIn"])
		}
	}
	return t
}
