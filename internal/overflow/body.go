package overflow

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A body is scanned for what was written for a reader. Providers, gateways and SDKs wrap each other's errors: JSON in
// a text, in a string of a JSON, in a Python repr, in an event of a stream. The scanner takes what looks like JSON
// wherever it stands, keeps the messages and the codes and drops everything else, above all the request that many
// validators send back: an echoed prompt may say anything about overflows.

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

// looksLikeJSON decides by the first characters, so that a bracket in a sentence does not make it JSON.
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
	switch {
	case !mayFollow(s[i], open):
		return notJSON
	case escaped:
		return jsonEscaped
	}
	return jsonPlain
}

// mayFollow reports whether c may stand behind an opening bracket. Python writes its keys in single quotes.
func mayFollow(c, open byte) bool {
	switch c {
	case '"':
		return true
	case '\'':
		return open == '{'
	}
	return c == '{' && open == '['
}

func skipSpace(s string, i int) int {
	for i < len(s) && i < 256 && isJSONSpace(s[i]) {
		i++
	}
	return i
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

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
	if strings.Contains(text, "%20") { // gRPC-Web's
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
	}
	for i := strings.IndexByte(text, '<'); i >= 0; {
		rest := text[i:]
		if hasPrefixFold(rest, "<html") || hasPrefixFold(rest, "<!doctype") || hasPrefixFold(rest, "<head") {
			if r.bodyStatus == 0 {
				r.bodyStatus = pageStatus(rest)
			}
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

// pageStatus returns the HTTP status in the title of a proxy's page: "413 Request Entity Too Large", "Error 413
// (Request Entity Too Large)", "example.com | 502: Bad gateway"; 0 if the title has no status.
func pageStatus(page string) int {
	_, title, _ := strings.Cut(strings.ToLower(page[:min(len(page), segmentHead)]), "<title>")
	title, _, _ = strings.Cut(title, "<")
	for i := 0; i < len(title); i++ {
		end := digitsEnd(title, i)
		if status, ok := atoi(title[i:end]); ok && status >= 400 && status <= 599 {
			if status == 404 && strings.HasPrefix(title[end:], ".13 ") {
				return http.StatusRequestEntityTooLarge // IIS: the body is longer than its filter allows
			}
			return status
		}
		i = end
	}
	return 0
}

func (r *reading) add(text string, code bool) {
	text = strings.Trim(text, " \t\r\n\"'`,:;-")
	if text == "" || len(r.segments) >= maxSegments || len(text) > r.budget {
		return
	}
	if slices.ContainsFunc(r.segments, func(s *segment) bool { return s.raw == text }) {
		return
	}
	r.budget -= len(text)
	r.segments = append(r.segments, lex(text, code))
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
