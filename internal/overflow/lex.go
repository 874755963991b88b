package overflow

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// lex normalises a text and cuts it into tokens, which it appends to those of the texts before.
func (r *reading) lex(text string, code bool) segment {
	s := segment{raw: text, code: code}
	r.buffer, s.wide = normalise(r.buffer[:0], text)
	s.lower = string(r.buffer)
	store := r.tokens
	s.tokens = slices.Grow(store, 4+len(s.lower)/5)
	for i := 0; i < len(s.lower); {
		switch c := s.lower[i]; {
		case c == ' ', c == '\n':
			i++
		case c >= 'a' && c <= 'z' || c == '_' || c >= utf8.RuneSelf:
			i = s.word(i)
		case c >= '0' && c <= '9':
			i = s.number(i)
		case c == '[' && placeLength(s.lower[i:]) > 0:
			i += placeLength(s.lower[i:])
		case c == '.':
			if i+1 == len(s.lower) || s.lower[i+1] <= ' ' {
				s.tokens = append(s.tokens, token{s: ".", sign: true})
			}
			i++
		case (c == '-' || c == '=') && isRule(s.lower[i:]):
			s.tokens = append(s.tokens, token{s: ".", sign: true}) // what stands below is about something else
			i += len(s.lower[i:]) - len(strings.TrimLeft(s.lower[i:], s.lower[i:i+1]))
		default:
			if c != '"' {
				s.tokens = append(s.tokens, token{s: s.lower[i : i+1], sign: true})
			}
			i++
		}
	}
	whole := s.tokens
	s.tokens = whole[len(store):len(whole):len(whole)]
	for i := range s.tokens {
		role := s.tokens[i].role
		if role&(rContext|rToken|rField) != 0 {
			role = s.roleWithin(i)
			s.tokens[i].role = role
		}
		s.roles |= role
	}
	s.says = phrasesIn(s.tokens)
	r.tokens = whole
	return s
}

// roleWithin returns the role of the i-th token by the words beside it.
func (s *segment) roleWithin(i int) role {
	t, before := s.tokens[i], ""
	if i > 0 {
		before = s.tokens[i-1].s
	}
	switch {
	case t.role&rContext != 0 && otherContext(s.tokens, i):
		return rField
	case t.role&rToken != 0 && isCredential(s.tokens, i):
		return 0 // "too many access tokens"
	case t.role&rField == 0:
	case t.s == "ids" && before == "input":
		return rToken // a tokenizer's name for what it made of the input
	case t.s == "cache" && (before == "kv" || wordAt(s.tokens, i+1) == "size"):
		return rCapacity // where a server keeps the tokens of a conversation
	case t.s == "description" && isFault(before):
		return 0 // of the error, not of a tool
	}
	return t.role
}

// isRule reports whether s begins with a line of dashes, as eino draws it below the error of a node.
func isRule(s string) bool {
	const least = 8
	return len(s) >= least && strings.Count(s[:least], s[:1]) == least
}

// otherContext reports whether the context at i is not a model's: "Model Context Protocol".
func otherContext(ts []token, i int) bool {
	switch wordAt(ts, i+1) {
	case "protocol", "server", "menu", "switch", "switches", "manager":
		return true
	}
	return false
}

// word takes a word from i on. The name of a model ("gpt-4.1", "qwen3-8b-4bit") is one word, so that the digits
// in it are not read as numbers. A name in snake_case is several words, unless it is a parameter that caps the answer.
func (s *segment) word(i int) int {
	t, start, digit, snake := s.lower, i, false, s.lower[i] == '_'
	for i++; i < len(t) && t[i]-'a' < 26; i++ { // most words are letters alone
	}
	for ; i < len(t); i++ {
		switch c := t[i]; ascii.Class[c] {
		case ascii.Lower:
			continue
		case ascii.Underscore:
			snake = true
			continue
		case ascii.Digit:
			digit = true
			continue
		case ascii.Dash:
			if i+1 < len(t) && isAlnum(t[i+1]) && (digit || t[i+1] <= '9') {
				continue
			}
		case ascii.Dot:
			if digit && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9' {
				continue
			}
		default:
			if c >= utf8.RuneSelf {
				continue
			}
		}
		break
	}
	w := t[start:i]
	if role := roleOf(w); role != 0 || !snake {
		s.tokens = append(s.tokens, token{s: w, role: role})
		return i
	}
	for part := range strings.SplitSeq(w, "_") {
		if part != "" {
			s.tokens = append(s.tokens, token{s: part, role: roleOf(part)})
		}
	}
	return i
}

// isCredential reports whether the token at i is a credential, by the word before it: "access token", "refresh-token".
func isCredential(ts []token, i int) bool {
	before := i - 1
	if isSign(ts, before, "-") {
		before--
	}
	if before < 0 {
		return false
	}
	switch ts[before].s {
	case "access", "refresh", "registration", "device", "csrf", "auth", "oauth", "bearer", "security", "verification":
		return true
	}
	return false
}

func isFault(word string) bool { return word == "debug" || word == "error" }
