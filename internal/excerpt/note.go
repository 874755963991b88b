package excerpt

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

const (
	noticeBegin = "\n\n[Tool result cut: "
	noticeEnd   = " Ask for the part that you need, by offset and limit or by a narrower search, instead of the whole.]"
	noticeRoom  = 256 // bytes: our own notice is not longer
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

// appendNotice appends the text behind what was cut: the host's own, or how many characters are missing.
func (l *Limits) appendNotice(b []byte, missing, chars int) []byte {
	if l.Notice != "" {
		return append(b, WithNote(l.Notice, l.Note)...)
	}
	b = append(b, noticeBegin...)
	b = strconv.AppendInt(b, int64(missing), 10)
	b = append(b, " of "...)
	b = strconv.AppendInt(b, int64(chars), 10)
	b = append(b, " characters left out"...)
	b = append(b, l.Note...)
	b = append(b, '.')
	return append(b, noticeEnd...)
}

// noticeChars returns the length of the longest notice for a text of chars characters.
func (l *Limits) noticeChars(chars int) int {
	if l.Notice != "" {
		return runes.Count(WithNote(l.Notice, l.Note))
	}
	var room [noticeRoom]byte
	return len(l.appendNotice(room[:0], chars, chars))
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
	missing, rest, _ := strings.Cut(body[begin+len(noticeBegin):], " of ")
	whole, _, ok := strings.Cut(rest, " characters")
	if _, err := strconv.Atoi(missing); err != nil {
		ok = false
	}
	chars, err := strconv.Atoi(whole)
	return chars, ok && err == nil && chars >= 0
}

const (
	trimGap  = "\n...\n"
	noteEnd  = " chars.]"
	noteRoom = 160 // bytes: a note is not longer
)

func (t Trim) appendNote(b []byte, chars int) []byte {
	b = append(b, "\n\n[Tool result trimmed"...)
	b = append(b, t.Note...)
	b = append(b, ": kept first "...)
	b = strconv.AppendInt(b, int64(t.Head), 10)
	b = append(b, " chars and last "...)
	b = strconv.AppendInt(b, int64(t.Tail), 10)
	b = append(b, " chars of "...)
	b = strconv.AppendInt(b, int64(chars), 10)
	return append(b, noteEnd...)
}

// EndsInNote reports whether s ends as what [Trim.Text] makes does.
func EndsInNote(s string) bool { return strings.HasSuffix(s, noteEnd) }

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
	var room [noteRoom]byte
	return strings.HasSuffix(s, string(t.appendNote(room[:0], whole))) && chars == t.Chars(whole)
}
