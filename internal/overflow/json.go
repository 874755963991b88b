package overflow

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// The JSON in a body: what of it is written for a reader, and what counts or names an error.

// level is an object or an array of a body.
type level struct {
	key    string // under which it stands
	object bool
}

// levels are those that are open.
type levels []level

// isObject reports whether the innermost is an object.
func (l levels) isObject() bool { return len(l) > 0 && l[len(l)-1].object }

// byField reports whether the innermost is an object of errors by field, as ASP.NET and Rails make them: what stands
// under "errors": {"prompt": …} is not a prompt.
func (l levels) byField() bool {
	return l.isObject() && l[:len(l)-1].isObject() && l[len(l)-1].key == "errors"
}

// json reads one value from i on and returns where it ends. It forgives what real bodies have: single
// quotes, a missing end, a comma too many.
func (r *reading) json(text string, i, nesting int) int {
	var open levels
	skip := 0 // the depth whose content is not read
	key, isKey := "", false
	for i < len(text) {
		switch c := text[i]; c {
		case '{', '[':
			if open.byField() {
				key = "message"
			}
			open = append(open, level{key, c == '{'})
			if skip == 0 && echoes(key) {
				skip = len(open)
			}
			isKey = c == '{'
		case '}', ']':
			if skip == len(open) {
				skip = 0
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
			key, isKey = "", false
			if !open.isObject() {
				key = open[len(open)-1].key
			}
		case '"', '\'':
			value, end := quoted(text, i)
			if end == len(text) && text[end-1] != c {
				value = strings.TrimRight(value, "0123456789") // a body that was cut may end within a number
			}
			i = end
			if isKey {
				key, isKey = value, false
			} else if skip == 0 {
				if open.byField() {
					key = "message"
				}
				r.jsonString(key, value, nesting)
			}
			continue
		case ',':
			isKey = open.isObject()
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			i = r.jsonDigits(key, text, i, skip == 0)
			continue
		}
		i++
	}
	return i
}

// jsonDigits takes the number at i and returns where it ends.
func (r *reading) jsonDigits(key, text string, i int, isRead bool) int {
	end := digitsEnd(text, i)
	next := len(text) - len(strings.TrimLeft(text[end:], " \t\r\n"))
	if rest := digitsEnd(text, next); rest > next {
		return rest // a line break cuts it in two
	}
	if isRead {
		r.jsonNumber(key, text[i:end])
	}
	return end
}

// quoted returns the raw content of the string that begins at i, and where it ends.
func quoted(text string, i int) (string, int) {
	quote := text[i]
	for k := i + 1; k < len(text); k++ {
		switch text[k] {
		case '\\':
			k++
		case quote:
			return text[i+1 : k], k + 1
		}
	}
	return text[i+1:], len(text)
}

// echoes reports whether the value of key repeats the request or is an answer, whatever it says.
func echoes(key string) bool {
	switch strings.ToLower(key[:min(len(key), 24)]) {
	case "input", "inputs", "messages", "content", "contents", "prompt", "prompts", "request", "requestbody",
		"tools", "arguments", "usage", "headers", "output", "text", "parts", "loc", "params":
		return true
	}
	return false
}

// jsonString takes a string value for a message, a code or nothing, by its key.
func (r *reading) jsonString(key, raw string, nesting int) {
	key = strings.ToLower(key[:min(len(key), 32)])
	if echoes(key) || strings.Contains(key, "std") {
		return
	}
	isCode := false
	switch key {
	case "code", "type", "status", "error", "reason", "__type", "statuscode", "status_code", "name":
		isCode = true
	default:
		isCode = strings.HasSuffix(key, "code") || strings.HasSuffix(key, "type")
	}
	if isCode && key != "name" && len(raw) <= maxCodeBytes && !strings.ContainsAny(raw, " \\") {
		if runes.Only(raw) {
			r.jsonNumber(key, raw)
			r.addCode(raw)
			return
		}
	}
	if isCode || messageKey(key) || key == "data" && len(raw) <= segmentHead { // JSON-RPC's; a longer one is a file
		r.scan(unescape(raw), nesting+1)
	}
}

// messageKey reports whether strings under key are written for a reader: "message", "error_msg", "errMsg",
// "metadata.raw" of OpenRouter, "details" and whatever else gateways call it.
func messageKey(key string) bool {
	switch key {
	case "message", "msg", "error", "detail", "details", "raw", "body", "response", "title", "cause", "value", "info",
		"quotaid", "":
		return true
	}
	for _, part := range [...]string{"mess", "msg", "err", "detail", "reason", "cause", "desc", "fault", "exception",
		"raw"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

// jsonNumber takes a number for a status, a code or a count.
func (r *reading) jsonNumber(key, digits string) {
	n, ok := atoi(digits)
	if !ok {
		return
	}
	key = strings.ReplaceAll(strings.ToLower(key[:min(len(key), 32)]), "_", "")
	switch {
	case strings.HasSuffix(key, "code") || strings.HasSuffix(key, "status"):
		if n >= 400 && n <= 599 {
			if r.bodyStatus == 0 {
				r.bodyStatus = n
			}
		} else if len(r.codeNumber) < maxSegments {
			r.codeNumber = append(r.codeNumber, digits)
		}
	case isLimitKey(key):
		r.jsonLimit = n
	case isCountKey(key):
		r.jsonTokens = n
	}
}

// isCountKey reports whether the field counts the tokens of a request.
func isCountKey(key string) bool {
	for _, end := range [...]string{"prompttokens", "inputtokens", "tokencount", "requestedtokens"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return key == "actualtokens"
}

// isLimitKey reports whether the field counts the tokens of a context window: "n_ctx", "max_context_tokens",
// "token_limit". "max_tokens" is what a request asks for, and what is left or allowed a minute is not a window.
func isLimitKey(key string) bool {
	switch key {
	case "nctx", "maxmodellen", "contextlength", "contextwindow":
		return true
	}
	for _, other := range [...]string{"output", "completion", "new", "remaining", "used", "per", "rate", "min", "day"} {
		if strings.Contains(key, other) {
			return false
		}
	}
	if strings.Contains(key, "limit") {
		return strings.Contains(key, "token") || strings.Contains(key, "context")
	}
	return strings.HasPrefix(key, "max") &&
		(strings.Contains(key, "context") || strings.Contains(key, "input") || strings.Contains(key, "prompt"))
}

// unescape undoes one level of JSON's or Python's escapes.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		r, _, rest, err := strconv.UnquoteChar(s[i:], '"')
		if err == nil {
			b.WriteRune(r)
		} else { // \/ and \' and half of a pair
			b.WriteByte(s[i+1])
			rest = s[i+2:]
		}
		s = rest
	}
}
