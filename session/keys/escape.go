package keys

import (
	"encoding/hex"
	"strings"
)

// words have a meaning between colons. An id that equals one is escaped, so that it cannot be mistaken for the word.
var words = []string{
	"agent", "channel", "cron", "direct", "dm", "group", "hook", "room", "run", "subagent", "thread", "topic",
}

// escape returns an id in the form that stands between colons: ":" and "%" become %3A and %25, and the first letter of
// a reserved word is escaped likewise. An empty id becomes a lone "%".
func escape(id string) string {
	if id == "" {
		return "%"
	}
	for _, word := range words {
		if isWord(id, word) {
			return percent(id[0]) + id[1:]
		}
	}
	if !strings.ContainsAny(id, ":%") {
		return id
	}
	return strings.NewReplacer("%", "%25", ":", "%3A").Replace(id)
}

func percent(c byte) string { return "%" + strings.ToUpper(hex.EncodeToString([]byte{c})) }

// unescape undoes escape. It leaves a "%" that does not begin an escape unchanged.
func unescape(segment string) string {
	if segment == "%" {
		return ""
	}
	if !strings.Contains(segment, "%") {
		return segment
	}
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		if segment[i] == '%' && i+2 < len(segment) {
			if c, err := hex.DecodeString(segment[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(segment[i])
	}
	return b.String()
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
