package tokencount

import (
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
)

// text returns what s costs, in 1/Scale of a token. It reads s once, eight bytes at a time where they are ASCII.
func (t *Table) text(s string) int64 {
	sum, prev, doubled := int64(0), uint64(0), uint64(0) // the byte before, and 0x80 if that equals the one before it
	for i := 0; ; {
		if i+8 <= len(s) && runes.LoadWord(s, i)&runes.NonASCII == 0 {
			n, cost, last := t.ascii(s[i:], prev|doubled)
			i += n
			sum += cost
			prev, doubled = last&127, last&0x80
		}
		// Fewer than eight bytes of ASCII are left before the end or before another character.
		for ; i < len(s) && s[i] < 0x80; i++ {
			c := uint64(s[i])
			sum += int64(t.pair[(prev|doubled|c<<8)&0x7fff])
			doubled = 0
			if c == prev {
				doubled = 0x80
			}
			prev = c
		}
		if i == len(s) {
			return sum
		}
		n, cost := 0, int64(0)
		switch w := loadHalf(s, i); {
		case isTwoBytes(w) && w&0x800000 == 0:
			cost, prev = t.single(w&31<<6|w>>8&63, prev)
			n = 2
		case isThreeBytes(w) && w&0x80000000 == 0:
			cost, prev = t.single(w&15<<12|w>>2&0xFC0|w>>16&63, prev)
			n = 3
		default:
			n, cost, prev = t.high(s[i:], prev)
		}
		i += n
		sum += cost
		doubled = 0
	}
}

// ascii returns the length of the ASCII that s begins with, in whole words of eight bytes, what it costs, and the last
// byte of it. In last, 0x80 says that the byte equals the one before it. The first word is ASCII.
func (t *Table) ascii(s string, last uint64) (n int, cost int64, _ uint64) {
	w := runes.LoadWord(s, 0)
	v := w<<8 | last&127
	same := equal(v, w)
	cost = t.pairs(v|same<<8|last&0x80, w|same)
	for n = 8; n+8 <= len(s); n += 8 {
		next := runes.LoadWord(s, n)
		if next&runes.NonASCII != 0 {
			break
		}
		doubled := same >> 56
		v, w = runes.LoadWord(s, n-1), next
		same = equal(v, w)
		if same&(same<<8|doubled) != 0 { // three equal bytes in a row: most text has them at few places
			cost += t.pairs(v|same<<8|doubled, w|same)
			continue
		}
		// A load for each pair is faster than a shift and a mask.
		cost += int64(t.pair[mem.Pair(s, n-1)] + t.pair[mem.Pair(s, n)] + t.pair[mem.Pair(s, n+1)] +
			t.pair[mem.Pair(s, n+2)] + t.pair[mem.Pair(s, n+3)] + t.pair[mem.Pair(s, n+4)] +
			t.pair[mem.Pair(s, n+5)] + t.pair[mem.Pair(s, n+6)])
	}
	return n, cost, w>>56 | same>>56
}

// equal returns the high bit of each byte in which v and w, which are ASCII, are equal.
func equal(v, w uint64) uint64 { return ^((w ^ v) + 0x7f7f7f7f7f7f7f7f) & runes.NonASCII }

// pairs returns what eight bytes cost: a pair is 15 bits of v, or of w for each second one.
func (t *Table) pairs(v, w uint64) int64 {
	even := t.pair[v&0x7fff] + t.pair[v>>16&0x7fff] + t.pair[v>>32&0x7fff] + t.pair[v>>48&0x7fff]
	odd := t.pair[w&0x7fff] + t.pair[w>>16&0x7fff] + t.pair[w>>32&0x7fff] + t.pair[w>>48&0x7fff]
	return int64(even + odd)
}

// single is high for one character of two or three bytes, r, with ASCII behind it, as letters with marks stand in Latin
// script. High would give the same result, but takes twice as long to begin and to end.
func (t *Table) single(r uint32, prev uint64) (cost int64, stand uint64) {
	b := &t.shared.blocks[r>>4&4095]
	c := &t.scripts[b.script&63]
	behind := 0
	if runes.IsLetter(byte(prev)) {
		behind = 1
	}
	rare := int32(b.rare >> (r & 15) & 1)
	return int64(c.each + c.first[behind] + t.rareHan&-rare), standIn(b.script)
}

// A scanState is where a scan stands in a row of characters beyond ASCII.
type scanState struct {
	script script // of the character before; scriptCount if there is none
	last   uint32 // that character
	behind uint8  // 1: behind a letter of ASCII
}

// high returns the length of the characters beyond ASCII that s begins with, what they cost, and the byte that stands
// in for them as the previous one. A byte that is not UTF-8 counts as one of scriptInvalid. Halves of surrogate pairs
// pass, since nothing depends on them.
func (t *Table) high(s string, prev uint64) (n int, cost int64, stand uint64) {
	at := scanState{script: scriptCount}
	if runes.IsLetter(byte(prev)) {
		at.behind = 1
	}
	for {
		var size int
		var more int64
		w := loadHalf(s, n)
		switch {
		case isTwoBytes(w):
			size, more, at = t.twoBytes(s[n:], at)
		case isThreeBytes(w):
			size, more, at = t.threeBytes(s[n:], at)
		case w&0x80FF == 0x8020: // a space between two words: without leaving
			size, more, at = 1, int64(t.pair[afterOther|' '<<8]), scanState{script: scriptCount}
		case w&0xC0C0C0F8 == 0x808080F0:
			size, more, at = t.other(4, longScript(w&7<<18|w<<4&0x3F000|w>>10&0xFC0|w>>24&63), at)
		case w&0x80 != 0:
			size, more, at = t.other(1, scriptInvalid, at)
		default:
			return n, cost, standIn(at.script)
		}
		n += size
		cost += more
	}
}

// twoBytes is high for the words of characters of two bytes that s begins with. Like threeBytes it has no branch that
// depends on the characters, because the processor could not predict it.
func (t *Table) twoBytes(s string, at scanState) (n int, cost int64, _ scanState) {
	sh := t.shared
	for {
		w := loadHalf(s, n)
		if w&0xC0E0FF == 0x80C020 { // a space between two words
			cost += int64(t.pair[afterOther|' '<<8])
			at = scanState{script: scriptCount}
			n++
			continue
		}
		if !isTwoBytes(w) {
			return n, cost, at
		}
		r := w&31<<6 | w>>8&63
		sc := sh.blocks[r>>4].script
		c := &t.scripts[sc&63]
		more := c.rarePair & -sh.pairs[c.pairs&7].miss(pairIndex(at.last, r))
		if sc != at.script {
			more = c.first[at.behind&1]
		}
		cost += int64(c.each + more)
		at = scanState{script: sc, last: r}
		n += 2
	}
}

// threeBytes is high for the words of characters of three bytes that s begins with.
func (t *Table) threeBytes(s string, at scanState) (n int, cost int64, _ scanState) {
	sh := t.shared
	for {
		w := loadHalf(s, n)
		if w&0xC0F0FF == 0x80E020 { // a space between two words
			cost += int64(t.pair[afterOther|' '<<8])
			at = scanState{script: scriptCount}
			n++
			continue
		}
		if !isThreeBytes(w) {
			return n, cost, at
		}
		r := w&15<<12 | w>>2&0xFC0 | w>>16&63
		b := &sh.blocks[r>>4]
		c := &t.scripts[b.script&63]
		more := c.repeated
		if r != at.last {
			more = 0
		}
		if c.pairs != 0 { // one script: that can be predicted
			more = c.rarePair & -sh.pairs[c.pairs&7].miss(pairIndex(at.last, r))
		}
		if b.script != at.script {
			more = c.first[at.behind&1]
		}
		rare := int32(b.rare >> (r & 15) & 1)
		cost += int64(c.each + more + t.rareHan&-rare)
		at = scanState{script: b.script, last: r}
		n += 3
	}
}

// other is high for one character of script sc.
func (t *Table) other(size int, sc script, at scanState) (int, int64, scanState) {
	c := &t.scripts[sc&63]
	cost := int64(c.each)
	if sc != at.script {
		cost += int64(c.first[at.behind&1])
	}
	return size, cost, scanState{script: sc}
}

// standIn is the byte that stands in for a character of script s as the previous one.
func standIn(s script) uint64 {
	if s.isLatin() {
		return afterLatin
	}
	return afterOther
}

func isTwoBytes(w uint32) bool   { return w&0xC0E0 == 0x80C0 }
func isThreeBytes(w uint32) bool { return w&0xC0C0F0 == 0x8080E0 }

// loadHalf reads the four bytes of s from index i on, or what there is of them.
func loadHalf(s string, i int) uint32 {
	if i+4 <= len(s) {
		s = s[i : i+4]
		return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	}
	w := uint32(0)
	for k := len(s) - 1; k >= i; k-- {
		w = w<<8 | uint32(s[k])
	}
	return w
}
