package overflow

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// The JSON in a body: what of it is written for a reader, and what counts or names an error.

// json reads one value from i on and returns where it ends. It forgives what real bodies have: single
// quotes, a missing end, a comma too many.
func (r *reading) json(text string, i, nesting int) int {
	var keys [maxJSONDepth + 1]string
	var object [maxJSONDepth + 1]bool
	depth, skip := 0, 0 // skip: the level whose content is not read
	key, isKey := "", false
	for i < len(text) {
		switch c := text[i]; c {
		case '{', '[':
			depth++
			at := min(depth, maxJSONDepth)
			if byField(&keys, &object, at-1) {
				key = "message"
			}
			keys[at], object[at] = key, c == '{'
			if skip == 0 && (depth > maxJSONDepth || echoes(key)) {
				skip = depth
			}
			isKey = c == '{'
			i++
		case '}', ']':
			if skip == depth {
				skip = 0
			}
			if depth--; depth <= 0 {
				return i + 1
			}
			key, isKey = "", false
			if at := min(depth, maxJSONDepth); !object[at] {
				key = keys[at]
			}
			i++
		case '"', '\'':
			value, end := quoted(text, i)
			if end == len(text) && text[end-1] != c {
				value = strings.TrimRight(value, "0123456789") // a body that was cut may end within a number
			}
			i = end
			if isKey {
				key, isKey = value, false
			} else if skip == 0 {
				if byField(&keys, &object, min(depth, maxJSONDepth)) {
					key = "message"
				}
				r.jsonString(key, value, nesting)
			}
		case ',':
			isKey = object[min(depth, maxJSONDepth)]
			i++
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			i = r.jsonDigits(key, text, i, skip == 0)
		default:
			i++
		}
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

// byField reports whether the level is an object of errors by field, as ASP.NET and Rails make them: what stands
// under "errors": {"prompt": …} is not a prompt.
func byField(keys *[maxJSONDepth + 1]string, object *[maxJSONDepth + 1]bool, level int) bool {
	return level > 1 && keys[level] == "errors" && object[level] && object[level-1]
}

// quoted returns the raw content of the string that begins at i, and where it ends.
func quoted(text string, i int) (string, int) {
	quote := text[i]
	end := strings.IndexByte(text[i+1:], quote)
	if end < 0 {
		return text[i+1:], len(text)
	}
	escape := strings.IndexByte(text[i+1:i+1+end], '\\')
	if escape < 0 {
		return text[i+1 : i+1+end], i + end + 2
	}
	for k := i + 1 + escape; k < len(text); k++ {
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
	if namesPart(key) && roleOf(strings.ToLower(raw[:min(len(raw), 32)]))&(rInput|rToken|rContext) == 0 {
		r.pairsOther = true
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
	default:
		r.pair(key, n)
	}
}

// pair notes n if key is one of a pair of fields, a size and a limit, that do not say what they count.
func (r *reading) pair(key string, n int) {
	switch key {
	case "requested", "actual", "received", "got", "tokens":
		r.asked = n
	case "limit", "max", "maximum", "allowed":
		r.allowed = n
	}
}

// namesPart reports whether a field says what its neighbours are about.
func namesPart(key string) bool {
	switch key {
	case "param", "parameter", "field", "property", "unit", "metric", "resource":
		return true
	}
	return false
}

// A pair of numbers without a unit counts tokens only if it lies between these sizes: no window is smaller, and larger
// numbers count bytes.
const (
	smallestWindow = 1 << 10
	largestWindow  = 16 << 20
)

// pairsTokens reports whether a body gives a size and a limit without a unit, and they count tokens. They do unless
// some word of the body says otherwise.
func (r *reading) pairsTokens() bool {
	if r.allowed < smallestWindow || r.asked <= r.allowed || r.asked > largestWindow {
		return false
	}
	if r.pairsOther || r.names(rOutput|rBytes|rChars|rMedia|rField|rRate|rPer|rTime|rDay|rQuota) {
		return false
	}
	return len(r.segments) == 0 || r.names(rInput|rToken|rContext|rOver|rToo)
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
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b = append(b, '\n')
		case 'r', 't', 'b', 'f':
			b = append(b, ' ')
		case 'u':
			digits := s[i+1 : min(i+5, len(s))]
			v, err := strconv.ParseUint(digits, 16, 16)
			if err != nil || len(digits) < 4 {
				b = append(b, 'u')
				continue
			}
			b = utf8.AppendRune(b, rune(v))
			i += len(digits)
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}
