package search

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// Words are runs of letters and digits, in any case. A capital behind a small letter begins a new one, so that the
// parts of a name in code are words too. Of scripts that put no blanks between words each character is a word.

// maxTerms is how many different words of a query count.
const maxTerms = 16

// A Query is a set of words that are looked for.
type Query struct {
	words   []string // as they were written
	hashes  []uint64
	starts  pairSet // that the words begin with
	pairs   pairSet // of these and those behind the first byte
	hasTiny bool    // a word is so short that each pair of a text has to be looked at
}

// stopWords say nothing of what a text is about. The list is Lucene's for English.
const stopWords = " a an and are as at be but by for if in into is it no not of on or such that the their then there " +
	"these they this to was will with "

// NewQuery reads the words of a text. Those beyond the first 16 do not count, nor do stop words beside others.
func NewQuery(text string) *Query {
	q := &Query{}
	for _, withStops := range [2]bool{false, true} {
		for at := 0; len(q.hashes) < maxTerms; {
			from, to, h := nextWord(text, at)
			if from == to {
				break
			}
			at = to
			isStop := strings.Contains(stopWords, " "+strings.ToLower(text[from:to])+" ")
			if (withStops || !isStop) && q.find(h) < 0 {
				q.words, q.hashes = append(q.words, text[from:to]), append(q.hashes, h)
				q.addPairs(text[from:to])
			}
		}
		if len(q.hashes) > 0 {
			break
		}
	}
	return q
}

// addPairs marks the pairs of a word, in both cases.
func (q *Query) addPairs(word string) {
	isTiny := len(word) < 3 || letters[word[0]] == wide || letters[word[1]] == wide || letters[word[2]] == wide
	q.hasTiny = q.hasTiny || isTiny
	if isTiny {
		for _, first := range casesOf(word) {
			for second := range 256 {
				q.starts.add(first, byte(second))
			}
		}
		return
	}
	for _, second := range casesOf(word[1:]) {
		for _, first := range casesOf(word) {
			q.starts.add(first, second)
			q.pairs.add(first, second)
		}
		for _, third := range casesOf(word[2:]) {
			q.pairs.add(second, third)
		}
	}
}

// casesOf returns the first byte of s in both cases.
func casesOf(s string) (first [2]byte) {
	r, _ := utf8.DecodeRuneInString(s)
	var b [utf8.UTFMax]byte
	for k, r := range [2]rune{unicode.ToLower(r), unicode.ToUpper(r)} {
		utf8.EncodeRune(b[:], r)
		first[k] = b[0]
	}
	return first
}

// Words returns the words of q in their order.
func (q *Query) Words() []string { return q.words }

func (q *Query) find(h uint64) int {
	for k, own := range q.hashes {
		if own == h {
			return k
		}
	}
	return -1
}

// each calls f for each word of q in s, in their order: where it stands, and which one it is. Of a word of three
// letters or more one of the first two pairs of bytes lies at an even place, so half of the pairs need no look.
func (q *Query) each(s string, f func(at, word int)) {
	check := func(at int) {
		if at < 0 || !q.starts.has(uint64(s[at])|uint64(s[at+1])<<8) {
			return
		}
		if k := q.wordAt(s, at); k >= 0 {
			f(at, k)
		}
	}
	i := 0
	for ; i+9 <= len(s); i += 8 {
		w := ascii.LoadWord(s, i)
		if q.hasTiny {
			odd := ascii.LoadWord(s, i+1)
			if q.starts.hasAny(w) || q.starts.hasAny(odd) {
				for at := i; at < i+8; at++ {
					check(at)
				}
			}
			continue
		}
		if !q.pairs.hasAny(w) {
			continue
		}
		for at := i; at < i+8; at, w = at+2, w>>16 {
			if q.pairs.has(w) {
				check(at - 1)
				check(at)
			}
		}
	}
	if i > 0 && !q.hasTiny {
		i--
	}
	for ; i < len(s); i++ {
		if k := q.wordAt(s, i); k >= 0 {
			f(i, k)
		}
	}
}

// wordAt returns which word of q begins at a byte of s, or -1.
func (q *Query) wordAt(s string, at int) int {
	if !beginsWord(s, at) {
		return -1
	}
	class, before, h, i := letters[s[at]], uint8(0), uint64(0), at
	for class > wide && (class < capital || !isSmall(before)) {
		h = bits.RotateLeft64(h, hashShift) ^ uint64(class&^capital)
		before = class
		if i++; i == len(s) {
			return q.find(mixed(h))
		}
		class = letters[s[i]]
	}
	if class == wide {
		_, _, h = nextWord(s, at)
		return q.find(h)
	}
	return q.find(mixed(h))
}

// pairSet is a set of pairs of bytes.
type pairSet [1 << 16 / 64]uint64

func (p *pairSet) add(first, second byte) {
	pair := uint16(first) | uint16(second)<<8
	p[pair>>6] |= 1 << (pair & 63)
}

// has reports whether the set has the pair in the lowest two bytes of w.
func (p *pairSet) has(w uint64) bool { return p[w>>6&(1<<10-1)]>>(w&63)&1 != 0 }

// hasAny reports whether the set has one of the four pairs that w is made of.
func (p *pairSet) hasAny(w uint64) bool {
	const places = 1<<10 - 1
	a, b := p[w>>6&places]>>(w&63), p[w>>22&places]>>(w>>16&63)
	c, d := p[w>>38&places]>>(w>>32&63), p[w>>54]>>(w>>48&63)
	return (a|b|c|d)&1 != 0
}

// beginsWord reports whether a word begins at a byte of s.
func beginsWord(s string, at int) bool {
	class, before := letters[s[at]], uint8(0)
	if at > 0 {
		before = letters[s[at-1]]
	}
	if class != wide && before != wide {
		return class != 0 && (before == 0 || class >= capital && isSmall(before))
	}
	r, _ := utf8.DecodeRuneInString(s[at:])
	last, _ := utf8.DecodeLastRuneInString(s[:at])
	return isWordRune(r) && (!isWordRune(last) || divides(last, r))
}

// divides reports whether a word ends between two characters that are both of words.
func divides(last, r rune) bool {
	return standsAlone(r) || standsAlone(last) || unicode.IsUpper(r) && unicode.IsLower(last)
}

// isSmall reports whether a class of [letters] is that of a small letter.
func isSmall(class uint8) bool { return class >= 'a' && class < capital }

// nextWord returns the next word of s from at on, and its hash; an empty one if there is none.
func nextWord(s string, at int) (from, to int, hash uint64) {
	from = -1
	last := rune(0)
	for i := at; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		isWord := isWordRune(r)
		if from >= 0 && (!isWord || divides(last, r)) {
			return from, i, mixed(hash)
		}
		if isWord {
			if from < 0 {
				from = i
			}
			hash = bits.RotateLeft64(hash, hashShift) ^ uint64(unicode.ToLower(r))
			last = r
		}
		i += size
	}
	if from < 0 {
		return len(s), len(s), 0
	}
	return from, len(s), mixed(hash)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return letters[r] != 0
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// standsAlone reports whether r is of a script that puts no blanks between words, or few.
func standsAlone(r rune) bool {
	return r >= firstUnspaced && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

const firstUnspaced = 0x0E00 // where Thai begins

const (
	hashShift = 7 // the first nine letters of a word share no bits

	wide    = 1    // a byte of a character beyond ASCII
	capital = 0x80 // set for capitals, which are otherwise like their small letters
)

// mixed spreads a hash over all of its bits: one multiplication to 128 bits, as wyhash does.
func mixed(h uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// letters is what a byte is in a word: 0 if it is in none.
var letters = letterTable()

func letterTable() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = wide
		case c >= 'A' && c <= 'Z':
			t[c] = uint8(c) + 'a' - 'A' | capital
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[c] = uint8(c)
		}
	}
	return t
}
