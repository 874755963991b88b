// Package prose reads what a sentence of a person or of a model is about: a rule, a decision, a plan, an error.
package prose

import "strings"

// Sentences calls f for the sentences of s that are neither empty nor as long as a document.
func Sentences(s string, f func(string)) {
	for line := range strings.Lines(s) {
		for line != "" {
			end := SentenceEnd(line)
			sentence := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line[:end]), "-*>#•"))
			if len(sentence) > 8 && len(sentence) <= sentenceBytes {
				f(sentence)
			}
			line = line[end:]
		}
	}
}

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

// sentenceBytes is the longest that is taken for a sentence: what is longer is a list, a table or code.
const sentenceBytes = 500
