package overflow

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The JSON in a body: what of it is written for a reader, and what counts or names an error.

// json reads one value from i on and returns where it ends. It forgives single quotes, a missing end, a comma too many.
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
	for k := i + 1; k < len(text); k++ {
		switch text[k] {
		case '\\':
			k++
		case text[i]:
			return text[i+1 : k], k + 1
		}
	}
	return text[i+1:], len(text)
}

// echoes reports whether the value of key repeats the request or is an answer, whatever it says.
func echoes(key string) bool {
	return isOneOf(strings.ToLower(key[:min(len(key), 24)]), "input inputs messages content contents prompt prompts "+
		"request requestbody tools arguments usage headers output text parts loc params")
}

// jsonString takes a string value for a message, a code or nothing, by its key.
func (r *reading) jsonString(key, raw string, nesting int) {
	key = strings.ToLower(key[:min(len(key), 32)])
	if echoes(key) || strings.Contains(key, "std") {
		return
	}
	if isOneOf(key, neighbourKeys) && roleOf(strings.ToLower(raw[:min(len(raw), 32)]))&(rInput|rToken|rContext) == 0 {
		r.pairsOther = true
	}
	isNamed := isOneOf(key, "status error reason name")
	isCode := isNamed || strings.HasSuffix(key, "code") || strings.HasSuffix(key, "type")
	isOfText := func(c rune) bool { return c == ' ' || c == '\\' || c >= utf8.RuneSelf }
	if isCode && key != "name" && len(raw) <= maxCodeBytes && !strings.ContainsFunc(raw, isOfText) {
		r.jsonNumber(key, raw)
		r.addCode(raw)
		return
	}
	if isCode || messageKey(key) || key == "data" && len(raw) <= segmentHead { // JSON-RPC's; a longer one is a file
		r.scan(unescape(raw), nesting+1)
	}
}

// messageKey reports whether strings under key are written for a reader: "message", "errMsg", "raw" of OpenRouter.
func messageKey(key string) bool {
	return key == "" || isOneOf(key, "body response title value info quotaid") ||
		containsAny(key, "mess", "msg", "err", "detail", "reason", "cause", "desc", "fault", "exception", "raw")
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

// neighbourKeys are fields that say what their neighbours are about.
const neighbourKeys = "param parameter field property unit metric resource"

// Numbers without a unit count tokens only between these sizes: no window is smaller, and larger ones count bytes.
const (
	smallestWindow = 1 << 10
	largestWindow  = 16 << 20
)

// pairsTokens reports whether a body gives a size and a limit without a unit, and no word says that it is not tokens.
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
	return key == "actualtokens" ||
		containsAny(key+" ", "prompttokens ", "inputtokens ", "tokencount ", "requestedtokens ")
}

// isLimitKey reports whether the field counts the tokens of a context window: "n_ctx", "max_context_tokens",
// "token_limit". "max_tokens" is what a request asks for, and what is left or allowed a minute is not a window.
func isLimitKey(key string) bool {
	switch {
	case isOneOf(key, "nctx maxmodellen contextlength contextwindow"):
		return true
	case containsAny(key, "output", "completion", "new", "remaining", "used", "per", "rate", "min", "day"):
		return false
	case strings.Contains(key, "limit"):
		return containsAny(key, "token", "context")
	}
	return strings.HasPrefix(key, "max") && containsAny(key, "context", "input", "prompt")
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
