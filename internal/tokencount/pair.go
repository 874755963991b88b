package tokencount

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// After characters beyond ASCII these two control characters stand in as the previous byte.
const (
	afterLatin = 1
	afterOther = 2
)

// thirdName names the constant of the third equal byte in a row. It is "" where such a row costs what its pairs do.
// Tokenizers have long tokens for rulers such as ---- and ####, and none for ((((.
func thirdName(c byte) string {
	switch {
	case c == ' ':
		return "sp3"
	case strings.IndexByte("-=*#_./~+", c) >= 0:
		return "repF3"
	case runes.IsPunct(c):
		return "repO3"
	case runes.IsLetter(c):
		return "repL3"
	case runes.IsDigit(c):
		return "repD3"
	}
	return ""
}

// pairCost is what byte c costs behind byte p. A token of text is a word with the space or the sign before it, so the
// cost of a word lies on its first letter. A word that breaks into several tokens pays for that on its pairs of
// letters; what stands before its first letter and behind its last one makes two more such pairs.
func pairCost(m constants, t *sharedTables, p, c byte) float64 {
	if runes.IsLetter(c) {
		return letterCost(m, p, c)
	}
	v := m.letters[letterIndex(p)][outside] // 0 if p is not a letter
	switch {
	case runes.IsDigit(c):
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
	case runes.IsPunct(c):
		return v + punctCost(m, t, p, c)
	}
	return v + m.of["ctrl"]
}

func letterCost(m constants, p, c byte) float64 {
	switch {
	case runes.IsLower(p) && runes.IsUpper(c): // a word in camelCase
		return m.letters[letterIndex(p)][outside] + m.letters[outside][letterIndex(c)] + m.of["camel"] + m.of["upRun"]
	case p == afterLatin:
		return m.of["latCont"]
	}
	v := m.letters[letterIndex(p)][letterIndex(c)]
	switch {
	case runes.IsUpper(p) && runes.IsUpper(c):
		return v + m.of["upx"]
	case runes.IsUpper(p):
		return v + m.of["capLow"]
	case runes.IsLower(p):
		return v
	case p == ' ':
		v += m.of["wordSp"]
	case runes.IsDigit(p):
		v += m.of["wordDg"]
	case runes.IsPunct(p):
		v += m.of["wordPu"] + m.of["w"+string(p)]
	default:
		v += m.of["wordNl"]
	}
	if runes.IsUpper(c) {
		v += m.of["upRun"]
	}
	return v
}

func digitCost(m constants, p byte) float64 {
	switch {
	case runes.IsDigit(p):
		return m.of["dMore"]
	case p == ' ':
		return m.of["dRun"] + m.of["spD"]
	case runes.IsLetter(p):
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
	case runes.IsPunct(p):
		return v + m.of["nlPu"]
	}
	return v + m.of["nlRun"]
}

func punctCost(m constants, t *sharedTables, p, c byte) float64 {
	switch {
	case p == c && runes.IsPunct(p):
		return m.of["puS2"]
	case runes.IsPunct(p) && t.pairs[pairsPunct].miss(pairIndex(uint32(p), uint32(c))) == 0:
		return m.of["puMix"]
	case runes.IsPunct(p):
		return m.of["puMixR"]
	case p == ' ':
		return m.of["puSp"] + m.of["p"+string(c)]
	case runes.IsLetter(p) || runes.IsDigit(p):
		return m.of["puW"] + m.of["p"+string(c)]
	}
	return m.of["puNl"] + m.of["p"+string(c)]
}
