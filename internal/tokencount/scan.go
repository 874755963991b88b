package tokencount

import (
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// text returns what s costs, in 1/Scale of a token. It reads s once, eight bytes at a time where they are ASCII: that
// takes half of the time, which is a tenth of a first request.
func (t *Table) text(s string) (sum int64) {
	prev := uint64(0) // the byte before, with 0x80 if that equals the one before it
	for i := 0; ; {
		for ; i+8 <= len(s); i += 8 {
			w := runes.LoadWord(s, i)
			if w&runes.NonASCII != 0 {
				break
			}
			cost := int64(0)
			cost, prev = t.word(prev, w)
			sum += cost
		}
		for ; i < len(s) && s[i] < utf8.RuneSelf; i++ {
			c := uint64(s[i])
			sum += int64(t.pair[(prev|c<<8)&0x7fff])
			if prev&0x7f == c {
				c |= 0x80
			}
			prev = c
		}
		if i == len(s) {
			return sum
		}
		n, cost, stand := t.high(s[i:], byte(prev&0x7f))
		i, sum, prev = i+n, sum+cost, uint64(stand)
	}
}

// word returns what eight bytes of ASCII cost behind prev, and the last of them in the form of prev.
func (t *Table) word(prev, w uint64) (cost int64, last uint64) {
	const ones = runes.NonASCII >> 7
	v := w<<8 | prev&0x7f // for each byte of w, the one before it
	same := ^((v ^ w) + 0x7f*ones) & runes.NonASCII
	v, w = v|same<<8|prev&0x80, w|same
	even := t.pair[v&0x7fff] + t.pair[v>>16&0x7fff] + t.pair[v>>32&0x7fff] + t.pair[v>>48&0x7fff]
	odd := t.pair[w&0x7fff] + t.pair[w>>16&0x7fff] + t.pair[w>>32&0x7fff] + t.pair[w>>48&0x7fff]
	return int64(even + odd), w >> 56
}

// A scanState is where a scan stands in a row of characters beyond ASCII.
type scanState struct {
	script script // of the character before; scriptNone if there is none
	last   uint32 // that character
	behind uint8  // 1: behind a letter of ASCII
}

// high returns the length of the characters beyond ASCII that s begins with, what they cost, and the byte that stands
// in for them as the previous one. A byte that is not UTF-8 counts as one of scriptInvalid.
func (t *Table) high(s string, prev byte) (n int, cost int64, stand byte) {
	at := scanState{script: scriptNone}
	if runes.IsLetter(prev) {
		at.behind = 1
	}
	for n < len(s) && s[n] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s[n:])
		more := int64(0)
		switch {
		case r == utf8.RuneError && size == 1:
			more, at = t.other(scriptInvalid, at)
		case r > 0xFFFF:
			more, at = t.other(longScript(r), at)
		default:
			more, at = t.character(uint32(r), at)
		}
		n += size
		cost += more
	}
	return n, cost, standIn(at.script)
}

// character returns what r costs, a character of two or three bytes.
func (t *Table) character(r uint32, at scanState) (int64, scanState) {
	b := &t.shared.blocks[r>>4]
	c := &t.scripts[b.script&63]
	more := int32(0)
	switch {
	case b.script != at.script:
		more = c.first[at.behind&1]
	case c.pairs != 0:
		more = c.rarePair * t.shared.pairs[c.pairs&7].miss(pairIndex(at.last, r))
	case r == at.last:
		more = c.repeated
	}
	rare := int32(b.rare >> (r & 15) & 1)
	return int64(c.each + more + t.rareHan*rare), scanState{script: b.script, last: r}
}

// other returns what any other character costs, which is of the script sc.
func (t *Table) other(sc script, at scanState) (int64, scanState) {
	c := &t.scripts[sc&63]
	cost := int64(c.each)
	if sc != at.script {
		cost += int64(c.first[at.behind&1])
	}
	return cost, scanState{script: sc}
}

// standIn is the byte that stands in for a character of script s as the previous one.
func standIn(s script) byte {
	if s.isLatin() {
		return afterLatin
	}
	return afterOther
}
