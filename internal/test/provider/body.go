package provider

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
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
	if at, ok := loneSurrogate(body); ok {
		line := 1 + bytes.Count(body[:at], []byte("\n"))
		column := at - bytes.LastIndexByte(body[:at], '\n')
		return broken("ANT-JSON-SURROGATE",
			"The request body is not valid JSON: no low surrogate in string: line %d column %d (char %d)", line, column,
			at)
	}
	if hasNUL(body) {
		return broken("ALL-NUL", "The request body is not valid JSON: unsupported Unicode escape sequence \\u0000")
	}
	if err := json.Unmarshal(body, v); err != nil {
		return broken("JSON", "The request body is not valid JSON: %v", err)
	}
	return nil
}

// loneSurrogate finds an escaped half of a surrogate pair.
func loneSurrogate(body []byte) (int, bool) {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		high, ok := escaped(body, i)
		if !ok {
			i++ // any other escape
			continue
		}
		if high >= 0xd800 && high < 0xdc00 {
			low, ok := escaped(body, i+6)
			if !ok || low < 0xdc00 || low > 0xdfff {
				return i, true
			}
			i += 11
			continue
		}
		if high >= 0xdc00 && high <= 0xdfff {
			return i, true
		}
		i += 5
	}
	return 0, false
}

// hasNUL finds an escaped U+0000.
func hasNUL(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		if r, ok := escaped(body, i); ok && r == 0 {
			return true
		}
		i++
	}
	return false
}

// escaped reads \uXXXX at i.
func escaped(body []byte, i int) (r rune, ok bool) {
	if i+6 > len(body) || body[i] != '\\' || body[i+1] != 'u' {
		return 0, false
	}
	for _, c := range body[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
