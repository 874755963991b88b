// Package prose has the patterns by which other packages read texts of programs and providers, and knows where a
// sentence ends. A pattern is compiled when it is first used.
package prose

import "strings"

// SentenceEnd returns the length of the first sentence of a line, its mark included.
func SentenceEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' || c == '!' || c == '?':
			if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' {
				return i + 1
			}
		case c == 0xE3 && strings.HasPrefix(s[i:], "。"), c == 0xEF &&
			(strings.HasPrefix(s[i:], "！") || strings.HasPrefix(s[i:], "？")):
			return i + 3
		}
	}
	return len(s)
}
