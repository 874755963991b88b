package winnow

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The texts are read as words with a meaning each, not as strings: "Prompt exceeds max length", "your
// input exceeds the context window" and "message longer than the maximum" differ in every word and say
// one thing. A word has the roles that it can play in an overflow; the families in overflow_families.go
// ask for roles that stand together in one sentence.

// role is a set of meanings.
type role uint32

const (
	rInput    role = 1 << iota // what is sent: prompt, input, conversation
	rMessage                   // "message": what is sent, or one gRPC frame
	rRequest                   // the request as a whole, its body
	rToken                     // tokens
	rContext                   // context
	rCapacity                  // window, length, size, limit
	rLength                    // length, count: what can be long and is no number of bytes
	rMax                       // maximum, limit, allowed
	rOver                      // exceed, overflow
	rToo                       // too
	rBig                       // long, large, many
	rMore                      // longer, larger, more (than)
	rLess                      // less, fewer, most (than)
	rThan                      // than
	rOutput                    // answer: completion, output, max_tokens
	rOutParam                  // the name of the parameter that caps the answer
	rReduce                    // reduce, shorten
	rFull                      // full, fit, exhausted
	rMust                      // must, should, cannot
	rBytes                     // bytes, MB
	rChars                     // characters
	rMedia                     // images, pages, audio
	rField                     // one field of the request: id, name, pattern
	rActual                    // words before the number that was counted: has, contains, got
	rRate                      // throttling and rates, in one word
	rPer                       // per
	rTime                      // minute, hour
	rDay                       // day, month: a quota
	rQuota                     // quota, billing
	rSkip                      // a small word between the others
	rHint                      // a word of a longer phrase that some rule looks for in the text
)

// token is a word, a number or a sign.
type token struct {
	s     string
	n     int32 // the value of a number
	isNum bool
	sign  bool
	role  role
}

// segment is one text: a message, a code, or what stands around them.
type segment struct {
	lower  string // normalised: lower case, without links, quotes and doubled punctuation
	raw    string
	tokens []token
	roles  role // of all tokens
	says   phrase
	code   bool
	wide   bool // has letters that are not ASCII
}

func (s *segment) has(text string) bool { return strings.Contains(s.lower, text) }
func (s *segment) hasAll(r role) bool   { return s.roles&r == r }

// lex normalises a text and cuts it into tokens, which it appends to those of the texts before.
func (r *reading) lex(text string, code bool) segment {
	s := segment{raw: text, code: code}
	r.buffer, s.wide = normalise(r.buffer[:0], text)
	s.lower = string(r.buffer)
	store := r.tokens
	s.tokens = slices.Grow(store, 4+len(s.lower)/5)
	for i := 0; i < len(s.lower); {
		switch c := s.lower[i]; {
		case c == ' ':
			i++
		case c >= 'a' && c <= 'z' || c == '_' || c >= utf8.RuneSelf:
			i = s.word(i)
		case c >= '0' && c <= '9':
			i = s.number(i)
		case c == '.':
			if i+1 == len(s.lower) || s.lower[i+1] == ' ' {
				s.tokens = append(s.tokens, token{s: ".", sign: true})
			}
			i++
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
		if role&rContext != 0 && otherContext(s.tokens, i) {
			role = rField
			s.tokens[i].role = role
		}
		if s.roles |= role; role&rHint != 0 {
			s.says |= phraseAt(s.tokens, i)
		}
	}
	r.tokens = whole
	return s
}

// otherContext says that the context at i is not a model's: "Model Context Protocol".
func otherContext(ts []token, i int) bool {
	switch wordAt(ts, i+1) {
	case "protocol", "server", "menu", "switch", "switches", "manager":
		return true
	}
	return false
}

// normalise lowers the case, sets the words of camelCase and of scripts without spaces apart from
// others, and drops links (a help page's address may hold every key word), quotes and apostrophes.
func normalise(b []byte, text string) (lower []byte, wide bool) {
	b = slices.Grow(b, len(text)+len(text)/16+16)
	last := rune(' ')
	for i := 0; i < len(text); {
		if last < utf8.RuneSelf { // most of any text is taken as it is
			start := i
			for i < len(text) && verbatim(text[i]) {
				i++
			}
			if i > start {
				b = append(b, text[start:i]...)
				last = rune(text[i-1])
				continue
			}
		}
		c := text[i]
		if c < utf8.RuneSelf {
			if c == ':' && strings.HasPrefix(text[i:], "://") {
				i += linkLength(text[i:])
				b = append(trimWord(b), ' ')
				last = ' '
				continue
			}
			b = appendASCII(b, c, last)
			last = rune(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		var plain string
		if plain, r = unquote(r); plain != "" || r == 0 {
			b = append(b, plain...)
			continue
		}
		wide = true
		r = unicode.ToLower(r)
		if isWide(r) != isWide(last) && last > ' ' {
			b = append(b, ' ')
		}
		b = utf8.AppendRune(b, r)
		last = r
	}
	return b, wide
}

// verbatim says that a character stays as it is, wherever it stands in ASCII.
func verbatim(c byte) bool {
	return verbatimASCII[c>>6]>>(c&63)&1 != 0
}

// verbatimASCII has a bit for each of the letters in lower case, the space, and the characters from ( to 9.
var verbatimASCII = [4]uint64{1<<' ' | (1<<('9'+1) - 1<<'('), (1<<26 - 1) << ('a' - 64)}

// trimWord takes the scheme of a link off the end.
func trimWord(b []byte) []byte {
	for len(b) > 0 && isAlnum(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// appendASCII adds one ASCII character behind last.
func appendASCII(b []byte, c byte, last rune) []byte {
	upper := c >= 'A' && c <= 'Z'
	switch {
	case c == '`', c == '\'', c < ' ':
		if c == '\'' && unicode.IsLetter(last) && !elided(b) {
			return b // model's, doesn't
		}
		return append(b, ' ')
	case upper && last >= 'a' && last <= 'z': // camelCase
		b = append(b, ' ')
	case isWide(last) && c > ' ':
		b = append(b, ' ')
	}
	if upper {
		c |= 0x20
	}
	return append(b, c)
}

// elided says that the text ends in an article that an apostrophe belongs to: l'entrée, d'input.
func elided(b []byte) bool {
	n := len(b)
	return (b[n-1] == 'l' || b[n-1] == 'd') && (n == 1 || b[n-2] == ' ')
}

// unquote turns typographic punctuation into ASCII; "", 0 means that the character is dropped.
func unquote(r rune) (string, rune) {
	switch r {
	case '‘', '’', '\u200b', '\ufeff', utf8.RuneError:
		return "", 0
	case '´', '“', '”', '「', '」', '\u00a0', '\u3000', '«', '»', '„':
		return " ", r
	case '≤':
		return "<=", r
	case '≥':
		return ">=", r
	case '，', '、':
		return ", ", r
	case '。':
		return ". ", r
	case '；':
		return "; ", r
	case '：':
		return ": ", r
	case '（':
		return " (", r
	case '）':
		return ") ", r
	case '＞':
		return ">", r
	case '–', '—', '−':
		return " - ", r
	}
	return "", r
}

// isWide says that words in the script of r are written without spaces.
func isWide(r rune) bool { return r >= 0x2e80 }

func linkLength(s string) int {
	n := strings.IndexAny(s, " \n\t\"'`)>,")
	if n < 0 {
		n = len(s)
	}
	if s[n-1] == ':' && n > 3 { // of the sentence, not of the link
		n--
	}
	return n
}

// word takes a word from i on. Names of models ("gpt-4.1", "qwen3-8b-4bit") are one word, so that their
// numbers are none; snake_case is several, except for the parameters that cap the answer.
func (s *segment) word(i int) int {
	t, start, digit, snake := s.lower, i, false, s.lower[i] == '_'
	for i++; i < len(t) && t[i]-'a' < 26; i++ { // most words are letters alone
	}
	for ; i < len(t); i++ {
		switch c := t[i]; byteClass[c] {
		case classLower:
			continue
		case classUnderscore:
			snake = true
			continue
		case classDigit:
			digit = true
			continue
		case classDash:
			if i+1 < len(t) && isAlnum(t[i+1]) && (digit || t[i+1] <= '9') {
				continue
			}
		case classDot:
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

// number takes a number from i on: 300000, 300,000, 300_000, 128k, 32mb. An id that begins with digits
// is a word, and so is a fraction.
func (s *segment) number(i int) int {
	t, start := s.lower, i
	inBrackets := start > 0 && t[start-1] == '['
	n, whole := 0, true
	for i < len(t) {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			n = min(n*10+int(c-'0'), math.MaxInt32)
			i++
			continue
		case (c == ',' || c == '_' || c == '.') && !inBrackets && group(t[i+1:]):
			i++
			continue
		case c == '.' && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9':
			whole = false
			i++
			continue
		}
		break
	}
	end := i
	for i < len(t) && (isAlnum(t[i]) || t[i] == '_') {
		i++
	}
	switch {
	case t[end:i] == "k":
		n *= 1000
	case t[end:i] == "m" && (strings.HasPrefix(t[i:], " token") || strings.HasPrefix(t[i:], "-token") || strings.HasPrefix(t[i:], " context")): // and not minutes
		n *= 1_000_000
		end = i
	}
	tok := token{s: t[start:end], n: int32(min(n, math.MaxInt32)), isNum: whole}
	switch suffix := t[end:i]; suffix {
	case "", "k":
	case "mb", "mib", "kb", "kib", "gb", "b":
		s.tokens = append(s.tokens, tok)
		tok = token{s: suffix, role: rBytes}
	case "tok", "toks", "token", "tokens":
		s.tokens = append(s.tokens, tok)
		tok = token{s: suffix, role: rToken}
	default:
		tok = token{s: t[start:i]}
	}
	s.tokens = append(s.tokens, tok)
	return i
}

// group says that s begins with exactly three digits, as behind a thousands separator.
func group(s string) bool {
	for i := range 3 {
		if i >= len(s) || s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) == 3 || s[3] < '0' || s[3] > '9'
}

func isAlnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
