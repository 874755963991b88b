package runes

// Bytes: what each byte of a text is, and looks at eight of them at a time.

// The classes of bytes. A byte of no class ends a token of a path, a URL or a name.
const (
	Lower = 1 << iota
	Upper
	Digit
	Underscore
	Slash
	Dot
	Dash
	Joint // parts of a URL, and what joins key=value, host:port, a@b
	Alpha = Lower | Upper
)

// Class has the class of each byte. It is a table, because every byte of a history is looked at.
var Class = [256]uint8{
	'a': Lower, 'b': Lower, 'c': Lower, 'd': Lower, 'e': Lower, 'f': Lower, 'g': Lower, 'h': Lower, 'i': Lower,
	'j': Lower, 'k': Lower, 'l': Lower, 'm': Lower, 'n': Lower, 'o': Lower, 'p': Lower, 'q': Lower, 'r': Lower,
	's': Lower, 't': Lower, 'u': Lower, 'v': Lower, 'w': Lower, 'x': Lower, 'y': Lower, 'z': Lower,
	'A': Upper, 'B': Upper, 'C': Upper, 'D': Upper, 'E': Upper, 'F': Upper, 'G': Upper, 'H': Upper, 'I': Upper,
	'J': Upper, 'K': Upper, 'L': Upper, 'M': Upper, 'N': Upper, 'O': Upper, 'P': Upper, 'Q': Upper, 'R': Upper,
	'S': Upper, 'T': Upper, 'U': Upper, 'V': Upper, 'W': Upper, 'X': Upper, 'Y': Upper, 'Z': Upper,
	'0': Digit, '1': Digit, '2': Digit, '3': Digit, '4': Digit, '5': Digit, '6': Digit, '7': Digit, '8': Digit,
	'9': Digit,
	'_': Underscore, '/': Slash, '~': Slash, '.': Dot, '-': Dash,
	':': Joint, '=': Joint, '?': Joint, '&': Joint, '#': Joint, '%': Joint, '+': Joint, '$': Joint, '@': Joint,
}

// IsLower reports whether c is a lower-case letter. This and the functions below are for single bytes, where a load
// from the table above would cost more than the comparison.
func IsLower(c byte) bool { return c >= 'a' && c <= 'z' }

// IsUpper reports whether c is an upper-case letter.
func IsUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// IsLetter reports whether c is a letter of either case.
func IsLetter(c byte) bool { return IsLower(c) || IsUpper(c) }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// ToUpper is c in upper case, if it is a letter.
func ToUpper(c byte) byte {
	if IsLower(c) {
		return c - ('a' - 'A')
	}
	return c
}

// IsPunct reports whether c is visible and neither a letter nor a digit.
func IsPunct(c byte) bool { return c > ' ' && c < 0x7F && !IsLetter(c) && !IsDigit(c) }

// NonASCII has the high bit of each byte set.
const NonASCII = 0x8080808080808080

// LoadWord reads the eight bytes of s from index i on. The compiler makes one load of it, as long as the indexes below
// are constants.
func LoadWord(s string, i int) uint64 {
	w := s[i : i+8]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}
