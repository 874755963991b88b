package secret

import (
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// How much a name says of the value behind it.
const (
	weak   = 1 + iota // a key, which may be one of a table: only a long random value is a credential
	strong            // a credential
)

// Names of credentials end in one of these, in any case, with _, - or nothing between their words.
var (
	strongNames = []string{"token", "secret", "password", "passwd", "passphrase", "authorization", "cookie",
		"credential", "credentials", "apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey",
		"authkey", "accountkey", "masterkey", "sharedkey", "keybase"}
	weakNames = []string{"key", "auth", "sig"}
	joined    = []string{"_pass", "_pwd"} // alone, the one is a verdict and the other a directory
	mostName  = 40                        // bytes of a name that are looked at
)

// nameAt returns what the name at the end of s says, or 0.
func nameAt(s string) int {
	for s != "" && (runes.IsDigit(s[len(s)-1]) || s[len(s)-1] == '_' || s[len(s)-1] == '-') {
		s = s[:len(s)-1]
	}
	if s == "" || strings.IndexByte("ntdehysgNTDEHYSG", s[len(s)-1]) < 0 {
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
	for end > 0 && strings.IndexByte("\"'`\\]", s[end-1]) >= 0 {
		end--
	}
	force := nameAt(s[:end])
	if force == 0 {
		return 0, 0
	}
	v := value{text: s, from: i + 1, force: force, isSpaced: end < i && s[i-1] == ' ', name: end}
	if strings.HasPrefix(s[i:], ":=") || strings.HasPrefix(s[i:], "=>") {
		v.from, v.isSpaced = i+2, true
	}
	blanks := spanOf(s, v.from, func(c byte) bool { return c == ' ' || c == '\t' })
	v.isSpaced = v.isSpaced || blanks > v.from
	v.from = blanks
	v.find()
	for _, scheme := range schemes {
		if v.to-v.from > len(scheme) && strings.EqualFold(s[v.from:v.from+len(scheme)], scheme) {
			v.from += len(scheme)
		}
	}
	if v.isCredential() {
		return v.from, v.to
	}
	return 0, 0
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
	endsLine, isCode bool // nothing follows; what follows continues an expression
}

// find finds the ends of v: quotes, or the end of a word, or of the line in a header.
func (v *value) find() {
	s := v.text
	open := spanOf(s, v.from, func(c byte) bool { return c == '\\' })
	if open < len(s) && strings.IndexByte("\"'`", s[open]) >= 0 {
		quote := s[open]
		for k := open + 1; k < len(s) && s[k] != '\n'; k++ {
			if s[k] == '\\' && open == v.from && k+1 < len(s) {
				k++
			} else if s[k] == quote {
				v.from, v.to, v.isQuoted = open+1, k, true
				for v.to > v.from && s[v.to-1] == '\\' {
					v.to--
				}
				return
			}
		}
		v.from = open + 1 // the text was cut
	}
	start := v.name
	for start > 0 && inWord[s[start-1]] {
		start--
	}
	name := s[start:v.name]
	v.isEnvironment = !v.isSpaced && strings.ToUpper(name) == name
	ends := " \t\r\n\"'`\\,;)}]<>|&"
	switch {
	case v.isEnvironment && (start == 0 || s[start-1] == '\n' || s[start-1] == ' '):
		ends = " \t\r\n\"'`\\"
	case strings.EqualFold(name, "authorization"), strings.EqualFold(name, "cookie"):
		ends = "\r\n\"'`\\" // a header
	}
	v.to = spanOf(s, v.from, func(c byte) bool { return strings.IndexByte(ends, c) < 0 })
	v.endsLine = v.to == len(s) || strings.IndexByte("\r\n\\\"'`", s[v.to]) >= 0
	v.isCode = v.to < len(s) && strings.IndexByte(",)]", s[v.to]) >= 0
	if inProse := start > 1 && s[start-1] == ' ' && runes.IsLower(s[start-2]); inProse && v.isSpaced {
		v.isCode, v.endsLine = true, false // "unexpected token: string"
	}
}

// isCredential reports whether v is a credential and not a number, a reference or a name in code.
func (v *value) isCredential() bool {
	text := v.text[v.from:v.to]
	switch {
	case len(text) < 4 || refers(text):
		return false
	case v.force == weak:
		isSetting := v.isEnvironment && looksRandom(text, 8) && !strings.ContainsAny(text, "/_")
		return isSetting || isRandomKey(text)
	case isNumber(text): // of tokens, mostly
		return strings.HasSuffix(strings.ToLower(v.text[max(0, v.name-mostName):v.name]), "password")
	case v.isQuoted:
		return true
	case strings.Contains(text, "("):
		return false // code that gets it
	case looksRandom(text, 8), strings.ContainsAny(text, "0123456789!#%^*~") && !v.isCode:
		return true
	case v.isSpaced && strings.ContainsAny(text, "._"):
		return false // a member, a variable
	}
	return !v.isCode && (!v.isSpaced || v.endsLine && v.text[v.from-2] == ':')
}

// isRandomKey reports whether the value of a key looks like a credential: long, with letters of both cases and digits,
// and no path, hash or sentence.
func isRandomKey(text string) bool {
	if strings.Contains(text, "/") && strings.Contains(text, ".") || text[0] == '/' {
		return false
	}
	isToken := spanOf(text, 0, func(c byte) bool { return isOfToken(c) || c == '%' }) == len(text)
	isHex := strings.Trim(text, "0123456789abcdefABCDEF-") == ""
	return isToken && !isHex && looksRandom(text, 16) && strings.ToLower(text) != text
}
