package winnow

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// constants are the numbers of one family, in tokens.
type constants struct {
	of      map[string]float64 // by the names of data/constants.tsv
	letters letterCosts
}

// letterCosts has what letters add by their neighbours, in any case: [letter][next], [outside][first of a
// word], [last of a word][outside].
type letterCosts [27][27]float64

const outside = 26 // no letter

// readConstants reads the column of a family in data/constants.tsv, and its part of data/letters.txt.
func readConstants(family string) constants {
	lines := strings.Split(strings.TrimSpace(constantsFile), "\n")
	column := slices.Index(strings.Split(lines[0], "\t"), family)
	m := constants{of: make(map[string]float64, len(lines))}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		v, err := strconv.ParseFloat(cells[column], 64)
		if err != nil {
			panic("winnow: data/constants.tsv: " + err.Error()) // part of the program and read by the tests
		}
		m.of[cells[0]] = v
	}
	_, rows, _ := strings.Cut(lettersFile, family+"\n")
	for i, row := range strings.SplitN(rows, "\n", len(m.letters)+1)[:len(m.letters)] {
		for j := range row {
			m.letters[i][j] = (float64(row[j]) - '@') / 50
		}
	}
	return m
}

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
	t := &costs{shared: shared(), rareHan: fixed(m.of["cjkRare"])}
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
	for s := range scriptCount {
		n := scriptNames[s]
		first := fixed(m.of["r_"+n])
		t.scripts[s] = scriptCost{each: fixed(m.of["s_"+n]), first: [2]int32{first, first}, repeated: fixed(m.of["q_"+n]), rarePair: fixed(m.of["x_"+n])}
		if s.isLatin() {
			t.scripts[s].first[1] = fixed(m.of["latIn"])
		}
	}
	for i, s := range pairScripts {
		t.scripts[s].pairs = uint8(i + 1)
	}
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

// thirdName is the constant of the third equal byte in a row, or "" if rows of c are nothing special.
// Tokenizers have long tokens for rulers such as ---- and ####, and none for ((((.
func thirdName(c byte) string {
	switch {
	case c == ' ':
		return "sp3"
	case strings.IndexByte("-=*#_./~+", c) >= 0:
		return "repF3"
	case ascii.IsPunct(c):
		return "repO3"
	case ascii.IsLetter(c):
		return "repL3"
	case ascii.IsDigit(c):
		return "repD3"
	}
	return ""
}

// pairCost is what byte c costs behind byte p. A token of text is a word with the space or the sign
// before it, so the cost of a word lies on its first letter, and what makes a word break into more
// tokens on the pairs of letters, of which its first and its last letter with what is around it are two.
func pairCost(m constants, t *sharedTables, p, c byte) float64 {
	if ascii.IsLetter(c) {
		return letterCost(m, p, c)
	}
	v := m.letters[letterIndex(p)][outside] // 0 if p is no letter
	switch {
	case ascii.IsDigit(c):
		return v + digitCost(m, p)
	case c == ' ':
		switch p {
		case ' ':
			return m.of["spRun"]
		case '\n':
			return m.of["spNl"]
		}
		return v // part of the word behind it
	case c == '\n' || c == '\r':
		return v + newlineCost(m, p, c)
	case c == '\t':
		switch p {
		case '\t':
			return m.of["tab"]
		case '\n':
			return m.of["tabNl"]
		}
		return v + m.of["tabRun"]
	case ascii.IsPunct(c):
		return v + punctCost(m, t, p, c)
	}
	return v + m.of["ctrl"]
}

// letterIndex is the index of c in letterCosts.
func letterIndex(c byte) int {
	if ascii.IsLetter(c) {
		return int(c|0x20) - 'a'
	}
	return outside
}

func letterCost(m constants, p, c byte) float64 {
	switch {
	case ascii.IsLower(p) && ascii.IsUpper(c): // a word in camelCase
		return m.letters[letterIndex(p)][outside] + m.letters[outside][letterIndex(c)] + m.of["camel"] + m.of["upRun"]
	case p == afterLatin:
		return m.of["latCont"]
	}
	v := m.letters[letterIndex(p)][letterIndex(c)]
	switch {
	case ascii.IsUpper(p) && ascii.IsUpper(c):
		return v + m.of["upx"]
	case ascii.IsUpper(p):
		return v + m.of["capLow"]
	case ascii.IsLower(p):
		return v
	case p == ' ':
		v += m.of["wordSp"]
	case ascii.IsDigit(p):
		v += m.of["wordDg"]
	case ascii.IsPunct(p):
		v += m.of["wordPu"] + m.of["w"+string(p)]
	default:
		v += m.of["wordNl"]
	}
	if ascii.IsUpper(c) {
		v += m.of["upRun"]
	}
	return v
}

func digitCost(m constants, p byte) float64 {
	switch {
	case ascii.IsDigit(p):
		return m.of["dMore"]
	case p == ' ':
		return m.of["dRun"] + m.of["spD"]
	case ascii.IsLetter(p):
		return m.of["dRun"] + m.of["dLet"]
	}
	return m.of["dRun"]
}

func newlineCost(m constants, p, c byte) float64 {
	v := 0.0
	if c == '\r' {
		v = m.of["cr"]
	}
	switch {
	case p == '\n' || p == '\r':
		return v + m.of["nlx"]
	case ascii.IsPunct(p):
		return v + m.of["nlPu"]
	}
	return v + m.of["nlRun"]
}

func punctCost(m constants, t *sharedTables, p, c byte) float64 {
	switch {
	case p == c && ascii.IsPunct(p):
		return m.of["puS2"]
	case ascii.IsPunct(p) && t.pairs[pairsPunct].miss(pairIndex(uint32(p), uint32(c))) == 0:
		return m.of["puMix"]
	case ascii.IsPunct(p):
		return m.of["puMixR"]
	case p == ' ':
		return m.of["puSp"] + m.of["p"+string(c)]
	case ascii.IsLetter(p) || ascii.IsDigit(p):
		return m.of["puW"] + m.of["p"+string(c)]
	}
	return m.of["puNl"] + m.of["p"+string(c)]
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
	out := constants{of: make(map[string]float64, len(m.of))}
	for name, v := range m.of {
		f, ok := by[name]
		if !ok {
			f = latin
		}
		out.of[name] = v * f
	}
	for i, row := range m.letters {
		for j, v := range row {
			out.letters[i][j] = v * latin
		}
	}
	return out
}

// tokensOf rounds a cost up to whole tokens.
func tokensOf(cost int64) int {
	return int(min((max(cost, 0)+costScale-1)/costScale, math.MaxInt))
}
