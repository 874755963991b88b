package overflow

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// The texts are read as words with a meaning each, not as strings: "Prompt exceeds max length", "your
// input exceeds the context window" and "message longer than the maximum" differ in every word and say
// one thing. A word has the roles that it can play in an overflow; the families in families.go
// ask for roles that stand together in one sentence.

// role is a set of meanings.
type role uint64

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
	rHolds                     // what a model does with all that it has room for: accepts, allows, supports
	rLeft                      // what room there still is, which is no size of a window: left, remaining, available
	rHint                      // a word of a longer phrase that some rule looks for in the text
)

// token is a word, a number or a sign.
type token struct {
	s     string
	role  role
	n     int32 // the value of a number
	isNum bool
	sign  bool
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
		switch {
		case role&rContext != 0 && otherContext(s.tokens, i):
			role = rField
			s.tokens[i].role = role
		case role&rField != 0 && s.tokens[i].s == "cache" && i > 0 && s.tokens[i-1].s == "kv":
			role = rCapacity // where a server keeps the tokens of a conversation
			s.tokens[i].role = role
		case role&rField != 0 && s.tokens[i].s == "description" && i > 0 && (s.tokens[i-1].s == "debug" || s.tokens[i-1].s == "error"):
			role = 0 // of the error, not of a tool
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
			b = appendASCII(b, c, last, text[i+1:])
			last = rune(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if thinSpace(r) && last >= '0' && last <= '9' && group(text[i:]) {
			continue // 262 144
		}
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

// appendASCII adds one ASCII character that stands between last and rest.
func appendASCII(b []byte, c byte, last rune, rest string) []byte {
	upper := c >= 'A' && c <= 'Z'
	switch {
	case c == '\'' && last >= '0' && last <= '9' && group(rest):
		return b // 262'144
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

// thinSpace says that r is a space, or an apostrophe, that typographers set between the digits of one number.
func thinSpace(r rune) bool {
	return r == '\u00a0' || r == '\u202f' || r == '\u2009' || r == '’'
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

// number takes a number from i on: 300000, 300,000, 300_000, 300 000, 128k, 1.2m tokens, 32mb. An id that begins
// with digits is a word, and so is a fraction.
func (s *segment) number(i int) int {
	start := i
	n, whole, i := s.digits(i)
	t, end := s.lower, i
	for i < len(t) && (isAlnum(t[i]) || t[i] == '_') {
		i++
	}
	suffix := t[end:i]
	if unit := multiple(suffix, t[i:]); unit > 1 {
		n, whole = scale(t[start:end], n, unit), true
		suffix = ""
	} else if skip, unit := wordMultiple(t[i:]); unit > 1 && suffix == "" {
		n, whole = scale(t[start:end], n, unit), true
		i += skip
	}
	if !whole && (countsBytes(suffix) || suffix == "" && countsBytes(nextLetters(t[i:]))) {
		n, whole = scale(t[start:end], n, 1), true // 12.4 MB
	}
	tok := token{s: t[start:end], n: int32(min(n, math.MaxInt32)), isNum: whole}
	switch suffix {
	case "":
	case "mb", "mib", "kb", "kib", "gb", "gib", "b":
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

// digits reads the digits of a number with its separators. whole is false for a fraction.
func (s *segment) digits(i int) (n int, whole bool, end int) {
	t, start := s.lower, i
	inBrackets := start > 0 && t[start-1] == '['
	whole = true
	for i < len(t) {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			n = min(n*10+int(c-'0'), math.MaxInt32)
			i++
			continue
		case (c == ',' || c == '_' || c == '.') && !inBrackets && group(t[i+1:]),
			c == ' ' && i-start <= 3 && whole && spacedGroups(t[start:i], t[i:]) > 0:
			i++
			continue
		case c == ' ' && i-start > 3 && t[i-4] == ' ' && group(t[i+1:]): // the third group of 1 048 576
			i++
			continue
		case c == '.' && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9':
			whole = false
			i++
			continue
		}
		break
	}
	return n, whole, i
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

// spacedGroups says how many groups of three digits follow a number behind spaces, "262 144", 0 where these are
// numbers of their own. A status is followed by many a number, but by none with a unit.
func spacedGroups(first, rest string) int {
	groups := 0
	for len(rest) > 3 && rest[0] == ' ' && group(rest[1:]) {
		groups++
		rest = rest[4:]
	}
	if groups == 0 || first[0] == '0' || len(rest) > 0 && isAlnum(rest[0]) {
		return 0
	}
	if isStatusText(first) && !startsWithUnit(rest) {
		return 0
	}
	return groups
}

// isStatusText says that three digits may be an HTTP status.
func isStatusText(digits string) bool {
	return len(digits) == 3 && (digits[0] == '4' || digits[0] == '5')
}

// startsWithUnit says that the next word counts tokens.
func startsWithUnit(rest string) bool { return roleOf(nextLetters(rest))&(rToken|rInput) != 0 }

func countsBytes(unit string) bool { return unit != "" && roleOf(unit)&rBytes != 0 }

// nextLetters returns the word that a text begins with, behind a space.
func nextLetters(rest string) string {
	rest = strings.TrimPrefix(rest, " ")
	end := 0
	for end < len(rest) && (rest[end] >= 'a' && rest[end] <= 'z' || rest[end] >= utf8.RuneSelf) {
		end++
	}
	return rest[:end]
}

// multiple is what the letter behind a number stands for: 128k, 1m tokens, and not the minutes of 1m.
func multiple(suffix, rest string) int {
	switch {
	case suffix == "k":
		return 1000
	case suffix == "m" && (strings.HasPrefix(rest, " token") || strings.HasPrefix(rest, "-token") || strings.HasPrefix(rest, " context")):
		return 1_000_000
	}
	return 1
}

// wordMultiple reads the words behind a number: "1 million", the Chinese and Japanese 万, ten thousand.
func wordMultiple(rest string) (skip, unit int) {
	word := strings.TrimPrefix(rest, " ")
	if word == "" || word[0] != 'm' && word[0] != 't' && word[0] < utf8.RuneSelf {
		return 0, 1
	}
	for _, m := range [...]struct {
		word string
		unit int
	}{{"million ", 1_000_000}, {"thousand ", 1000}, {"万", 10_000}, {"萬", 10_000}, {"만", 10_000}} {
		if strings.HasPrefix(word, m.word) {
			return len(rest) - len(word) + len(strings.TrimSuffix(m.word, " ")), m.unit
		}
	}
	return 0, 1
}

// scale multiplies a number with the unit behind it, its fraction included: "1.2" million.
func scale(digits string, n, unit int) int {
	if dot := strings.IndexByte(digits, '.'); dot >= 0 {
		if f, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64); err == nil {
			return int(math.Round(min(f*float64(unit), math.MaxInt32)))
		}
	}
	return min(n*unit, math.MaxInt32)
}

func isAlnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
