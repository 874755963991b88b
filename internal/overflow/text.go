package overflow

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
)

// plainSigns are signs in the form in which the rules know them: those of typographers and of East Asian scripts, the
// entities of HTML, and units whose case would divide them.
var plainSigns = strings.NewReplacer("‘", "'", "’", "'", "´", " ", "“", " ", "”", " ", "「", " ", "」", " ", "«", " ",
	"»", " ", "„", " ", "\u00a0", " ", "\u2009", " ", "\u202f", " ", "\u3000", " ", "\ufeff", "", "\u200b", "",
	"\u200c", "", "\u200d", "", "\u200e", "", "\u200f", "", "≤", "<=", "≥", ">=", "，", ", ", "、", ", ", "。", ". ",
	"；", "; ", "：", ": ", "（", " (", "）", ") ", "＞", ">", "–", " - ", "—", " - ", "−", " - ",
	"&gt;", ">", "&lt;", "<", "&quot;", " ", "MiB", "mib", "KiB", "kib", "GiB", "gib",
	"０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")

// places are where or when something was, and no sizes: "client.go:263:17", "[chat:263]", "2026-10-01".
var places = prose.NewPattern(`\[[^\s\]]+:\d+\]|(?:(\.[a-z]{1,4})(?::\d+)+)|\b\d{4}-\d\d-\d\d`)

// tags stand around what one field says: <Message>Input is too long: 9000 tokens</Message>.
var tags = prose.NewPattern(`</?[a-z]+>`)

// brokenNumber is a number that a line break cuts in two: neither half is the number.
var brokenNumber = prose.NewPattern(`\d+[,._]?\d{0,2} *\n *[,._]?\d+(?:[,._]\d{3})*`)

// someNumber stands for a number that nobody can know. It is above maxLimit.
const someNumber = "9999999999"

// normalise lowers the case, sets the words of camelCase and of scripts without spaces apart from others, and drops
// links (a help page's address may hold every key word), quotes and apostrophes. wide says that letters are left which
// are not ASCII.
func normalise(text string) (lower string, wide bool) {
	text = plainSigns.Replace(text)
	b := make([]byte, 0, len(text)+len(text)/16+16)
	last := ' '
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError, r == '\'' && unicode.IsLetter(last): // model's, doesn't
			continue
		case r == '\'' && last >= '0' && last <= '9' && group(text[i+1:]): // 262'144
			continue
		case strings.HasPrefix(text[i:], "://"):
			size = linkLength(text[i:])
			r, b = ' ', append(bytes.TrimRight(b, "abcdefghijklmnopqrstuvwxyz0123456789"), ' ') // its scheme
		case r == '`', r == '\'', r < ' ' && r != '\n':
			r, b = ' ', append(b, ' ')
		default:
			isCamel := r >= 'A' && r <= 'Z' && last >= 'a' && last <= 'z'
			if isCamel || isWide(r) != isWide(last) && last > ' ' && r > ' ' {
				b = append(b, ' ')
			}
			wide = wide || r >= utf8.RuneSelf
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
		last = r
	}
	lower = tags.Get().ReplaceAllString(string(b), " . ")
	lower = places.Get().ReplaceAllString(lower, "$1 ")
	return brokenNumber.Get().ReplaceAllString(lower, someNumber), wide
}

// isWide reports whether words in the script of r are written without spaces.
func isWide(r rune) bool { return r >= 0x2e80 }

func linkLength(s string) int {
	n := strings.IndexAny(s, " \n\t\"'`)>,")
	if n < 0 {
		n = len(s)
	}
	if s[n-1] == ':' && n > len("://") { // of the sentence, not of the link
		n--
	}
	return n
}

func isAlnum(c byte) bool { return runes.IsLower(c) || runes.IsDigit(c) }

// digitsEnd returns where the digits from i on end.
func digitsEnd(text string, i int) int {
	for i < len(text) && runes.IsDigit(text[i]) {
		i++
	}
	return i
}

// group reports whether s begins with exactly three digits, as behind a thousands separator.
func group(s string) bool { return digitsEnd(s, 0) == len("000") }
