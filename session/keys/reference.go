package keys

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the reference does with ids is what JavaScript does with strings.

const longestID = 64 // of an agent or account

// referenceID returns the id of an agent or account as the reference has it: lower case, with a hyphen for each run of
// what is not in [a-z0-9_-]. Names that objects of JavaScript have by themselves are refused.
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

// isReferenceID says that an id is [a-z0-9][a-z0-9_-]{0,63}: such a one may end in a hyphen.
func isReferenceID(id string) bool {
	return id != "" && len(id) <= longestID && id[0] != '_' && id[0] != '-' && hyphenate(id) == id
}

func hyphenate(id string) string {
	var b strings.Builder
	isRun := false
	for _, r := range id {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
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

// lower is String.prototype.toLowerCase: it differs from [strings.ToLower] in a capital I with a dot, and in a sigma
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

// endsWord says that a cased letter stands before the sigma at s[at:], and none behind it.
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
