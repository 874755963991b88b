package secret

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// How much a name says of the value behind it.
const (
	weak   = 1 + iota // a key, which may be one of a table: only a long random value is a credential
	quoted            // a credential if it is a string, else a verdict or a directory
	strong            // a credential
)

// Names of credentials end in one of these, in any case, with _, - or nothing between their words.
var (
	strongNames = []string{"token", "secret", "password", "passwd", "passphrase", "authorization", "cookie",
		"credential", "credentials", "apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey",
		"authkey", "accountkey", "masterkey", "sharedkey", "keybase", "passcode", "seedphrase", "storepass", "keypass",
		"securestring", "subscriptionkey", "dbpass", "mnemonic"}
	weakNames = []string{"key", "auth", "sig", "signature", "seed"}
	joined    = []string{"_pass", "_pwd"} // alone, the one is a verdict and the other a directory
	mostName  = 40                        // bytes of a name that are looked at
)

// before says which letters stand before the last one of a name, by that: most words are told from it.
var before [32]uint32

func init() {
	others := []string{"pwd", "pass", "identifiedby", "fill", "type"}
	for _, name := range slices.Concat(strongNames, weakNames, joined, others) {
		before[name[len(name)-1]&31] |= 1 << (name[len(name)-2] & 31)
	}
}

// mayEndName reports whether a name of a credential may end in front of s[i], or a string that holds one.
func mayEndName(s string, i int) bool {
	if i < 2 {
		return false
	}
	c := s[i-1]
	return before[c&31]>>(s[i-2]&31)&1 != 0 || runes.IsDigit(c) || strings.IndexByte("\"'=", c) >= 0
}

// nameAt returns what the name at the end of s says, or 0.
func nameAt(s string) int {
	for s != "" && (runes.IsDigit(s[len(s)-1]) || s[len(s)-1] == '_' || s[len(s)-1] == '-') {
		s = s[:len(s)-1]
	}
	if len(s) < 2 || before[s[len(s)-1]&31]>>(s[len(s)-2]&31)&1 == 0 {
		return 0
	}
	var letters [48]byte // the last of them, in lower case
	n, start := len(letters), len(s)
	for ; start > 0 && len(s)-start < mostName && (inWord[s[start-1]] || s[start-1] == '-'); start-- {
		if c := s[start-1]; c != '_' && c != '-' {
			n--
			letters[n] = c | 0x20
		}
	}
	if word, ok := strings.CutSuffix(s[:start], " "); ok && string(letters[n:]) == "key" {
		return max(weak, nameAt(word[max(0, len(word)-mostName):]+"key")) // API key
	}
	name := string(letters[n:])
	for _, end := range strongNames {
		if strings.HasSuffix(name, end) {
			return strong
		}
	}
	for _, end := range joined {
		if k := len(s) - len(end); k > start && strings.EqualFold(s[k:], end) && !strings.HasSuffix(name, "oldpwd") {
			return strong
		}
	}
	if name == "pwd" && start > 0 && s[start-1] == ';' { // of a connection string
		return strong
	} else if name == "pass" || name == "pwd" {
		return quoted
	}
	for _, end := range weakNames {
		k := len(s) - len(end)
		isApart := k <= start || !runes.IsLetter(s[k-1]) || runes.IsLower(s[k-1]) && runes.IsUpper(s[k])
		if strings.HasSuffix(name, end) && isApart && !strings.Contains(name, "public") {
			return weak
		}
	}
	return 0
}

// namedValue returns the credential behind the separator s[i], if the name in front of it is one of a credential.
func namedValue(s string, i int) (from, to int) {
	isOperator := i > 0 && strings.IndexByte("!<>+=:", s[i-1]) >= 0
	if isOperator || strings.HasPrefix(s[i:], "==") || strings.HasPrefix(s[i:], "::") {
		return 0, 0
	}
	end := i
	for end > 0 && s[end-1] == ' ' && i-end < 3 {
		end--
	}
	for end > 0 && strings.IndexByte("\"'`\\[]", s[end-1]) >= 0 {
		end--
	}
	end = behindType(s, i, end)
	force := max(nameAt(s[:end]), entryAt(s, end))
	if force == 0 || isPlace(s, i, end) {
		return botToken(s, i)
	}
	v := value{text: s, from: i + 1, force: force, isSpaced: end < i && s[i-1] == ' ', name: end}
	if strings.HasPrefix(s[i:], ":=") || strings.HasPrefix(s[i:], "=>") {
		v.from, v.isSpaced = i+2, true
	} else if strings.HasPrefix(s[i:], ":-") { // ${NAME:-value}
		v.from = i + 2
	}
	blanks := spanOf(s, v.from, isBlank)
	v.isSpaced = v.isSpaced || blanks > v.from
	if v.from = blanks; force == strong && s[i] == ':' && v.block() {
		return v.from, v.to
	}
	v.find()
	v.skipScheme()
	if v.isCredential() {
		return v.from, v.to
	}
	return 0, 0
}

// behindType returns where the name ends whose type ends at s[end], as in "password: String =", or end.
func behindType(s string, i, end int) int {
	start := end
	for start > 0 && (inWord[s[start-1]] || s[start-1] == '?') {
		start--
	}
	name := strings.TrimRight(s[:start], " ")
	if s[i] != '=' || start == len(name) || !strings.HasSuffix(name, ":") {
		return end
	}
	return len(name) - 1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isPlace reports whether the name in front of the separator s[i] is a part of an ARN, or the file in which a search
// found a line.
func isPlace(s string, i, end int) bool {
	if s[i] != ':' || end < i || i+1 == len(s) || isBlank(s[i+1]) {
		return false
	}
	digits := spanOf(s, i+1, runes.IsDigit)
	if digits > i+1 && digits < len(s) && s[digits] == ':' {
		return true
	}
	for end > 0 && (inWord[s[end-1]] || s[end-1] == '-') {
		end--
	}
	return end > 1 && s[end-1] == ':' && inWord[s[end-2]]
}

// botToken returns the token of Telegram behind the number of a bot and s[i].
func botToken(s string, i int) (from, to int) {
	if i < 8 || !strings.HasPrefix(s[i:], ":AA") || !isNumber(s[i-8:i]) {
		return 0, 0
	}
	end := spanOf(s, i+1, func(c byte) bool { return inWord[c] || c == '-' })
	if end-i < 34 {
		return 0, 0
	}
	return i + 1, end
}

// value is what stands behind a name of credentials.
type value struct {
	text             string
	name             int // where the name ends
	from, to         int
	force            int
	isQuoted         bool
	isSpaced         bool // blanks stand beside the separator
	isEnvironment    bool // NAME=value
	hasScheme        bool // "Bearer" stood in front of it
	endsLine, isCode bool // nothing follows; what follows continues an expression
}

// skipScheme leaves the scheme in front of the value of a header.
func (v *value) skipScheme() {
	for _, scheme := range schemes {
		if v.to-v.from > len(scheme) && strings.EqualFold(v.text[v.from:v.from+len(scheme)], scheme) {
			v.from, v.hasScheme = v.from+len(scheme), true
		}
	}
}

// block finds a value that stands below its name in YAML: in a block, or alone if it is random.
func (v *value) block() bool {
	s, from := v.text, v.from
	isBlock := from < len(s) && (s[from] == '|' || s[from] == '>')
	if isBlock {
		from = spanOf(s, from+1, func(c byte) bool { return strings.IndexByte("-+ 123456789", c) >= 0 })
	}
	next := afterBreak(s, from)
	to := next + len(firstLine(s[next:]))
	text := strings.TrimLeft(s[next:to], " ")
	if next == from || len(text) < 4 || refers(text) || strings.HasPrefix(text, "---") {
		return false
	}
	isIndented, isAlone := len(text) < to-next, !strings.ContainsAny(text, " :") && looksRandom(text, 8)
	if !isIndented && !isRandomKey(text) || !isBlock && !isAlone {
		return false
	}
	v.from, v.to = to-len(text), to
	return true
}

// afterBreak returns where the line behind s[i] begins if it ends there, in text or in a JSON string.
func afterBreak(s string, i int) int {
	for _, end := range []string{"\n", "\r\n", `\n`} {
		if strings.HasPrefix(s[i:], end) {
			return i + len(end)
		}
	}
	return i
}

// firstLine returns what stands in front of the end of the first line of s, or of a string.
func firstLine(s string) string {
	if n := strings.IndexAny(s, "\n\r\\\""); n >= 0 {
		return s[:n]
	}
	return s
}

// literals stand in front of a string that is a value as it is: its prefix, or what makes bytes of it.
var literals = []string{"b", "r", "rb", "br", "u", "f", "@", "$", "[]byte(", "Buffer.from("}

// find finds the ends of v: quotes, or the end of a word, or of the line in a header.
func (v *value) find() {
	s := v.text
	for _, l := range literals {
		if rest, ok := strings.CutPrefix(s[v.from:], l); ok && strings.IndexByte("\"'\\", (rest + " ")[0]) >= 0 {
			v.from += len(l)
		}
	}
	open := spanOf(s, v.from, func(c byte) bool { return c == '\\' })
	if open < len(s) && strings.IndexByte("\"'`", s[open]) >= 0 {
		if start := v.start(); start > 0 && s[start-1] == s[open] && s[v.name] == ':' {
			v.to = v.from // "password:" is a text
			return
		}
		if v.to = closing(s, open, open > v.from); v.to > 0 {
			v.from, v.isQuoted = open+1, true
			return
		}
		v.from = open + 1 // the text was cut
	}
	start := v.start()
	name := s[start:v.name]
	v.isEnvironment = !v.isSpaced && strings.ToUpper(name) == name
	ends := " \t\r\n\"'`\\,;)}]<>|&"
	switch {
	case start > 0 && s[start-1] == ';':
		ends = ";\r\n\"'`\\" // of a connection string
	case v.isEnvironment && (start == 0 || s[start-1] == '\n' || s[start-1] == ' '):
		ends = " \t\r\n\"'`\\"
	case strings.EqualFold(name, "authorization"), strings.EqualFold(name, "cookie"):
		ends = "\r\n\"'`\\" // a header
	}
	v.to = spanOf(s, v.from, func(c byte) bool { return strings.IndexByte(ends, c) < 0 })
	v.endsLine = v.to == len(s) || strings.IndexByte("\r\n\\\"'`", s[v.to]) >= 0
	behind := s[v.to:]
	isList := s[v.from-1] == '=' && strings.HasPrefix(behind, ",") && !strings.HasPrefix(behind, ", ") // a=x,b=y
	v.isCode = v.to < len(s) && strings.IndexByte(",)]", s[v.to]) >= 0 && !isList
	if inProse := start > 1 && s[start-1] == ' ' && runes.IsLower(s[start-2]); inProse && v.isSpaced {
		v.isCode, v.endsLine = true, false // "unexpected token: string"
	}
}

// closing returns where the string ends whose quote is s[open], or 0. In a string that stands in another one, quotes
// are escaped.
func closing(s string, open int, isEscaped bool) int {
	for k := open + 1; k < len(s) && s[k] != '\n'; k++ {
		if s[k] == '\\' && !isEscaped && k+1 < len(s) {
			k++
		} else if s[k] == s[open] {
			for k > open+1 && s[k-1] == '\\' {
				k--
			}
			return k
		}
	}
	return 0
}

// start returns where the name of v begins.
func (v *value) start() int {
	start := v.name
	for start > 0 && inWord[v.text[start-1]] {
		start--
	}
	if start > 0 && start < v.name && v.text[start-1] == '\\' {
		start++ // behind a \n
	}
	return start
}

// isCredential reports whether v is a credential and not a number, a reference or a name in code.
func (v *value) isCredential() bool {
	text, name := v.text[v.from:v.to], strings.ToLower(v.text[v.start():v.name])
	hasDigit := strings.ContainsAny(text, "0123456789")
	switch {
	case len(text) < 4 || refers(text) || strings.HasSuffix(name, strings.ToLower(text)): // "password": "Password"
		return false
	case strings.HasSuffix(name, "mnemonic"): // of a wallet, not of an assembler
		return strings.Count(text, " ") > 10
	case v.force == weak:
		isSetting := v.isEnvironment && looksRandom(text, 8) && !strings.ContainsAny(text, "/_")
		return isSetting || isRandomKey(text) || v.isInQuery() && looksRandom(text, 16)
	case v.force == quoted:
		return v.isQuoted && !strings.ContainsAny(text, "/ ") && !isNumber(text)
	case isNumber(text): // of tokens, mostly
		return strings.HasSuffix(name, "password")
	case strings.HasPrefix(name, "credential"), name == "authorization" && !v.hasScheme:
		return hasDigit
	case v.isQuoted, v.hasScheme && !strings.Contains(text, " "):
		return true
	case strings.ContainsAny(text, "(["), name == "cookie" && !strings.Contains(text, "="):
		return false // code that gets it
	case looksRandom(text, 8), hasDigit && !v.isCode, strings.ContainsAny(text, "!#%^*~") && !v.isCode:
		return true
	case v.isSpaced && strings.ContainsAny(text, "._"):
		return false // a member, a variable
	}
	isAlone := v.endsLine && (v.text[v.from-2] == ':' || v.isSetting())
	return !v.isCode && (!v.isSpaced || isAlone)
}

// isInQuery reports whether v is a parameter of a URL.
func (v *value) isInQuery() bool {
	start := v.name
	for start > 0 && (inWord[v.text[start-1]] || v.text[start-1] == '-') {
		start--
	}
	return start > 0 && (v.text[start-1] == '?' || v.text[start-1] == '&')
}

// isSetting reports whether "name = value" is a line of a file of settings and not of code: its name is a path of them,
// or it stands below the heading of a section.
func (v *value) isSetting() bool {
	before := v.text[max(0, v.name-2_000):v.name]
	start := strings.LastIndexByte(before, '\n') + 1
	path := before[start:]
	isOfObject := strings.HasPrefix(path, "self.") || strings.HasPrefix(path, "this.")
	if strings.Count(path, ".") > 1 && !strings.ContainsAny(path, " \t") && !isOfObject {
		return true
	}
	above := before[:start]
	n := strings.LastIndex(above, "]\n")
	if n < 0 || v.name-len(path) != v.start() {
		return false
	}
	heading := above[strings.LastIndexByte(above[:n], '\n')+1 : n]
	return strings.HasPrefix(heading, "[") && !strings.ContainsAny(heading, ",'\"()")
}

// isRandomKey reports whether the value of a key looks like a credential: long, with letters of both cases and digits,
// and no path, hash or sentence.
func isRandomKey(text string) bool {
	if strings.Contains(text, "/") && strings.Contains(text, ".") || text[0] == '/' {
		return false
	}
	isToken := spanOf(text, 0, func(c byte) bool { return isOfToken(c) || c == '%' }) == len(text)
	const numbers = "0123456789"
	isName := !strings.ContainsAny(strings.TrimRight(text, numbers), numbers) // SettingsOfUser2
	isRandom := looksRandom(text, 16) && strings.ToLower(text) != text && !isHex(text)
	return isToken && isRandom && !isName
}
