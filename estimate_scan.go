package winnow

import "math/bits"

// text returns what s costs, in 1/costScale of a token. It reads s once, eight bytes at a time where
// they are ASCII, allocates nothing, and takes any bytes.
func (t *costs) text(s string) int64 {
	var sum int64
	prev, equal := uint64(0), uint64(0) // the byte before, and 0x80 if it equals the one before it
	i := 0
	for i+8 <= len(s) {
		w := loadWord(s, i)
		if high := w & nonASCII; high != 0 {
			sum += t.bytes(s[i:i+bits.TrailingZeros64(high)>>3], prev, equal)
			if k := bits.TrailingZeros64(high) >> 3; k > 0 {
				i += k
				prev = uint64(s[i-1])
			}
			n, cost, last := t.high(s[i:], prev)
			sum += cost
			i += n
			prev, equal = last, 0
			continue
		}
		// v holds the byte before each byte of w; a pair is 15 bits of v, or of w for the last.
		v := w<<8 | prev
		sum += int64(t.pair[v&0x7fff]) + int64(t.pair[v>>8&0x7fff]) + int64(t.pair[v>>16&0x7fff]) + int64(t.pair[v>>24&0x7fff]) +
			int64(t.pair[v>>32&0x7fff]) + int64(t.pair[v>>40&0x7fff]) + int64(t.pair[v>>48&0x7fff]) + int64(t.pair[w>>48&0x7fff])
		same := ^((w ^ v) + 0x7f7f7f7f7f7f7f7f) & nonASCII // the high bit of each byte that equals the one before it
		if rows := same & (same<<8 | equal); rows != 0 {
			sum += t.rows(w, rows)
		}
		prev, equal = w>>56, same>>56
		i += 8
	}
	for i < len(s) {
		if c := s[i]; c < 0x80 {
			sum += t.bytes(s[i:i+1], prev, equal)
			equal = 0
			if uint64(c) == prev {
				equal = 0x80
			}
			prev = uint64(c)
			i++
			continue
		}
		n, cost, last := t.high(s[i:], prev)
		sum += cost
		i += n
		prev, equal = last, 0
	}
	return sum
}

// rows returns the correction for the bytes of w that are marked in rows: they are the third or a later
// one in a row of equal bytes.
func (t *costs) rows(w, rows uint64) int64 {
	first, n := bits.TrailingZeros64(rows), bits.OnesCount64(rows)
	if 63-bits.LeadingZeros64(rows)-first == 8*(n-1) { // one row: the usual case, and no loop to mispredict
		return int64(n) * int64(t.third[w>>(first&^7)&127])
	}
	sum := int64(0)
	for ; rows != 0; rows &= rows - 1 {
		sum += int64(t.third[w>>(bits.TrailingZeros64(rows)&^7)&127])
	}
	return sum
}

// bytes is text for a few ASCII bytes.
func (t *costs) bytes(s string, prev, equal uint64) int64 {
	sum := int64(0)
	for i := range len(s) {
		c := uint64(s[i])
		sum += int64(t.pair[(prev|c<<8)&0x7fff])
		if c != prev {
			equal = 0
		} else {
			if equal != 0 {
				sum += int64(t.third[c&127])
			}
			equal = 0x80
		}
		prev = c
	}
	return sum
}

// high returns the length of the characters beyond ASCII that s begins with, what they cost, and the
// byte that stands in for them as the previous one. What is no UTF-8 is one byte of scriptInvalid;
// overlong forms and halves of surrogate pairs pass, as nothing depends on them.
func (t *costs) high(s string, prev uint64) (n int, cost int64, last uint64) {
	in, lastRune := scriptCount, uint32(0)
	sh := t.shared
	for n < len(s) {
		b := s[n]
		if b < 0x80 {
			if b != ' ' || n+1 == len(s) || s[n+1] < 0x80 {
				break
			}
			cost += int64(t.pair[afterOther|' '<<8]) // a space between two such words, without leaving
			in, lastRune = scriptCount, 0
			n++
			continue
		}
		r, size, sc := uint32(b), 1, scriptInvalid
		switch rest := s[n:]; {
		case b >= 0xE0 && b < 0xF0 && len(rest) > 2 && rest[1]&0xC0 == 0x80 && rest[2]&0xC0 == 0x80:
			r = uint32(b)<<12&0xFFFF | uint32(rest[1]&63)<<6 | uint32(rest[2]&63)
			size, sc = 3, sh.script[r>>4&4095]
		case b >= 0xC2 && b < 0xE0 && len(rest) > 1 && rest[1]&0xC0 == 0x80:
			r = uint32(b&31)<<6 | uint32(rest[1]&63)
			size, sc = 2, sh.script[r>>4&4095]
		case b >= 0xF0 && b < 0xF5 && len(rest) > 3 && rest[1]&0xC0 == 0x80 && rest[2]&0xC0 == 0x80 && rest[3]&0xC0 == 0x80:
			r = uint32(b&7)<<18 | uint32(rest[1]&63)<<12 | uint32(rest[2]&63)<<6 | uint32(rest[3]&63)
			size, sc = 4, longScript(r)
		}
		c := &t.scripts[sc&63]
		cost += int64(c.each)
		switch {
		case sc != in:
			first := c.first
			if n == 0 && sc.isLatin() && isLetter(byte(prev)) {
				first = t.latinIn
			}
			cost += int64(first)
			in = sc
		case c.pairs != 0: // no branch on the pair itself: it could not be predicted
			cost += int64(c.rarePair) & -sh.pairs[c.pairs&3].miss(pairIndex(lastRune, r))
		case r == lastRune:
			cost += int64(c.repeated)
		}
		if sc == scriptHan {
			cost += int64(t.rareHan) & -sh.rareHan(r)
		}
		lastRune = r
		n += size
	}
	if in.isLatin() {
		return n, cost, afterLatin
	}
	return n, cost, afterOther
}
