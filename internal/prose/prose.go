// Package prose reads whether a sentence of a person is a rule. It also has the lists of words and the patterns by
// which other packages read texts: a pattern is compiled when it is first used.
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

// Asks reports whether a sentence asks how things are, and so demands nothing: "Why does it never end?" A request in
// the form of a question is not meant: "Can you make sure that it does not?"
func Asks(sentence string) bool {
	first, _, _ := strings.Cut(sentence, " ")
	switch strings.ToLower(strings.TrimRight(first, ",")) {
	case "why":
		return strings.HasPrefix(sentence[len("why"):], " ")
	case "how", "what", "who", "does", "did", "is", "are", "was", "were", "has", "isn't", "aren't", "doesn't", "didn't":
		return strings.HasSuffix(sentence, "?")
	}
	for _, start := range [...]string{"为什么", "為什麼", "为何", "怎么", "なぜ", "どうして", "왜 "} {
		if strings.HasPrefix(sentence, start) {
			return true
		}
	}
	return false
}
