package excerpt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	noticeBegin = "\n\n[Tool result cut: "
	noticeEnd   = " Ask for the part that you need, by offset and limit or by a narrower search, instead of the whole.]"
)

// WithNote puts a note into a placeholder: in front of the bracket that closes it, or in brackets of its own.
func WithNote(placeholder, note string) string {
	if note == "" {
		return placeholder
	}
	if text, ok := strings.CutSuffix(placeholder, "]"); ok {
		return text + note + "]"
	}
	return placeholder + " [" + strings.TrimPrefix(note, ", ") + "]"
}

// notice returns the text behind what was cut: the host's own, or how many of chars characters are missing.
func (l *Limits) notice(missing, chars int) string {
	if l.Notice != "" {
		return WithNote(l.Notice, l.Note)
	}
	return fmt.Sprintf("%s%d of %d characters left out%s.%s", noticeBegin, missing, chars, l.Note, noticeEnd)
}

// noticeChars returns the length of the longest notice for a text of chars characters.
func (l *Limits) noticeChars(chars int) int {
	if l.Notice != "" {
		return utf8.RuneCountInString(l.notice(0, 0))
	}
	return len(l.notice(chars, chars))
}

// wholeChars returns how many characters there were in the text that s was cut from. It is false if s does not end in
// the notice.
func (l *Limits) wholeChars(s string) (chars int, ok bool) {
	if l.Notice != "" {
		return 0, strings.HasSuffix(s, WithNote(l.Notice, l.Note))
	}
	body, ok := strings.CutSuffix(s, noticeEnd)
	if !ok {
		return 0, false
	}
	body = body[max(0, len(body)-100):] // two numbers and a few words
	begin := strings.LastIndex(body, noticeBegin)
	if begin < 0 {
		return 0, false
	}
	missing := 0
	_, err := fmt.Sscanf(body[begin+len(noticeBegin):], "%d of %d characters", &missing, &chars)
	return chars, err == nil && chars >= 0
}

const (
	trimGap = "\n...\n"
	noteEnd = " chars.]"
)

// appendNote appends to b the text behind the ends of a text of chars characters.
func (t Trim) appendNote(b []byte, chars int) []byte {
	b = append(append(b, "\n\n[Tool result trimmed"...), t.Note...)
	b = strconv.AppendInt(append(b, ": kept first "...), int64(t.Head), 10)
	b = strconv.AppendInt(append(b, " chars and last "...), int64(t.Tail), 10)
	b = strconv.AppendInt(append(b, " chars of "...), int64(chars), 10)
	return append(b, noteEnd...)
}

// Made reports whether s is what [Trim.Text] made of a longer text; chars is how many characters s has. With unusual
// options it may be long enough to be trimmed again.
func (t Trim) Made(s string, chars int) bool {
	body, ok := strings.CutSuffix(s, noteEnd)
	if !ok {
		return false
	}
	whole, err := strconv.Atoi(body[strings.LastIndexByte(body, ' ')+1:])
	if err != nil {
		return false
	}
	return strings.HasSuffix(s, string(t.appendNote(nil, whole))) && chars == t.Chars(whole)
}
