package excerpt

import (
	"math/bits"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// crowded says with which marks a text is crowded: reading all its bytes, eight at a time, is then faster than finding
// each mark by itself.
type crowded struct {
	signs bool // colons and brackets
	files bool // the colons stand behind an o, as in "main.go:12:"
	exits bool // the letter x
}

// apart is how many bytes there are at most from one mark to the next in a text that is crowded with it. Where they are
// further apart, the standard library finds each as fast: recorded results take as long with 48 and with 80.
const apart = 64

// crowdedWith looks at the beginning of a long text.
func crowdedWith(text string) crowded {
	if len(text) < sample {
		return crowded{}
	}
	text = text[:sample]
	c := crowded{exits: strings.Count(text, "x") > sample/apart}
	if c.signs = strings.Count(text, ":")+strings.Count(text, "[") > sample/apart; c.signs {
		c.files = strings.Count(text, "o:") > sample/(8*block) // one in eight blocks: each costs as much as four
	}
	return c
}

const (
	ones  = 0x0101010101010101 // a 1 in each of eight bytes
	block = 8 * 8              // bytes of a text that are looked at together
)

// nextSign returns the index, from i on, where a colon or a bracket is the sign of a report in s, or len(s).
func (c *crowded) nextSign(s string, i int, isWide bool) int {
	wide := len(s) // where the next block with characters that are not ASCII begins
	if isWide {
		wide = -1
	}
	for i = max(i, 1); ; i += block {
		if wide < i {
			wide = wideBlock(s, i)
		}
		if c.files {
			i = signBlockButO(s[:wide], i)
		} else {
			i = signBlock(s[:wide], i)
		}
		if i+block > len(s) {
			break
		}
		if sign := signInBlock(s, i, isWide); sign < i+block {
			return sign
		}
	}
	for ; i < len(s); i++ {
		if isSign(s, i) {
			return i
		}
	}
	return len(s)
}

// signInBlock returns the index of the first sign of a report in the block of s that begins at i, or the end of the
// block.
func signInBlock(s string, i int, isWide bool) int {
	w := s[i-1:][:1+block]
	var found uint64 // bit 7-k of byte b is byte b of word k: one word for all makes for fewer branches
	for k := range 8 {
		before, at := ascii.LoadWord(w, 8*k), ascii.LoadWord(w, 8*k+1)
		word := signs(before, at)
		if isWide {
			word |= wideSigns(before, at)
		}
		found |= word & ascii.NonASCII >> k
	}
	first := i + block
	for ; found != 0; found &= found - 1 {
		bit := bits.TrailingZeros64(found)
		if sign := i + bit/8 + 8*(7-bit%8); sign < first && isSign(s, sign) {
			first = sign
		}
	}
	return first
}

// signs sets the high bit of each byte of at that may be a colon or a bracket which is the sign of a report. before
// has, in the same place, the byte in front of it. That is a letter from c to r: what is left of 0xC2 then has the bits
// 0x50, in upper case too, and has them for nothing else in ASCII. Both signs have the bits 0x1A, as few other bytes
// do. Only where all these bits are set is the sum 0x6A. A byte above 0xC2 spoils the letter behind it, which is then
// the first of its word and not the last.
func signs(before, at uint64) uint64 {
	return (0xC2*ones-before)&(0x50*ones) + at&(0x1A*ones) + (0x80-0x6A)*ones
}

// signsButO is signs without those behind an o. The letters c, r and, with 4 added where they have that bit, d, e, l
// and n stay between c and r. The letter o does not. In this order the compiler needs one step less for it.
func signsButO(before, at uint64) uint64 {
	return (0xC2*ones-before-before&(0x04*ones))&(0x50*ones) + at&(0x1A*ones) + (0x80-0x6A)*ones
}

// wideSigns sets the high bit of each byte of at that is a colon behind a byte that is not ASCII, as in "错误:". The
// byte 0xBA passes for a colon.
func wideSigns(before, at uint64) uint64 {
	return before &^ ((at^':'*ones)&(0x7F*ones) + 0x7F*ones)
}

// signBlock returns the first index, i or some blocks behind it, of a block of s in which [signs] finds something. If s
// ends before, it is where no block fits.
func signBlock(s string, i int) int {
	rest := s[i-1:]
	for ; len(rest) > block; rest = rest[block:] {
		w := rest[:1+block]
		found := signs(ascii.LoadWord(w, 0), ascii.LoadWord(w, 1)) | signs(ascii.LoadWord(w, 8), ascii.LoadWord(w, 9)) |
			signs(ascii.LoadWord(w, 16), ascii.LoadWord(w, 17)) | signs(ascii.LoadWord(w, 24), ascii.LoadWord(w, 25)) |
			signs(ascii.LoadWord(w, 32), ascii.LoadWord(w, 33)) | signs(ascii.LoadWord(w, 40), ascii.LoadWord(w, 41)) |
			signs(ascii.LoadWord(w, 48), ascii.LoadWord(w, 49)) | signs(ascii.LoadWord(w, 56), ascii.LoadWord(w, 57))
		if found&ascii.NonASCII != 0 {
			break
		}
	}
	return len(s) - len(rest) + 1
}

// signBlockButO is signBlock with [signsButO]. It is written out: the compiler does not inline a function that is
// passed to a loop, and a call for each word would take longer than its look.
func signBlockButO(s string, i int) int {
	rest := s[i-1:]
	for ; len(rest) > block; rest = rest[block:] {
		w := rest[:1+block]
		found := signsButO(ascii.LoadWord(w, 0), ascii.LoadWord(w, 1)) |
			signsButO(ascii.LoadWord(w, 8), ascii.LoadWord(w, 9)) |
			signsButO(ascii.LoadWord(w, 16), ascii.LoadWord(w, 17)) |
			signsButO(ascii.LoadWord(w, 24), ascii.LoadWord(w, 25)) |
			signsButO(ascii.LoadWord(w, 32), ascii.LoadWord(w, 33)) |
			signsButO(ascii.LoadWord(w, 40), ascii.LoadWord(w, 41)) |
			signsButO(ascii.LoadWord(w, 48), ascii.LoadWord(w, 49)) |
			signsButO(ascii.LoadWord(w, 56), ascii.LoadWord(w, 57))
		if found&ascii.NonASCII != 0 {
			break
		}
	}
	return len(s) - len(rest) + 1
}

// wideBlock is signBlock for bytes that are not ASCII, the one in front of the block among them.
func wideBlock(s string, i int) int {
	for rest := s[i-1:]; len(rest) > block; rest = rest[block:] {
		w := rest[:block]
		found := ascii.LoadWord(w, 0) | ascii.LoadWord(w, 8) | ascii.LoadWord(w, 16) | ascii.LoadWord(w, 24) |
			ascii.LoadWord(w, 32) | ascii.LoadWord(w, 40) | ascii.LoadWord(w, 48) | ascii.LoadWord(w, 56)
		if found&ascii.NonASCII != 0 {
			return len(s) - len(rest) + 1
		}
	}
	return len(s)
}

// nextExit returns the index, from i on, of the x in the first "exit" of s, or len(s).
func nextExit(s string, i int) int {
	for ; ; i += block {
		i = exitBlock(s, i)
		if i+block >= len(s) {
			return exitMark.next(s, i)
		}
		if x := exitMark.next(s[:min(len(s), i+block+len("it"))], i); x < i+block {
			return x
		}
	}
}

// exits sets the high bit of each byte of at that may be an x which an i follows. after has, in the same place, the
// byte behind it. An x has the bits 0x18 and an i has the bits 0x49. Only where all these are set is the sum 0x61.
func exits(at, after uint64) uint64 {
	return at&(0x18*ones) + after&(0x49*ones) + (0x80-0x61)*ones
}

// exitBlock returns the first index, i or some blocks behind it, of a block of s in which [exits] finds something. If s
// ends before, it is where no block and a byte behind it fit.
func exitBlock(s string, i int) int {
	rest := s[i:]
	for ; len(rest) > block; rest = rest[block:] {
		w := rest[:block+1]
		found := exits(ascii.LoadWord(w, 0), ascii.LoadWord(w, 1)) | exits(ascii.LoadWord(w, 8), ascii.LoadWord(w, 9)) |
			exits(ascii.LoadWord(w, 16), ascii.LoadWord(w, 17)) | exits(ascii.LoadWord(w, 24), ascii.LoadWord(w, 25)) |
			exits(ascii.LoadWord(w, 32), ascii.LoadWord(w, 33)) | exits(ascii.LoadWord(w, 40), ascii.LoadWord(w, 41)) |
			exits(ascii.LoadWord(w, 48), ascii.LoadWord(w, 49)) | exits(ascii.LoadWord(w, 56), ascii.LoadWord(w, 57))
		if found&ascii.NonASCII != 0 {
			break
		}
	}
	return len(s) - len(rest)
}
