package secret

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// Credentials that no separator joins to their names: the next word, the next argument, the next field of an entry.

// behindBlank returns the credential behind the blank s[i]: of .netrc, of SQL, of a command that sets its name, of a
// sentence.
func behindBlank(s string, i int) (from, to int) {
	end := i
	for end > 0 && (s[end-1] == '\'' || s[end-1] == '"') {
		end--
	}
	isNamed := nameAt(s[:end]) == strong
	isIdentified := i > 13 && strings.EqualFold(s[i-13:i], "identified by")
	if !isNamed && !isIdentified {
		return 0, 0
	}
	isPassword := slices.ContainsFunc([]string{"password", "passphrase", "passcode"}, func(word string) bool {
		return end >= len(word) && strings.EqualFold(s[end-len(word):end], word)
	})
	if from, to = toldIn(s, i); to > 0 {
		if told := s[from:to]; isPassword || isRandomKey(told) || isHex(told) && len(told) >= 32 {
			return from, to
		}
	}
	if from, to = word(s, i); to-from < 4 || refers(s[from:to]) || strings.IndexByte("-=:", s[from]) >= 0 {
		return 0, 0
	}
	value := s[from:to]
	before := strings.Fields(lastLine(s[max(0, i-200):i]))
	if len(before) == 0 {
		return 0, 0
	}
	last := before[len(before)-1]
	before = before[:len(before)-1]
	isString := s[from-1] == '\'' && !strings.Contains(value, " ")
	switch {
	case !isNamed:
		if isString || s[from-1] == '"' {
			return from, to
		}
	case strings.HasPrefix(strings.TrimLeft(last, "{"), ":") && s[from-1] == '"', // of Clojure
		isString && (isPassword || strings.HasSuffix(s[:end], "SecureString")) && !isTitle(value),
		isPassword && len(before) > 1 && before[len(before)-2] == "login",
		strings.ContainsAny(last, "_/") && sets(before),
		isHex(value) && len(value) >= 32, isRandomKey(value):
		return from, to
	}
	return 0, 0
}

// lastLine returns what stands in the last line of s. In .netrc, fields may stand in lines of their own.
func lastLine(s string) string {
	if n := strings.LastIndexByte(s, '\n'); n >= 0 && !strings.Contains(s[:n], "login ") {
		return s[n+1:]
	}
	return s
}

// isTitle reports whether value is a word of a text and not a password.
func isTitle(value string) bool {
	rest := value[1:]
	return runes.IsUpper(value[0]) && strings.ToLower(rest) == rest && !strings.ContainsAny(rest, "0123456789")
}

// sets reports whether a command that ends in the given words sets the name behind them: setx, set -x, config set.
func sets(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-") {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && slices.Contains([]string{"set", "setx", "ENV", "#define"}, words[len(words)-1])
}

// toldIn returns the password that a sentence tells that goes on at s[i], behind the word: "password is x", "password
// for me: x". It ends the line, and is no word.
func toldIn(s string, i int) (from, to int) {
	line := firstLine(s[i:min(len(s), i+200)])
	line = strings.TrimRight(line, " .")
	n := strings.LastIndexByte(line, ' ') + 1
	told := strings.TrimSuffix(strings.TrimRight(line[:n], " "), ":")
	value := line[n:]
	isMixed := strings.ToLower(value) != value && strings.ToUpper(value) != value
	isWord := strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-'") == ""
	isTold := strings.HasSuffix(told, " is") || isMixed && len(told) < len(strings.TrimRight(line[:n], " "))
	isOther := isWord || isNumber(value) || strings.Contains(value, "/") || refers(value)
	if !isTold || isOther || len(value) < 6 {
		return 0, 0
	}
	return i + n, i + len(line)
}

// setters are the ends of the names of functions that give a name a value.
var setters = []string{"env", "set", "header", "fill", "default", "define", "append", "add", "put"}

// settersArgument returns the string that is handed over at s[i] to a function that sets a credential: .password("x"),
// setToken("x"), or to the field of a browser: getByLabel("Password").fill("x").
func settersArgument(s string, i int) (from, to int) {
	start := i
	for start > 0 && inWord[s[start-1]] {
		start--
	}
	name := strings.ToLower(s[start:i])
	if field := strings.TrimRight(s[:max(0, start-1)], `)"'`); name == "fill" || name == "type" { // in a browser
		if nameAt(field) != strong {
			return 0, 0
		}
		name = "set"
	} else if nameAt(s[:i]) != strong {
		return 0, 0
	}
	isMethod := name == "password" && start > 0 && s[start-1] == '.'
	isSetter := isMethod || strings.HasPrefix(name, "set") || strings.HasPrefix(name, "with")
	if !isSetter {
		return 0, 0
	}
	v := value{text: s, from: i + 1}
	if v.find(); !v.isQuoted || v.to-v.from < 4 || refers(s[v.from:v.to]) || isTitle(s[v.from:v.to]) {
		return 0, 0
	}
	return v.from, v.to
}

// call returns the credential in the call whose bracket is s[i]: the password of BasicAuth("me", "x") and of
// auth=("me", "x").
func call(s string, i int) (from, to int) {
	name := strings.TrimRight(s[max(0, i-12):i], "=")
	if len(name) < 4 || !strings.EqualFold(name[len(name)-4:], "auth") {
		return settersArgument(s, i)
	}
	open := spanOf(s, i+1, func(c byte) bool { return c == '\\' })
	if open == len(s) || s[open] != '\'' && s[open] != '"' {
		return 0, 0
	}
	end := closing(s, open, open > i+1)
	if end == 0 {
		return 0, 0
	}
	return nextString(s, spanOf(s, end, func(c byte) bool { return strings.IndexByte("\\'\"", c) >= 0 }))
}

// argument returns the credential behind the comma at s[i]: the second argument of setenv("TOKEN", "x").
func argument(s string, i int) (from, to int) {
	if i == 0 || s[i-1] != '"' && s[i-1] != '\'' {
		return 0, 0
	}
	name := strings.TrimRight(s[:i], `\`+`"'`)
	if nameAt(name) == 0 {
		return 0, 0
	}
	start := strings.LastIndexAny(name, `"'`)
	function := strings.TrimRight(name[:max(0, start)], `\`)
	if !strings.HasSuffix(function, "(") && !strings.HasSuffix(function, "[") {
		return 0, 0
	}
	if from, to = nextString(s, i); to == 0 {
		return 0, 0
	}
	called := strings.ToLower(function[max(0, len(function)-16) : len(function)-1])
	isSetter := slices.ContainsFunc(setters, func(end string) bool { return strings.HasSuffix(called, end) })
	if strings.HasSuffix(s[:from], "Bearer ") {
		return from, to
	} else if strings.HasSuffix(function, "[") {
		return 0, 0
	}
	text := s[from:to]
	isGiven := isSetter && nameAt(name) == strong && !isTitle(text)
	if isGiven || isHex(text) && len(text) >= 32 || isRandomKey(text) {
		return from, to
	}
	return 0, 0
}

// nextString returns the string behind the comma at s[i], without a scheme, if it may be a credential.
func nextString(s string, i int) (from, to int) {
	if i >= len(s) || s[i] != ',' {
		return 0, 0
	}
	v := value{text: s, from: spanOf(s, i+1, isBlank)}
	if v.find(); !v.isQuoted {
		return 0, 0
	}
	if v.skipScheme(); v.to-v.from < 4 || refers(s[v.from:v.to]) {
		return 0, 0
	}
	return v.from, v.to
}

// fallback returns the string behind the operator at s[i] that stands in where a credential is not set: TOKEN || "x".
func fallback(s string, i int) (from, to int) {
	if i == 0 || i+2 >= len(s) || s[i+1] != s[i] || nameAt(strings.TrimRight(s[:i], " ")) != strong {
		return 0, 0
	}
	v := value{text: s, from: spanOf(s, i+2, isBlank)}
	if v.find(); !v.isQuoted || v.to-v.from < 4 || refers(s[v.from:v.to]) {
		return 0, 0
	}
	return v.from, v.to
}

// entryAt returns what the name of an entry says if the name that ends at s[end] is that of its value, such as
// {"name": "DB_PASSWORD", "value": "x"}: the field in front of it holds the name. What is typed into a field of a
// browser counts if its object speaks of a password.
func entryAt(s string, end int) int {
	start := end
	for start > 0 && end-start < 8 && runes.IsLetter(s[start-1]) {
		start--
	}
	name, front := s[start:end], s[max(0, start-200):start]
	switch {
	case name == "pass":
		if strings.HasSuffix(front, "-passin ") || strings.HasSuffix(front, "-passout ") { // of OpenSSL
			return strong
		}
		return 0
	case name == "text", strings.EqualFold(name, "value"), name == "default":
	default:
		return 0
	}
	object := front[max(0, strings.LastIndexByte(front, '{')):]
	isTyped := strings.Contains(strings.ToLower(object), "password") && object[0] == '{'
	if isTyped && name != "default" {
		return quoted
	}
	front = strings.TrimRight(front, " \t\r\n\\\"'`,{")
	if strings.HasSuffix(front, `\n`) {
		front = strings.TrimRight(front[:len(front)-2], " \\\"'`,{")
	}
	token := max(0, len(front)-len("token"))
	isKind := strings.EqualFold(front[token:], "token") && (token == 0 || !inWord[front[token-1]]) // of a parser
	if name == "text" || isKind || nameAt(front) != strong {
		return 0
	}
	return strong
}

// dataOfSecret returns the value behind s[i] if it is a line of the data of a Secret of Kubernetes, whatever its name:
// the first line above that is indented less says so.
func dataOfSecret(s string, i int) (from, to int) {
	first := max(0, i-mostBytes)
	start := first + strings.LastIndexByte(s[first:i], '\n') + 1
	indent := spanOf(s, start, isBlank) - start
	if from, to = word(s, i+1); indent == 0 || to-from < 4 || s[i] != ':' || strings.ContainsAny(s[from:to], "{[") {
		return 0, 0
	}
	for start > first {
		end := start - 1
		start = first + strings.LastIndexByte(s[first:end], '\n') + 1
		if spanOf(s, start, isBlank)-start < indent {
			header := strings.Trim(s[start:end], " \t\r{")
			if slices.Contains([]string{"data:", "stringData:", `"data":`, `"stringData":`}, header) {
				return from, to
			}
			break
		}
	}
	return 0, 0
}
