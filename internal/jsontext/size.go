package jsontext

import "strings"

// Size returns the length of s in JSON: a newline, a tab, a quote and a backslash each take one byte more, and the
// escape character of terminals takes five. Other control characters are rare, and count as they are. controls says
// that s has one that a terminal obeys: an escape character or a carriage return.
func Size(s string) (n int, controls bool) {
	returns, escapes := strings.Count(s, "\r"), strings.Count(s, "\x1b")
	n = len(s) + returns + 5*escapes + HTMLEscapes(s)
	for _, c := range [...]string{"\n", "\t", `"`, `\`} {
		n += strings.Count(s, c)
	}
	return n, returns+escapes > 0
}

// HTMLEscapes returns how many bytes s gets longer where <, > and & are written as \u003c, \u003e and \u0026: package
// json does that, and so the SDKs of Anthropic and Google. For an SDK that does not (OpenAI's) it is too much, and a
// page of HTML counts as up to half as large again: better than a body that a provider refuses.
func HTMLEscapes(s string) int {
	n := 0
	for _, c := range [...]string{"<", ">", "&"} {
		n += strings.Count(s, c)
	}
	return len(`u003c`) * n
}
