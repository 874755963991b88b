package secret

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// How much a name says of the value behind it.
const (
	weak     = 1 + iota // a key, which may be one of a table: only a random value is a credential
	quoted              // a credential if it is a string, else a verdict or a directory
	strong              // a credential
	password            // a credential, and nothing of a parser
)

// Names of credentials end in one of these, in any case, with _, - or nothing between their words.
var names = []string{
	weak:   "key auth sig signature seed",
	quoted: "pass pwd",
	strong: `token secret authorization cookie credential credentials apikey accesskey secretkey privatekey signingkey
		encryptionkey secretstring authkey accountkey masterkey sharedkey subscriptionkey keybase seedphrase mnemonic`,
	password: `password passwd passphrase passcode storepass keypass dbpass requirepass masterauth psk securestring
		identifiedby`,
}

// ending is the end of a name.
type ending struct {
	word  string
	force int
}

var (
	endings [32][]ending // by their last letters, the strongest first
	lasts   [256]uint32  // the letters in front of those; any in front of a digit
)

func init() {
	for force, words := range slices.Backward(names) {
		for word := range strings.FieldsSeq(words) {
			last, letter := word[len(word)-1], uint32(1)<<(word[len(word)-2]&31)
			endings[last&31] = append(endings[last&31], ending{word, force})
			lasts[last] |= letter
			lasts[runes.ToUpper(last)] |= letter
		}
	}
	for _, c := range []byte("0123456789_") {
		lasts[c] = 1<<32 - 1
	}
}

// mayEndName reports whether the two bytes in front of s[end] may end the name of a credential.
func mayEndName(s string, end int) bool { return end > 1 && lasts[s[end-1]]>>(s[end-2]&31)&1 != 0 }

// nameAt returns where the name begins that ends s, and what it says, or 0.
func nameAt(s string) (start, force int) {
	for s != "" && (runes.IsDigit(s[len(s)-1]) || s[len(s)-1] == '_' || s[len(s)-1] == '-') {
		s = s[:len(s)-1]
	}
	if !mayEndName(s, len(s)) {
		return 0, 0
	}
	var letters [32]byte // of it, in lower case
	n, start := len(letters), len(s)
	for n > 0 && start > 0 {
		c, word := s[start-1], string(letters[n:])
		isTwo := c == ' ' && (word == "key" || word == "by") // API key, identified by
		if !inWord[c] && c != '-' && !isTwo {
			break
		} else if runes.IsLetter(c) {
			n--
			letters[n] = c | 0x20
		}
		start--
	}
	name := string(letters[n:])
	for _, end := range endings[s[len(s)-1]&31] {
		k := len(s) - len(end.word)
		isApart := k <= start || !runes.IsLetter(s[k-1]) || runes.IsLower(s[k-1]) && runes.IsUpper(s[k])
		switch {
		case !strings.HasSuffix(name, end.word):
			continue
		case end.force >= strong:
			return start, end.force
		case !isApart || strings.HasPrefix(name, "public") || name == "oldpwd":
			return 0, 0
		case end.force == weak:
			return start, weak
		case k > start && !runes.IsLetter(s[k-1]), start > 0 && s[start-1] == ';': // DB_PASS, --pass, ;Pwd=
			return start, strong
		case name == end.word:
			return start, quoted
		}
	}
	return 0, 0
}

// How sure it is that a joint gives the name the value behind it.
const (
	near     = iota // only a random value is a credential
	assigned        // any but a number or a word of code
	given           // any but a number
)

// joint is what may stand between a name and its value, behind the quotes and brackets that close the name.
type joint struct {
	least    int     // the force that the name needs
	front    pattern // of the name and what stands in front of it, or nil
	begins   string  // the bytes it may begin with; * is any, and nothing any behind a blank
	text     pattern // of it, or nil if it is a blank
	sure     int
	isString bool                // the value stands in quotes
	ends     string              // a value without quotes, if not all that ends a word
	holds    func(v *value) bool // what else must be so, or nil
}

const setter = `(?i:(?:\b|_)(?:set|add|put|fill|type|append|define|header|env|getenv)\w*)` // gives a name a value

// joints are tried in this order until one leads to a credential.
var joints = []joint{
	// Authorization: x, ;Password=x, TOKEN=x
	{least: strong, front: re(`(?i:authorization|cookie)$`), begins: ":=", text: re(`^(?::|=>?)[ \t]*`),
		sure: assigned, ends: "\r\n\"'`\\"},
	{least: strong, front: re(`;\w+$`), begins: "=", text: re(`^=`), sure: assigned, ends: ";\r\n\"'`\\"},
	{least: weak, front: re(`(?:^|[ \n])[A-Z\d_]+$`), begins: "=", text: re(`^=`), sure: assigned,
		ends: " \t\r\n\"'`\\"},
	// token: x, "token": "x", env["token"] = "x", token => x, token := x, ${TOKEN:-x}, token%3Dx, token: String = "x"
	{least: weak, begins: ":=%", text: re(`^(?:::? |:[=-]?|=>?|%3D)[ \t]*`), sure: assigned, holds: isAssignment},
	{least: weak, begins: ":", text: re(`^: ?[\w?.*&<>\[\]| ]+ = *`), sure: assigned, isString: true},
	// token: | and x in the next line
	{least: strong, begins: ":", text: re(`^: *[|>]?[-+\d]*(?:\\n|\r?\n) *`), sure: given, ends: "\n\r\\\"",
		holds: isBelow},
	// {"name": "TOKEN", "value": "x"}, {"element": "Password field", "text": "x"}
	{least: strong, begins: ",\r\nvd{", text: re(`^[\s,{\\n"'-]*(?i:value|default)\\*["']?\s*[:=]\s*`),
		sure: assigned, holds: isEntry},
	{least: password, begins: "*", text: re(`^[^{}\n]*?["'](?:text|value)\\*["']: ?`), sure: given, isString: true,
		holds: isField},
	// "token": {"type": "string", "value": "x"}, PASSWORD FOR me = 'x'
	{least: strong, begins: ":", text: re(`^: *\{[^{}]*?"value\\*": *`), sure: given, isString: true},
	{least: password, text: re(`^FOR \S+ *= *`), sure: given, isString: true},
	// <token>x</token>, <add key="token">x</add>, <key>token</key> <string>x</string>
	{least: strong, front: re(`(?:<(?:[\w-]+:)?|(?:<key>|(?:name|key)=\\*["'])[\w.-]*)\b\w+$`), begins: "><",
		text: re(`^(?:>|</key>\s*<string>)`), sure: given, ends: "<\n", holds: isElement},
	// TOKEN || "x", .password("x"), setToken("x"), auth=("me", "x"), getByLabel("Password").fill("x")
	{least: strong, begins: "|?)", text: re(`^[)\]]*\s*(?:\|\||\?\?|\?:) *`), sure: given, isString: true},
	{least: strong, front: re(`(?i)(?:\.password|(?:\b|_)(?:set|with)\w*)$`), begins: "(", text: re(`^\(`), sure: given,
		isString: true},
	{least: weak, front: re(`(?i)auth$`), begins: "(=", text: re(`^=? ?\(\\*["'][^"'\n]*["'], *`), sure: given,
		isString: true},
	{least: strong, begins: ")", text: re(`^\)\.(?:fill|type|send_?[kK]eys)\(`), sure: given, isString: true},
	// setenv("token", "x"), get("TOKEN", "x")
	{least: strong, front: re(`(?:` + setter + `\( ?\\*["'][^"']*|\( ?\\*["'][A-Z\d_]+)$`), begins: ",",
		text: re(`^, *`), sure: given, isString: true},
	// --token x, set THE_TOKEN x, login me password x, PASSWORD 'x', :token "x", TOKEN "x"
	{least: strong, sure: given, holds: isOfFlag},
	{least: strong, front: re(`\b(?:set|setx|ENV) (?:-\w+ )*\w+$`), sure: given, holds: isOfCommand},
	{least: password, front: re(`login \S+\s+\w+$`), sure: given},
	{least: password, sure: given, isString: true, holds: isLiteral},
	{least: strong, front: re(`(?:(?:^|[ :])[A-Z\d_]+|:[\w-]+)$`), sure: given, isString: true, holds: isLiteral},
	// "token", "x", token x, token is x, token == "x"
	{least: weak, begins: ",", text: re(`^, *`), sure: near, isString: true},
	{least: strong, text: re(`^(?:===? *)?(?:is:? )?`), sure: near},
	// password to go on:, and x below
	{least: password, text: re(`^[\w ]+:\s*\n\s*`), sure: near},
	// requirepass x in a line of its own; password is x, password for me: x
	{least: password, front: re(`(?:^|\n)[ \t]*\w+$`), sure: given, holds: isLast},
	{least: strong, sure: given, holds: isTold},
}

func (j *joint) mayBegin(c byte, isBehindBlank bool) bool {
	return j.begins == "" && isBehindBlank || j.begins == "*" || strings.IndexByte(j.begins, c) >= 0
}

const (
	mostTail  = 60  // bytes in front of a name that joint.front sees
	mostJoint = 200 // bytes of a joint, or of a sentence
)

// named returns the credential behind the name that ends at s[end].
func (f *finder) named(s string, end int) (from, to int) {
	if end == len(s) || strings.IndexByte("\"'`\\[] \t\r\n:=%|?(<>", s[end]) < 0 {
		return 0, 0
	}
	start, force := nameAt(s[:end])
	behind := strings.TrimLeft(s[end:], "\"'`\\[]")
	closed := len(s) - len(behind)
	behind = strings.TrimLeft(behind, " \t")
	sign := len(s) - len(behind)
	if force == 0 || behind == "" {
		return 0, 0
	} else if behind[0] == '(' && !strings.ContainsAny(behind[:min(len(behind), 4)], "\"'`") {
		return 0, 0 // of a variable, as most calls: it need not be tried
	}
	v := value{s: s, force: force, front: s[max(0, start-mostLine):start], name: s[start:end], closing: s[end:closed]}
	for i := range joints {
		j := &joints[i]
		if j.least > force || !j.mayBegin(behind[0], sign > closed) {
			continue
		}
		if v.joint, v.from = j, sign; j.text != nil {
			text := j.text().FindStringIndex(behind[:min(len(behind), mostJoint)])
			if text == nil {
				continue
			}
			v.from += text[1]
		}
		v.sign = s[closed:v.from]
		v.find()
		f.work += mostTail + len(v.sign) + len(v.text)
		if j.isString && !v.isQuoted || j.holds != nil && !j.holds(&v) {
			continue
		}
		if j.front != nil && !j.front().MatchString(s[max(0, start-mostTail):end]) {
			continue
		}
		if strings.Contains(v.text, mark) {
			break // it is left out already
		} else if len(v.text) > 3 && v.isCredential() {
			return v.from, v.from + len(v.text)
		}
	}
	return 0, 0
}

// value is what stands behind a name of credentials.
type value struct {
	*joint
	s             string
	force         int
	name, front   string // and what stands in front of that
	closing, sign string // between the name and the value
	from          int    // where the value begins
	text, behind  string // it, and what stands behind it
	isQuoted      bool
	hasScheme     bool // "Bearer" stood in front of it
}

var (
	literals = []string{"b", "r", "rb", "br", "u", "f", "@", "$", "[]byte(", "Buffer.from("} // make a string a value
	schemes  = []string{"Bearer ", "Basic ", "Token ", "ApiKey "}
)

// find finds the ends of a value: its quotes, or where a word ends, without a scheme.
func (v *value) find() {
	for _, l := range literals {
		if s, ok := strings.CutPrefix(v.s[v.from:], l); ok && s != "" && strings.IndexByte("\"'`\\", s[0]) >= 0 {
			v.from += len(l)
		}
	}
	s := v.s[v.from:]
	v.isQuoted, v.hasScheme = false, false
	if open := len(s) - len(strings.TrimLeft(s, `\`)); open < len(s) && strings.IndexByte("\"'`", s[open]) >= 0 {
		v.from += open + 1
		v.text, v.isQuoted = quotedIn(s[open+1:], s[open], open > 0)
	}
	if !v.isQuoted {
		v.text = v.s[v.from:until(v.s, v.from, cmp.Or(v.ends, " \t\r\n\"'`\\,;)}]<>|&"))]
	}
	if !v.isQuoted && v.sure != assigned {
		v.text = strings.TrimRight(v.text, ".:") // of a sentence, or of an error that quotes a command
	}
	for _, scheme := range schemes {
		if len(v.text) > len(scheme) && strings.EqualFold(v.text[:len(scheme)], scheme) {
			v.from, v.text, v.hasScheme = v.from+len(scheme), v.text[len(scheme):], true
		}
	}
	v.behind = v.s[v.from+len(v.text):]
}

// quotedIn returns what stands in front of the quote in a line. In a string that stands in another one, it is escaped.
func quotedIn(s string, quote byte, isEscaped bool) (text string, ok bool) {
	for i := 0; i < len(s) && s[i] != '\n'; i++ {
		if s[i] == '\\' && !isEscaped {
			i++
		} else if s[i] == quote {
			return strings.TrimRight(s[:i], `\`), true
		}
	}
	return "", false
}

// isCredential reports whether v is a credential and not a number, a reference or a word of code.
func (v *value) isCredential() bool {
	name, isWord := strings.ToLower(v.name), !strings.Contains(v.text, " ")
	switch {
	case refers(v.text), strings.HasSuffix(name, strings.ToLower(v.text)): // "password": "Password"
		return false
	case strings.HasSuffix(name, "mnemonic"): // of a wallet, not of an assembler
		return strings.Count(v.text, " ") > 10
	case v.force == weak && v.sure != given:
		isCapital := strings.ToUpper(v.name) == v.name && !strings.ContainsAny(v.sign, " \t")
		isSetting := isCapital && looksRandom(v.text, 8) && !strings.ContainsAny(v.text, "/_")
		isInQuery := strings.HasSuffix(v.front, "?") || strings.HasSuffix(v.front, "&")
		return isSetting || isRandom(v.text) || isInQuery && looksRandom(v.text, 16)
	case isNumber(v.text): // of tokens, mostly
		return v.force == password && v.sure != near
	case v.force == quoted:
		return v.sure != near && v.isQuoted && isWord && !isPath(v.text)
	case v.sure == near && isHex(v.text):
		return len(v.text) >= 32
	case v.sure == near:
		return isRandom(v.text) || v.hasScheme && isWord
	case v.sure == given, v.hasScheme && isWord:
		return true
	case strings.HasPrefix(name, "credential"), name == "authorization" && !v.hasScheme:
		return hasDigit(v.text)
	}
	return v.isQuoted || v.isNoCode()
}

// isNoCode reports whether an assigned value that stands in no quotes is none of a program's words.
func (v *value) isNoCode() bool {
	isSpaced := strings.ContainsAny(v.sign, " \t>") || strings.HasPrefix(v.sign, ":=")
	isList := v.sign == "=" && strings.HasPrefix(v.behind, ",") && !strings.HasPrefix(v.behind, ", ") // a=x,b=y
	isCode := v.behind != "" && strings.IndexByte(",)]", v.behind[0]) >= 0 && !isList                 // f(token=token)
	n := len(v.front)
	isProse := isSpaced && n > 1 && v.front[n-1] == ' ' && v.front[n-2] >= 'a' // unexpected token: string
	switch {
	case strings.ContainsAny(v.text, "(["), strings.HasSuffix(v.name, "ookie") && !strings.Contains(v.text, "="):
		return false
	case looksRandom(v.text, 8):
		return true
	case isCode || isProse && (v.force < password || !hasDigit(v.text)): // wrong password: abc1
		return false
	case hasDigit(v.text), strings.ContainsAny(v.text, "!#%^*~"), !isSpaced:
		return true
	}
	isLine := v.behind == "" || strings.IndexByte("\r\n\\\"'`", v.behind[0]) >= 0
	isSetting := strings.Contains(v.sign, ":") || setting().MatchString(v.front)
	return isLine && isSetting && !strings.ContainsAny(v.text, "._") // no member, no variable
}

// setting matches in front of a line of a file of settings: a path of them, or the heading of a section.
var setting = re(`(?:(?:^|\n)(?:[\w-]+\.){2,}|\[[^,'"()\n]+\]\n(?:[^\n]*\n)*)$`)

// What a joint needs beside its text.

// isAssignment: no ARN and no line that a search found has it, and "password:" is no text.
func isAssignment(v *value) bool {
	if v.closing != "" || v.sign[0] != ':' {
		return true
	}
	isField := v.sign == ":" && (strings.HasSuffix(v.front, ":") || strings.Contains(v.text, ":"))
	isText := v.isQuoted && strings.HasSuffix(v.front, strings.TrimLeft(v.behind, `\`)[:1])
	return !isField && !isText
}

// isBelow: it is a block, or a random word in a line of its own.
func isBelow(v *value) bool {
	isIndented, isBlock := strings.HasSuffix(v.sign, " "), strings.ContainsAny(v.sign, "|>")
	if strings.ContainsAny(v.text, " :") || !looksRandom(v.text, 8) {
		return isIndented && isBlock
	}
	return isIndented || isRandom(v.text)
}

func isEntry(v *value) bool { return !strings.EqualFold(v.name, "token") } // of a parser

func isField(v *value) bool { return v.text != "" && !strings.Contains(v.text, " ") && !isPath(v.text) }

func isElement(v *value) bool { return strings.HasPrefix(v.behind, "</") }

func isOfFlag(v *value) bool { return v.name[0] == '-' && isOfCommand(v) }

func isOfCommand(v *value) bool {
	isName := v.closing == "" && strings.ContainsAny(v.name, "_-")
	isReference := isPath(v.text) || strings.HasPrefix(v.text, "id=")
	return isName && v.text != "" && v.text[0] != '-' && !isReference
}

var title = re(`^[A-Z][a-z]*$| `)

func isLiteral(v *value) bool { return v.closing == "" && v.text != "" && !title().MatchString(v.text) }

func isLast(v *value) bool { return hasDigit(v.text) && (v.behind == "" || v.behind[0] == '\n') }

// isTold: a sentence ends in it, and it is no word.
func isTold(v *value) bool {
	line := strings.TrimRight(v.s[v.from:until(v.s[:min(len(v.s), v.from+mostJoint)], v.from, "\n\r\\\"")], " .")
	v.text = line[strings.LastIndexByte(line, ' ')+1:]
	v.from += len(line) - len(v.text)
	front := strings.TrimRight(line[:len(line)-len(v.text)], " ")
	isMixed := strings.ToLower(v.text) != v.text && strings.ToUpper(v.text) != v.text
	isSure := strings.HasSuffix(strings.TrimSuffix(front, ":"), "is") || isMixed && strings.HasSuffix(front, ":")
	if len(v.text) < 6 || !hasDigit(v.text) || strings.Contains(v.text, "/") {
		return false
	}
	return isSure && (v.force == password || isRandom(v.text))
}
