package jsontext

import "strings"

// Size returns the length of s in JSON: a newline, a carriage return, a tab, a quote and a backslash each take one byte
// more, and the escape character of terminals takes five. Other control characters are rare, and count as they are.
func Size(s string) int {
	n := len(s) + 5*strings.Count(s, "\x1b") + HTMLEscapes(s)
	for _, c := range [...]string{"\n", "\r", "\t", `"`, `\`} {
		n += strings.Count(s, c)
	}
	return n
}

// HTMLEscapes returns how many bytes s gets longer where <, > and & are written as \u003c, \u003e and \u0026: package
// json does that, and so do the SDKs of Anthropic and Google. OpenAI's SDK does not, so its bodies are overestimated, a
// page of HTML by up to a half. That is better than a body that a provider refuses.
func HTMLEscapes(s string) int {
	n := 0
	for _, c := range [...]string{"<", ">", "&"} {
		n += strings.Count(s, c)
	}
	return len(`u003c`) * n
}
