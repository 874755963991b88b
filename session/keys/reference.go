package keys

import (
	"regexp"
	"strings"
)

// The reference treats ids as JavaScript treats strings.

const (
	longestID = 64 // characters

	cased     = `\p{Lu}\p{Ll}\p{Lt}`
	ignorable = `\p{Mn}\p{Me}\p{Cf}\p{Lm}\p{Sk}'.:·’․‘`
)

var (
	isReferenceID  = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`).MatchString // it may end in a hyphen
	notInReference = regexp.MustCompile(`[^a-z0-9_-]+`)

	// finalSigma has a cased letter in front of it, and none behind it.
	finalSigma = regexp.MustCompile("([" + cased + "][" + ignorable + "]*)Σ" +
		"([" + ignorable + "]*(?:[^" + cased + ignorable + "]|$))")
)

// referenceID returns the id of an agent or account in the reference's form: lower case, with a hyphen for each run of
// characters outside [a-z0-9_-]. Names that every JavaScript object has are refused.
func referenceID(id, otherwise string) string {
	id = lower(strings.TrimSpace(id))
	if !isReferenceID(id) {
		id = strings.Trim(notInReference.ReplaceAllString(id, "-"), "-")
		id = id[:min(len(id), longestID)]
	}
	switch id {
	case "", "__proto__", "prototype", "constructor":
		return otherwise
	}
	return id
}

// lower is String.prototype.toLowerCase. It differs from [strings.ToLower] for a capital I with a dot, and for a sigma
// at the end of a word.
func lower(s string) string {
	s = strings.ReplaceAll(s, "İ", "i\u0307")
	if strings.Contains(s, "Σ") {
		s = finalSigma.ReplaceAllString(s, "${1}ς$2")
	}
	return strings.ToLower(s)
}
