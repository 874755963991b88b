package keys

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The reference treats ids as JavaScript treats strings.

const longestID = 64 // characters

// referenceID returns the id of an agent or account in the reference's form: lower case, with a hyphen for each run of
// characters outside [a-z0-9_-]. Names that every JavaScript object has are refused.
func referenceID(id, otherwise string) string {
	id = lower(trimSpace(id))
	if !isReferenceID(id) {
		id = strings.Trim(hyphenate(id), "-")
		id = id[:min(len(id), longestID)]
	}
	switch id {
	case "", "__proto__", "prototype", "constructor":
		return otherwise
	}
	return id
}

// isReferenceID reports whether an id matches [a-z0-9][a-z0-9_-]{0,63}. Such an id may end in a hyphen.
func isReferenceID(id string) bool {
	return id != "" && len(id) <= longestID && id[0] != '_' && id[0] != '-' && hyphenate(id) == id
}

// isReferenceRune reports whether a character stays in an id of the reference.
func isReferenceRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

func hyphenate(id string) string {
	var b strings.Builder
	isRun := false
	for _, r := range id {
		if isReferenceRune(r) {
			b.WriteRune(r)
			isRun = false
			continue
		}
		if !isRun {
			b.WriteByte('-')
		}
		isRun = true
	}
	return b.String()
}

// trimSpace is String.prototype.trim.
func trimSpace(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
	})
}

// lower is String.prototype.toLowerCase. It differs from [strings.ToLower] for a capital I with a dot, and for a sigma
// at the end of a word.
func lower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && endsWord(s, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// endsWord reports whether a cased letter precedes the sigma at s[at:], and none follows it.
func endsWord(s string, at int) bool {
	before := strings.TrimRightFunc(s[:at], isCaseIgnorable)
	behind := strings.TrimLeftFunc(s[at+len("Σ"):], isCaseIgnorable)
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(behind)
	return before != "" && isCased(last) && (behind == "" || !isCased(next))
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

func isCaseIgnorable(r rune) bool {
	isMark := unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
	return isMark || strings.ContainsRune("'.:·’․‘", r)
}
