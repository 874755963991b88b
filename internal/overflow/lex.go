package overflow

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// lex normalises a text and cuts it into tokens.
func lex(text string, code bool) *segment {
	s := &segment{raw: text, code: code}
	s.lower, s.wide = normalise(text)
	t := s.lower
	for i := 0; i < len(t); {
		switch c := t[i]; {
		case c >= 'a' && c <= 'z' || c == '_' || c >= utf8.RuneSelf:
			i = s.word(i)
			continue
		case runes.IsDigit(c):
			i = s.number(i)
			continue
		case c == '-' && strings.HasPrefix(t[i:], rule), c == '=' && strings.HasPrefix(t[i:], doubleRule):
			s.sign(".") // what stands below is about something else
			i = len(t) - len(strings.TrimLeft(t[i:], t[i:i+1]))
			continue
		case c == '.' && i+1 < len(t) && t[i+1] > ' ', c == ' ', c == '\n', c == '"':
		default:
			s.sign(t[i : i+1])
		}
		i++
	}
	for i := range s.tokens {
		s.tokens[i].role = s.roleWithin(i)
		s.roles |= s.tokens[i].role
	}
	s.says = phrasesIn(s.tokens)
	return s
}

// A line of dashes divides a text, as eino draws it below the error of a node.
const rule, doubleRule = "--------", "========"

func (s *segment) sign(sign string) { s.tokens = append(s.tokens, token{s: sign, sign: true}) }

// roleWithin returns the role of the i-th token by the words beside it.
func (s *segment) roleWithin(i int) role {
	t, before, next := s.tokens[i], wordOf(s.tokens, i-1), wordAt(s.tokens, i+1)
	switch {
	case t.role&rContext != 0 && isOneOf(next, "protocol server menu switch switches manager"):
		return rField // not a model's: "Model Context Protocol"
	case t.role&rToken != 0 && isOneOf(wordBefore(s.tokens, i), credentials):
		return 0 // "too many access tokens"
	case t.s == "ids" && before == "input":
		return rToken // a tokenizer's name for what it made of the input
	case t.s == "cache" && (before == "kv" || next == "size"):
		return rCapacity // where a server keeps the tokens of a conversation
	case t.s == "description" && isOneOf(before, "debug error"):
		return 0 // of the error, not of a tool
	}
	return t.role
}

// credentials are words that make a token a credential: "access token", "refresh-token".
const credentials = "access refresh registration device csrf auth oauth bearer security verification"

// word takes a word from i on. The name of a model ("gpt-4.1", "qwen3-8b-4bit") is one word, so that the digits
// in it are not read as numbers. A name in snake_case is several words, unless it is a parameter that caps the answer.
func (s *segment) word(i int) int {
	t, start, digit := s.lower, i, false
	for i++; i < len(t); i++ {
		c := t[i]
		if !isAlnum(c) && c != '_' && c < utf8.RuneSelf && !joinsName(t[i:], digit) {
			break
		}
		digit = digit || runes.IsDigit(c)
	}
	w := t[start:i]
	if role := roleOf(w); role != 0 || !strings.Contains(w, "_") {
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

// joinsName reports whether the sign that t begins with belongs to a name, which has a digit in front of it or not.
func joinsName(t string, digit bool) bool {
	if len(t) < 2 || !isAlnum(t[1]) {
		return false
	}
	isDigit := runes.IsDigit(t[1])
	if t[0] == '-' {
		return digit || isDigit
	}
	return t[0] == '.' && digit && isDigit
}

// scaled multiplies a number with its unit, thousands or millions.
func scaled(number token, factor float64) token {
	n, err := strconv.ParseFloat(strings.ReplaceAll(number.s, ",", ""), 64)
	number.n, number.isNum = int32(math.Round(min(n*factor, math.MaxInt32))), err == nil
	return number
}

// number takes a number from i on: 300,000, 300_000, 128k, 32mb. An id with digits in front is a word, as a fraction.
func (s *segment) number(i int) int {
	t, start := s.lower, i
	n, isWhole := 0, true
	inBrackets := start > 0 && t[start-1] == '['
	for ; i < len(t); i++ {
		switch c := t[i]; {
		case runes.IsDigit(c):
			n = min(n*10+int(c-'0'), math.MaxInt32)
			continue
		case strings.IndexByte(",_.", c) >= 0 && !inBrackets && group(t[i+1:]):
			continue
		case c == '.' && i+1 < len(t) && runes.IsDigit(t[i+1]):
			isWhole = false
			continue
		}
		break
	}
	end := i
	for i < len(t) && (isAlnum(t[i]) || t[i] == '_') {
		i++
	}
	number := token{s: t[start:end], n: int32(n), isNum: isWhole}
	switch unit := t[end:i]; {
	case unit == "":
		s.tokens = append(s.tokens, number)
	case unit == "k":
		s.tokens = append(s.tokens, scaled(number, 1e3))
	case unit == "m" && (strings.HasPrefix(t[i:], " token") || strings.HasPrefix(t[i:], " context")):
		s.tokens = append(s.tokens, scaled(number, 1e6)) // and not the minutes of 1m
	case roleOf(unit)&rBytes != 0:
		s.tokens = append(s.tokens, number, token{s: unit, role: rBytes})
	default:
		s.tokens = append(s.tokens, token{s: t[start:i]})
	}
	return i
}
