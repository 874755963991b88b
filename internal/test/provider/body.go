package provider

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// readBody reads a body of at most limit bytes.
func readBody(r *http.Request, limit int) ([]byte, *Error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	if err != nil {
		return body, broken("BODY", "Could not read the request body")
	}
	if len(body) <= limit {
		return body, nil
	}
	_, _ = io.Copy(io.Discard, r.Body) // so that the client reads the answer
	return body, &Error{Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Rule: RuleBytes,
		Message: "Request exceeds the maximum size"}
}

// decode checks what every provider checks of a body and reads it into v. encoding/json is too kind for
// that: it turns lone surrogates and invalid UTF-8 into U+FFFD.
func decode(body []byte, v any) *Error {
	if !utf8.Valid(body) {
		return broken("ALL-UTF8", "The request body is not valid JSON: invalid utf-8 sequence")
	}
	if err := checkEscapes(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return broken("JSON", "The request body is not valid JSON: %v", err)
	}
	return nil
}

var escapes = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|.)`)

// checkEscapes finds an escaped half of a surrogate pair, and U+0000.
func checkEscapes(body []byte) *Error {
	first := -1 // the place of the first half of a pair
	for _, m := range append(escapes.FindAllSubmatchIndex(body, -1), []int{len(body), 0, -1, 0}) {
		n := uint64(' ') // any other escape
		if m[2] >= 0 {
			n, _ = strconv.ParseUint(string(body[m[2]:m[3]]), 16, 32)
		}
		isSecond := n >= 0xdc00 && n <= 0xdfff
		switch {
		case first >= 0 && (!isSecond || m[0] != first+6):
			return loneSurrogate(body, first)
		case first < 0 && isSecond:
			return loneSurrogate(body, m[0])
		case n == 0:
			return broken("ALL-NUL", "The request body is not valid JSON: unsupported Unicode escape sequence \\u0000")
		}
		if first = -1; n >= 0xd800 && n < 0xdc00 {
			first = m[0]
		}
	}
	return nil
}

func loneSurrogate(body []byte, at int) *Error {
	line := 1 + bytes.Count(body[:at], []byte("\n"))
	return broken("ANT-JSON-SURROGATE", "The request body is not valid JSON: no low surrogate in string: line %d "+
		"column %d (char %d)", line, at-bytes.LastIndexByte(body[:at], '\n'), at)
}
