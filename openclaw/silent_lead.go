package openclaw

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lead is what the beginning of a text says.
type lead int

const (
	leadText   lead = iota // it is a text to show
	leadSilent             // it begins with the token
	leadOpen               // more of it is needed to know
)

// maxLead is how many bytes a token may take with the marks and spaces around it, beside its own. A longer run of them
// belongs to a text.
const maxLead = 64

// afterThoughts returns where the text begins behind white space and <think> blocks. A block that is not closed is not
// skipped.
func afterThoughts(s string) int {
	at := 0
	for {
		at += len(s[at:]) - len(strings.TrimLeftFunc(s[at:], unicode.IsSpace))
		if !strings.HasPrefix(s[at:], thinkOpens) {
			return at
		}
		end := strings.Index(s[at:], thinkCloses)
		if end < 0 {
			return at
		}
		at += end + len(thinkCloses)
	}
}

const thinkOpens, thinkCloses = "<think>", "</think>"

// lead looks at the beginning of s, which has no white space and no closed <think> block in front. ended says that
// nothing comes behind s.
func (t SilentToken) lead(s string, ended bool) lead {
	open := leadText
	if !ended {
		open = leadOpen
		s = s[:len(s)-partialRune(s)]
	}
	if len(s) < len(thinkOpens) && strings.HasPrefix(thinkOpens, s) || strings.HasPrefix(s, thinkOpens) {
		return open // it may become a block, or one that is closed
	}
	rest, found := t.cutAction(s, open)
	if found == leadText {
		rest, found = t.cutToken(s, open)
	}
	if found != leadSilent {
		return found
	}
	line := strings.TrimLeft(rest, " \t\r")
	switch {
	case len(rest)-len(line) > maxLead:
		return leadText
	case line == "" && ended, strings.HasPrefix(line, "\n"):
		return leadSilent
	case line == "":
		return leadOpen
	}
	return t.glued(s[:len(s)-len(rest)], rest, open)
}

// cutToken cuts the token off the beginning of s. In the loose form, it may be repeated, with marks around.
func (t SilentToken) cutToken(s string, open lead) (rest string, found lead) {
	token := t.text()
	if t.Loose {
		s = trimMarks(s)
	}
	switch n := min(len(s), len(token)); {
	case !t.equal(s[:n], token[:n]):
		return "", leadText
	case n < len(token):
		return "", open
	}
	s = s[len(token):]
	if !t.Loose {
		return s, leadSilent
	}
	if again := strings.TrimLeft(trimMarks(s), " \t\r"); again != "" && len(again) < len(s) {
		if rest, found := t.cutToken(again, open); found != leadText {
			return rest, found
		}
	}
	return trimMarks(s), leadSilent
}

// trimMarks removes the marks that s begins with, as many as may belong to a token.
func trimMarks(s string) string {
	for i, r := range s {
		if i > maxMarks || !isMark(r) {
			return s[i:]
		}
	}
	return ""
}

// cutAction cuts {"action":"NO_REPLY"} off the beginning of s.
func (t SilentToken) cutAction(s string, open lead) (rest string, found lead) {
	whole := s
	for _, part := range [...]string{"{", `"action"`, ":", `"`, t.text(), `"`, "}"} {
		if part != t.text() { // within the quotes, white space is part of the value
			s = strings.TrimLeft(s, " \t\r\n")
		}
		if len(whole)-len(s) > maxLead+len(t.text()) {
			return "", leadText
		}
		n := min(len(s), len(part))
		switch {
		case !t.equal(s[:n], part[:n]):
			return "", leadText
		case n < len(part):
			return "", open
		}
		s = s[n:]
	}
	return s, leadSilent
}

// glued decides whether a new word begins right behind the token, as where a model forgot the space: "NO_REPLYSaved".
// "NO_REPLYING" and "NO_REPLYs" are other words.
func (t SilentToken) glued(before, rest string, open lead) lead {
	token := t.text()
	if !strings.HasSuffix(before, "}") && !t.equal(before[max(0, len(before)-len(token)):], token) {
		return leadText // a mark stands between
	}
	next, size := utf8.DecodeRuneInString(rest)
	behind, _ := utf8.DecodeRuneInString(rest[size:])
	last := rune(before[len(before)-1])
	switch {
	case !unicode.IsLetter(next):
		return leadText
	case !unicode.IsLetter(last), !unicode.IsUpper(next) && !unicode.IsLower(next):
		return leadSilent // "[quiet]Saved"; a script without cases
	case unicode.IsLower(next) && unicode.IsLower(last):
		return leadText // "no_replying"
	case len(rest) == size:
		return open
	case unicode.IsLower(next) && !unicode.IsLetter(behind), unicode.IsUpper(next) && !unicode.IsLower(behind):
		return leadText
	}
	return leadSilent
}
