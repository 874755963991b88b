package overflow

import "strings"

// What a sentence counts: tokens, or messages and other things of which there can be too many.

// countsTokens reports whether tokens are counted: one "token" alone is a credential.
func (s *sentence) countsTokens() bool {
	for i, t := range s.ts {
		behind := i + 1
		if s.at(behind).s == "-" { // "Token-Limit"
			behind++
		}
		isMeasured := s.code || roleAt(s.ts, behind, rLength|rCapacity|rMax) && !s.isOfThings(behind+1)
		if t.role&rToken != 0 && (t.s != "token" || isMeasured || s.countedAt(i)) {
			return true
		}
	}
	return s.has(rToken) && s.word("sequence")
}

// leastCounted is above the status codes of HTTP, which SDKs write before a message: "400 Token too long".
const leastCounted = 600

// countedAt reports whether the word at i is counted: "number of token", "9000 Token". Nobody has
// that many credentials.
func (s *sentence) countedAt(i int) bool {
	if before := s.at(i - 1); before.isNum && before.n >= leastCounted {
		switch s.at(i - 2).s {
		case "code", "error", "line", "status", "at", "position", "offset", "column":
			return false
		}
		return true
	}
	return s.at(i-1).role&rLength != 0 || s.at(i-2).role&rLength != 0 && !s.at(i-1).sign
}

// isOfThings reports whether the word at i names the things of which there are too many: "token maximum sessions
// exceeded".
func (s *sentence) isOfThings(i int) bool {
	t := s.at(i)
	isNoun := t.role == 0 && strings.HasSuffix(t.s, "s") && t.s != "was"
	return isNoun && s.at(i+1).role&rOver != 0
}

// countsMessages reports whether the number of messages, not their length, is the matter.
func (s *sentence) countsMessages() bool {
	for i, t := range s.ts {
		if t.isNum && countable(s.at(i+1).s) && !s.has(rToken|rChars|rContext) {
			return true
		}
		if (t.s == "number" || t.s == "many" || t.s == "count") && !s.has(rToken|rChars) {
			for k := i + 1; k < i+4; k++ {
				if countable(s.at(k).s) {
					return true
				}
			}
		}
	}
	return false
}

// countsOther reports whether the error is about the number of something other than text: "the number of versions".
func (s *sentence) countsOther() bool {
	for i, t := range s.ts {
		if t.s == "number" && s.at(i+1).s == "of" && s.at(i+2).s != "" && s.at(i+2).role == 0 {
			return !s.has(rToken | rChars)
		}
	}
	return false
}

// countable reports whether w names things that a limit counts, however long each of them is.
func countable(w string) bool {
	switch w {
	case "messages", "inputs", "prompts", "blocks", "texts":
		return true
	}
	return false
}
