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
		n, cost, stand := t.high(s[i:], prev)
		prev = stand
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
		size, more := 0, int64(0)
		switch w := loadHalf(s, n); {
		case isTwoBytes(w):
			size = 2
			more, at = t.character(w&31<<6|w>>8&63, at)
		case isThreeBytes(w):
			size = 3
			more, at = t.character(w&15<<12|w>>2&0xFC0|w>>16&63, at)
		case w&0x80FF == 0x8020: // a space between two words: without leaving
			size, more, at = 1, int64(t.pair[afterOther|' '<<8]), scanState{script: scriptCount}
		case w&0xC0C0C0F8 == 0x808080F0:
			size = 4
			more, at = t.other(longScript(w&7<<18|w<<4&0x3F000|w>>10&0xFC0|w>>24&63), at)
		case w&0x80 != 0:
			size = 1
			more, at = t.other(scriptInvalid, at)
		default:
			return n, cost, standIn(at.script)
		}
		n += size
		cost += more
	}
}

// character returns what r costs, a character of two or three bytes.
func (t *Table) character(r uint32, at scanState) (int64, scanState) {
	b := &t.shared.blocks[r>>4&4095]
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
