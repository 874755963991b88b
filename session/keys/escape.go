package keys

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// words have a meaning between colons. An id that equals one is escaped, so that it cannot be mistaken for the word.
var words = []string{
	"agent", "channel", "cron", "direct", "dm", "group", "hook", "room", "run", "subagent", "thread", "topic",
}

var (
	escaper = strings.NewReplacer("%", "%25", ":", "%3A")
	escapes = regexp.MustCompile("%[0-9A-Fa-f]{2}")
)

// escape returns an id in the form that stands between colons: ":" and "%" become %3A and %25, and the first letter of
// a reserved word is escaped likewise. An empty id becomes a lone "%".
func escape(id string) string {
	switch {
	case id == "":
		return "%"
	case slices.Contains(words, asciiLower(id)):
		return fmt.Sprintf("%%%02X%s", id[0], id[1:])
	}
	return escaper.Replace(id)
}

// unescape undoes escape. It leaves a "%" that does not begin an escape unchanged.
func unescape(segment string) string {
	if segment == "%" {
		return ""
	}
	return escapes.ReplaceAllStringFunc(segment, func(escaped string) string {
		c, _ := hex.DecodeString(escaped[1:])
		return string(c)
	})
}

// asciiLower lower-cases ASCII letters and keeps all offsets.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
