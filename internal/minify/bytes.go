package minify

import "strings"

// A list of bytes, such as 0xfe, 0x3d of C, fe:3d of OpenSSL or [254, 61] of JSON, is known by its values: of bytes,
// some are very small and some very large. Measurements and counts are not spread like that.

// spread says how the values of a list are spread.
type spread struct {
	n, small, large int
	seen            [256]bool
	different       int
	form            func(word string) (value int, ok bool) // how the list writes a byte
}

// add takes the word of a list, and reports whether it may be a byte like those before it.
func (p *spread) add(word string) bool {
	value, ok := 0, false
	if p.form != nil {
		value, ok = p.form(word)
	}
	// The first words may be of several forms: 12 is a decimal number and a pair of hexadecimal digits.
	for k := 0; !ok && k < len(byteForms) && p.n < 32; k++ {
		if value, ok = byteForms[k](word); ok {
			p.form = byteForms[k]
		}
	}
	if !ok {
		return false
	}
	if p.n++; value < 32 {
		p.small++
	} else if value >= 224 {
		p.large++
	}
	if !p.seen[value] {
		p.seen[value] = true
		p.different++
	}
	return true
}

var byteForms = []func(word string) (value int, ok bool){
	func(word string) (int, bool) { return number(word, 10) },
	func(word string) (int, bool) {
		value, ok := number(word, 16)
		return value, ok && len(word) == 2
	},
	func(word string) (int, bool) {
		digits, ok := strings.CutPrefix(word, "0x")
		value, isNumber := number(digits, 16)
		return value, ok && isNumber
	},
}

// number returns the value of a byte. It makes no error, because each short word of a text is looked at.
func number(digits string, base int) (value int, ok bool) {
	for k := range len(digits) {
		d := int(digits[k]) - '0'
		if c := digits[k] | 0x20; c >= 'a' && c <= 'f' {
			d = int(c-'a') + 10
		}
		if d < 0 || d >= base {
			return 0, false
		}
		value = value*base + d
	}
	return value, digits != "" && value < 256
}

// isData reports whether the values are spread as those of bytes are. Of random ones, an eighth is below 32 and an
// eighth above 223, and almost all 256 occur. A picture or a program may have a quarter of that.
func (p *spread) isData() bool {
	return p.n >= leastData/5 && p.small*32 > p.n && p.large*32 > p.n && p.different > 64
}

// byteList returns where the list of bytes ends that begins with the word at s[i], and how many it has. Its words stand
// apart by blanks, commas, colons and ends of lines.
func byteList(s string, i int) (kind string, end, size int) {
	const apart = 24 // bytes between two words: the end of a line and its indentation
	var p spread
	for from := i; ; {
		next := wordEnd(s, from)
		if next == from || next-from > len("0xff") || !p.add(s[from:next]) {
			break
		}
		end = next
		for from = next; from < len(s) && from-next < apart; from++ {
			if c := s[from]; c == '\\' && strings.HasPrefix(s[from:], `\n`) {
				from++
			} else if strings.IndexByte(" ,:\t\r\n", c) < 0 {
				break
			}
		}
		if from == next {
			break
		}
	}
	if end == 0 {
		return "", wordEnd(s, i), 0
	}
	if !p.isData() {
		return "", end, 0
	}
	return "bytes", end, p.n
}
