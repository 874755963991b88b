package tokencount

import (
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// Cautious counts the tokens of s without a vocabulary, in linear time, and errs on the high side. A run of
// letters is one token, and one more for each five letters behind the first six; a run of digits is one for each three;
// punctuation is one for each two of a run; a character that is not ASCII is one. The sum less 8 % lies 8 % above the
// count of o200k_base on digests of the recorded sessions (−20 to +22 %), and it is never less than a quarter of the
// characters.
func Cautious(s string) int {
	return max(CautiousUnits(s)/UnitsPerToken, (utf8.RuneCountInString(s)+CharsPerToken-1)/CharsPerToken)
}

// CharsPerToken is the most characters that [Cautious] counts as one token.
const CharsPerToken = 4

// UnitsPerToken makes sums of small counts exact: rounding the count of each of a thousand words would not.
const UnitsPerToken = 25

// CautiousUnits is what [Cautious] rounds, in 1/UnitsPerToken of a token.
func CautiousUnits(s string) int {
	n := 0
	for i := 0; i < len(s); {
		start := i
		switch c := s[i]; {
		case runes.Class[c]&runes.Alpha != 0:
			for i++; i < len(s) && runes.Class[s[i]]&runes.Lower != 0; i++ {
			}
			n += 1 + max(0, i-start-2)/5
		case runes.Class[c] == runes.Digit:
			for i++; i < len(s) && runes.Class[s[i]] == runes.Digit; i++ {
			}
			n += (i - start + 2) / 3
		case c == ' ':
			i++
		case c >= 0x80:
			for i++; i < len(s) && s[i]&0xC0 == 0x80; i++ {
			}
			n++
		default:
			for i++; i < len(s) && s[i] < 0x80 && s[i] != ' ' && runes.Class[s[i]]&(runes.Alpha|runes.Digit) == 0; i++ {
			}
			n += (i - start + 1) / 2
		}
	}
	return n * 23 // of 25: less 8 %
}

// Clip cuts s in its middle to at most limit tokens by [Cautious]. It returns "" if that is too few for any text.
func Clip(s string, limit int) string {
	if len(s) > 16*limit { // no need to count a text that is certainly too long
		s = runes.Clip(s, 16*limit)
	}
	for range 6 {
		n := Cautious(s)
		if n <= limit {
			return s
		}
		s = runes.Clip(s, len(s)*limit/n*9/10)
	}
	return ""
}
