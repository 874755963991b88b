package winnow

import (
	"math"
	"strconv"
	"strings"
	"sync"
)

// constants are the numbers of one family by the names of data/constants.tsv.
type constants map[string]float64

// columns of data/constants.tsv, by family.
var columns = sync.OnceValue(func() map[string]constants {
	lines := strings.Split(strings.TrimSpace(constantsFile), "\n")
	heads := strings.Split(lines[0], "\t")[1:]
	all := make(map[string]constants, len(heads))
	for _, h := range heads {
		all[h] = make(constants, len(lines))
	}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		for i, h := range heads {
			v, err := strconv.ParseFloat(cells[i+1], 64)
			if err != nil {
				panic("winnow: data/constants.tsv: " + err.Error()) // part of the program and read by the tests
			}
			all[h][cells[0]] = v
		}
	}
	return all
})

// costs are the tables of one family, made from its constants. Read-only once made.
type costs struct {
	// pair[previous | current<<8] is what an ASCII byte costs behind another; with 0x80 in previous that
	// one was the same as the one before it, so an equal third one can have a cost of its own.
	pair    [1 << 15]int32
	scripts [64]scriptCost // by script; 64, so that an index needs no check
	rareHan int32
	perByte int32 // no byte costs more
	shared  *sharedTables
}

// scriptCost is what a character of a script costs.
type scriptCost struct {
	each     int32    // every character
	first    [2]int32 // more for the first in a row; behind an ASCII letter
	repeated int32    // more for one that equals the one before
	rarePair int32    // more for one that rarely follows the one before
	pairs    uint8    // slot of sharedTables.pairs, 0: none
	_        [2]int32 // 32 bytes: an index by shift
}

// After characters beyond ASCII these two control characters stand in as the previous byte.
const (
	afterLatin = 1
	afterOther = 2
)

func newCosts(m constants) *costs {
	t := &costs{shared: shared(), rareHan: fixed(m["cjkRare"])}
	for p := range byte(128) {
		for c := range byte(128) {
			cost := fixed(pairCost(m, t.shared, p, c))
			t.pair[int(p)|int(c)<<8] = cost
			if name := thirdName(c); p == c && name != "" {
				cost = fixed(m[name])
			}
			t.pair[int(p)|0x80|int(c)<<8] = cost
		}
	}
	for s := range scriptCount {
		n := scriptNames[s]
		first := fixed(m["r_"+n])
		t.scripts[s] = scriptCost{each: fixed(m["s_"+n]), first: [2]int32{first, first}, repeated: fixed(m["q_"+n]), rarePair: fixed(m["x_"+n])}
		if s.isLatin() {
			t.scripts[s].first[1] = fixed(m["latIn"])
		}
	}
	t.scripts[scriptCyrillic].pairs = pairsCyrillic
	t.scripts[scriptArabic].pairs = pairsArabic
	t.scripts[scriptDevanagari].pairs = pairsDevanagari
	t.perByte = t.mostPerByte()
	return t
}

// mostPerByte returns what one byte costs at most.
func (t *costs) mostPerByte() int32 {
	most := int32(1)
	for _, c := range t.pair {
		most = max(most, c)
	}
	for s := range scriptCount {
		c := t.scripts[s]
		cost := c.each + max(0, c.first[0], c.first[1], c.repeated, c.rarePair)
		if s == scriptHan {
			cost += max(0, t.rareHan)
		}
		n := scriptBytes(s)
		cost = (cost + n - 1) / n
		most = max(most, cost)
	}
	return most
}

// scriptBytes is the length of the shortest character of s.
func scriptBytes(s script) int32 {
	switch {
	case s == scriptInvalid:
		return 1
	case s <= scriptSyriac:
		return 2
	case s < scriptEmoji:
		return 3
	}
	return 4
}

func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isPunct(c byte) bool  { return c > ' ' && c < 0x7F && !isLetter(c) && !isDigit(c) }

// thirdName is the constant of the third equal byte in a row, or "" if rows of c are nothing special.
// Tokenizers have long tokens for rulers such as ---- and ####, and none for ((((.
func thirdName(c byte) string {
	switch {
	case c == ' ':
		return "sp3"
	case strings.IndexByte("-=*#_./~+", c) >= 0:
		return "repF3"
	case isPunct(c):
		return "repO3"
	case isLetter(c):
		return "repL3"
	case isDigit(c):
		return "repD3"
	}
	return ""
}

// pairCost is what byte c costs behind byte p. A token of text is a word with the space or the sign
// before it, so the cost of a word lies on its first letter, and what makes a word break into more
// tokens on the pair of letters where it does.
func pairCost(m constants, t *sharedTables, p, c byte) float64 {
	switch {
	case isLetter(c):
		return letterCost(m, t, p, c)
	case isDigit(c):
		return digitCost(m, p)
	case c == ' ':
		switch p {
		case ' ':
			return m["spRun"]
		case '\n':
			return m["spNl"]
		}
		return 0 // part of the word behind it
	case c == '\n' || c == '\r':
		return newlineCost(m, p, c)
	case c == '\t':
		switch p {
		case '\t':
			return m["tab"]
		case '\n':
			return m["tabNl"]
		}
		return m["tabRun"]
	case isPunct(c):
		return punctCost(m, t, p, c)
	}
	return m["ctrl"]
}

func letterCost(m constants, t *sharedTables, p, c byte) float64 {
	v := 0.0
	if isLetter(p) {
		if isLower(p) && isUpper(c) {
			return m["camel"] + m["upRun"]
		}
		if more := t.letters[p|0x20-'a'][c|0x20-'a']; more > 0 {
			v += more * m["bg"]
		}
		switch {
		case isUpper(p) && isUpper(c):
			v += m["upx"]
		case isUpper(p):
			v += m["capLow"]
		}
		return v
	}
	switch {
	case p == afterLatin:
		return m["latCont"]
	case p == ' ':
		v = m["wordSp"]
	case isDigit(p):
		v = m["wordDg"]
	case isPunct(p):
		v = m["wordPu"] + m["w"+string(p)]
	default:
		v = m["wordNl"]
	}
	if isUpper(c) {
		v += m["upRun"]
	}
	return v
}

func digitCost(m constants, p byte) float64 {
	switch {
	case isDigit(p):
		return m["dMore"]
	case p == ' ':
		return m["dRun"] + m["spD"]
	case isLetter(p):
		return m["dRun"] + m["dLet"]
	}
	return m["dRun"]
}

func newlineCost(m constants, p, c byte) float64 {
	v := 0.0
	if c == '\r' {
		v = m["cr"]
	}
	switch {
	case p == '\n' || p == '\r':
		return v + m["nlx"]
	case isPunct(p):
		return v + m["nlPu"]
	}
	return v + m["nlRun"]
}

func punctCost(m constants, t *sharedTables, p, c byte) float64 {
	switch {
	case p == c && isPunct(p):
		return m["puS2"]
	case isPunct(p) && t.pairs[pairsPunct].miss(pairIndex(uint32(p), uint32(c))) == 0:
		return m["puMix"]
	case isPunct(p):
		return m["puMixR"]
	case p == ' ':
		return m["puSp"] + m["p"+string(c)]
	case isLetter(p) || isDigit(p):
		return m["puW"] + m["p"+string(c)]
	}
	return m["puNl"] + m["p"+string(c)]
}

// scaled returns m with each constant of text in ASCII and in Latin script times latin, of Chinese,
// Japanese and Korean times cjk, and of all else times other.
func (m constants) scaled(latin, cjk, other float64) constants {
	by := map[string]float64{"cjkRare": cjk}
	for s := range scriptCount {
		f := other
		switch {
		case s.isLatin() || s == scriptPunct:
			f = latin
		case s.isCJK():
			f = cjk
		}
		for _, prefix := range []string{"s_", "r_", "q_", "x_"} {
			by[prefix+scriptNames[s]] = f
		}
	}
	out := make(constants, len(m))
	for name, v := range m {
		f, ok := by[name]
		if !ok {
			f = latin
		}
		out[name] = v * f
	}
	return out
}

// tokensOf rounds a cost up to whole tokens.
func tokensOf(cost int64) int {
	return int(min((max(cost, 0)+costScale-1)/costScale, math.MaxInt))
}
