package winnow

import (
	"strings"
	"unicode/utf8"
)

// What a body is read for. Providers, gateways and SDKs wrap each other's errors: JSON in a text, in a
// string of a JSON, in a Python repr, in an event of a stream. The scanner takes what looks like JSON
// wherever it stands, keeps the messages and the codes and drops everything else, above all the request
// that many validators send back: an echoed prompt may say anything about overflows.
const (
	maxCodeBytes  = 80
	maxSegments   = 16
	segmentHead   = 1 << 10 // read of the beginning of one text
	segmentTail   = 1 << 9  // and of its end
	readingBudget = 12 << 10
	maxJSONDepth  = 32
	maxNesting    = 5 // JSON in strings in JSON
)

// reading is what is known about an error's texts.
type reading struct {
	segments   [maxSegments]segment
	n          int      // of segments
	tokens     []token  // of all segments
	codeNumber []string // codes that are numbers
	budget     int
	page       bool // an HTML page: a proxy's answer, not a provider's
	bodyStatus int
	jsonTokens int // numbers in fields of their own, as llama.cpp has them
	jsonLimit  int
}

// read reads everything that was found in the tree of the error.
func (r *reading) read(f *finding) {
	for _, t := range f.texts {
		r.scan(t, 0)
	}
	for _, c := range f.codes {
		r.addCode(c)
	}
}

// scan splits a text into plain parts and JSON.
func (r *reading) scan(text string, nesting int) {
	if nesting > maxNesting {
		return
	}
	start := 0
	curly, square := indexFrom(text, '{', 0), indexFrom(text, '[', 0)
	for i := 0; i < len(text); {
		if curly < i {
			curly = indexFrom(text, '{', i)
		}
		if square < i {
			square = indexFrom(text, '[', i)
		}
		if i = min(curly, square); i == len(text) {
			break
		}
		switch looksLikeJSON(text[i:]) {
		case jsonPlain:
			r.addText(text[start:i])
			i = r.json(text, i, nesting)
			start = i
		case jsonEscaped:
			r.addText(text[start:i])
			r.scan(unescape(text[i:]), nesting+1)
			return
		default:
			i++
		}
	}
	r.addText(text[start:])
}

// indexFrom returns where c is next, from i on, or the length of the text.
func indexFrom(text string, c byte, i int) int {
	if n := strings.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}

const (
	notJSON = iota
	jsonPlain
	jsonEscaped
)

// looksLikeJSON decides by the first characters, so that a bracket in a sentence is none.
func looksLikeJSON(s string) int {
	open := s[0]
	i := skipSpace(s, 1)
	escaped := false
	for i < len(s) && s[i] == '\\' { // {\"error\" or {\n  \"error\"
		escaped = true
		if i++; i < len(s) && (s[i] == 'n' || s[i] == 'r' || s[i] == 't') {
			i++
		}
		i = skipSpace(s, i)
	}
	if i >= len(s) {
		return notJSON
	}
	yes := s[i] == '"' || s[i] == '\'' && open == '{' || s[i] == '{' && open == '['
	switch {
	case !yes:
		return notJSON
	case escaped:
		return jsonEscaped
	}
	return jsonPlain
}

func skipSpace(s string, i int) int {
	for i < len(s) && i < 256 && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t') {
		i++
	}
	return i
}

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
			end := digitsEnd(text, i)
			if skip == 0 {
				r.jsonNumber(key, text[i:end])
			}
			i = end
		default:
			i++
		}
	}
	return i
}

// byField says that the level is an object of errors by field, as ASP.NET and Rails make them: what stands
// under "errors": {"prompt": …} is no prompt.
func byField(keys *[maxJSONDepth + 1]string, object *[maxJSONDepth + 1]bool, level int) bool {
	return level > 1 && keys[level] == "errors" && object[level] && object[level-1]
}

// digitsEnd returns where the digits from i on end.
func digitsEnd(text string, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
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

// echoes says that the value of key repeats the request or is an answer, whatever it says.
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
		if isASCII(raw) {
			r.jsonNumber(key, raw)
			r.addCode(raw)
			return
		}
	}
	if isCode || messageKey(key) || key == "data" && len(raw) <= segmentHead { // JSON-RPC's; a longer one is a file
		r.scan(unescape(raw), nesting+1)
	}
}

// messageKey says that strings under key are written for a reader: "message", "error_msg", "errMsg",
// "metadata.raw" of OpenRouter, "details" and whatever else gateways call it.
func messageKey(key string) bool {
	switch key {
	case "message", "msg", "error", "detail", "details", "raw", "body", "response", "title", "cause", "value", "info", "":
		return true
	}
	for _, part := range [...]string{"mess", "msg", "err", "detail", "reason", "cause", "desc", "fault", "exception", "raw"} {
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
	key = strings.ToLower(key[:min(len(key), 32)])
	switch {
	case strings.HasSuffix(key, "code") || strings.HasSuffix(key, "status"):
		if n >= 400 && n <= 599 {
			if r.bodyStatus == 0 {
				r.bodyStatus = n
			}
		} else if len(r.codeNumber) < maxSegments {
			r.codeNumber = append(r.codeNumber, digits)
		}
	case strings.HasSuffix(key, "prompt_tokens") || strings.HasSuffix(key, "input_tokens") && !strings.Contains(key, "max") ||
		strings.HasSuffix(key, "token_count") || strings.HasSuffix(key, "requested_tokens") || key == "actual_tokens":
		r.jsonTokens = n
	case key == "n_ctx" || key == "max_model_len" || key == "max_context_length" || key == "context_length" ||
		key == "context_window" || key == "max_input_tokens" || key == "max_prompt_tokens" || key == "token_limit":
		r.jsonLimit = n
	}
}

// addCode adds a code as a text of its own words.
func (r *reading) addCode(code string) {
	if _, ok := atoi(code); ok {
		if len(r.codeNumber) < maxSegments {
			r.codeNumber = append(r.codeNumber, code)
		}
		return
	}
	r.add(code, true)
}

// addText adds a plain text: its head and its tail where it is long.
func (r *reading) addText(text string) {
	if len(text) > segmentHead+segmentTail {
		r.addText(text[:segmentHead])
		r.addText(text[len(text)-segmentTail:])
		return
	}
	for i := strings.IndexByte(text, '<'); i >= 0; {
		rest := text[i:]
		if hasPrefixFold(rest, "<html") || hasPrefixFold(rest, "<!doctype") || hasPrefixFold(rest, "<head") {
			r.page = true
			text = text[:i]
			break
		}
		n := strings.IndexByte(rest[1:], '<')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	r.add(text, false)
}

func (r *reading) add(text string, code bool) {
	text = strings.Trim(text, " \t\r\n\"'`,:;-")
	if text == "" || r.n >= maxSegments || len(text) > r.budget {
		return
	}
	for i := range r.n {
		if r.segments[i].raw == text {
			return
		}
	}
	r.budget -= len(text)
	r.segments[r.n], r.tokens = lex(r.tokens, text, code)
	r.n++
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
		case 'n', 'r', 't', 'b', 'f':
			b = append(b, ' ')
		case 'u':
			v, ok := hex4(s[i+1:])
			if !ok {
				b = append(b, 'u')
				continue
			}
			b = utf8.AppendRune(b, v)
			i += 4
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var v rune
	for i := range 4 {
		c := s[i] | 0x20
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | rune(c-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// atoi reads a number without a sign; what is absurdly large is none.
func atoi(s string) (int, bool) {
	if s == "" || len(s) > 12 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
