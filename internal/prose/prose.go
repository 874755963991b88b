// Package prose has the patterns by which other packages read texts of programs and providers, and knows where a
// sentence ends. A pattern is compiled when it is first used.
package prose

import (
	"strings"
	"unicode/utf8"
)

// SentenceEnd returns the length of the first sentence of a line, its mark included.
func SentenceEnd(s string) int {
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?':
			isNumber := strings.Trim(s[:i], " 0123456789") == "" // of an item in a list
			if next == len(s) || s[next] == '\n' || s[next] == ' ' && !isNumber {
				return next
			}
		case '。', '！', '？':
			return next
		}
	}
	return len(s)
}
