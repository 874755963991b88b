package winnow

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
)

// SilentReply is the token with which a model says that it has nothing to tell the user: after a memory flush,
// for example.
const SilentReply = "NO_REPLY"

// SilentToken is a token for silent replies and the form in which it counts. The zero value is [SilentReply] in the
// reference's form: exactly as written, with white space around it. A trailing one counts behind the start of
// the text, white space or *.
//
// Loose is the form of later versions of the reference: in any case (of ASCII letters), repeated, and with
// punctuation around it, so that "**no_reply**." is silent too.
type SilentToken struct {
	Text  string // "" means SilentReply
	Loose bool
}

func (t SilentToken) text() string {
	if t.Text == "" {
		return SilentReply
	}
	return t.Text
}

// IsSilent says that text is nothing but the token: there is nothing to show.
func IsSilent(text string, token SilentToken) bool {
	tail := token.tail(text, textStart)
	if !tail.isToken() {
		return false
	}
	if token.Loose {
		return runes.IsBlank(text[:tail.start])
	}
	return runes.IsBlank(text[:tail.token])
}

// StripSilent returns text without a trailing token, trimmed, and "" where nothing is left. Text that does not end
// in the token is returned as it is.
func StripSilent(text string, token SilentToken) string {
	if tail := token.tail(text, textStart); tail.isToken() {
		return strings.TrimSpace(text[:tail.start])
	}
	return text
}

// SilentFilter passes a stream of text on without a trailing token, and without a part of one. It holds back
// what may become the token with the white space and the marks around it, and nothing else; what turns out to be
// text is passed on unchanged. What it shows of a stream is what it shows of the same text in one piece, and
// is [StripSilent] of it; only white space at the very beginning is shown before it is known that the token follows.
//
// It is for one stream and one goroutine.
type SilentFilter struct {
	w      io.Writer
	token  SilentToken
	held   []byte
	state  silentTail // of held
	last   rune       // the last character that was passed on
	shown  bool       // there is one
	silent bool
	inside [256]bool // bytes that may end a token, or a part of one, with what goes with it
}

// NewSilentFilter returns a filter that writes to w. Call [SilentFilter.Close] at the end of the stream.
func NewSilentFilter(w io.Writer, token SilentToken) *SilentFilter {
	f := &SilentFilter{w: w, token: token}
	for c := range f.inside {
		f.inside[c] = c >= utf8.RuneSelf || !isLetterOrDigit(byte(c))
	}
	for _, c := range mem.Bytes(token.text()) {
		f.inside[c] = true
		if token.Loose {
			f.inside[upper(c)], f.inside[lower(c)] = true, true
		}
	}
	return f
}

// Write takes a chunk of the stream; a chunk may end anywhere, even within a character. The error is that of the
// writer.
func (f *SilentFilter) Write(chunk []byte) (int, error) {
	if len(chunk) > 0 && !f.inside[chunk[len(chunk)-1]] {
		return f.pass(chunk)
	}
	text := chunk
	if before := len(f.held); before > 0 {
		f.held = append(f.held, chunk...)
		if text = f.held; f.staysHeld(before) {
			return len(chunk), nil
		}
	}
	f.state = f.token.tail(mem.String(text), f.prev())
	show := f.state.start
	if show > 0 {
		f.last, _ = utf8.DecodeLastRune(text[:show])
		f.shown = true
		if _, err := f.w.Write(text[:show]); err != nil {
			return 0, err
		}
	}
	f.held = append(f.held[:0], text[show:]...)
	return len(chunk), nil
}

// pass shows a chunk, with what was held before it. Its last character is in no token: nothing is held.
func (f *SilentFilter) pass(chunk []byte) (int, error) {
	show := chunk
	if len(f.held) > 0 {
		f.held = append(f.held, chunk...)
		show = f.held
	}
	f.last, f.shown, f.state = rune(chunk[len(chunk)-1]), true, silentTail{}
	if _, err := f.w.Write(show); err != nil {
		return 0, err
	}
	f.held = f.held[:0]
	return len(chunk), nil
}

// WriteString is Write for a string.
func (f *SilentFilter) WriteString(chunk string) (int, error) {
	return f.Write(mem.Bytes(chunk)) // a writer does not write to what it gets
}

// Close ends the stream: it writes what was held back, unless that is the token. It does not close the writer.
func (f *SilentFilter) Close() error {
	held := f.held
	f.held = nil
	if f.token.tail(mem.String(held), f.prev()).isToken() {
		f.silent = !f.shown
		return nil
	}
	if len(held) == 0 {
		return nil
	}
	f.shown = true
	_, err := f.w.Write(held)
	return err
}

// Silent says, after Close, that the stream was the token alone: nothing was written.
func (f *SilentFilter) Silent() bool { return f.silent }

// prev is the character before what is held.
func (f *SilentFilter) prev() rune {
	if !f.shown {
		return textStart
	}
	return f.last
}

// staysHeld says that what came behind the first `before` bytes changes nothing: a run of white space goes on. A
// long run then costs no look at its beginning with each chunk.
func (f *SilentFilter) staysHeld(before int) bool {
	if !f.state.complete && !f.state.blank {
		return false
	}
	rest := mem.String(f.held[before-f.state.partial:])
	for len(rest) > 0 {
		r, size := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(r) && !(f.state.complete && f.token.Loose && isMark(r)) {
			break
		}
		rest = rest[size:]
	}
	if len(rest) > 0 && !isPartialRune(rest) {
		return false
	}
	f.state.partial = len(rest)
	return true
}

// silentTail is the end of a text that is a token, or may become one.
type silentTail struct {
	start    int  // of what belongs to it: white space and marks before the token
	token    int  // where the first token begins; of a complete one
	complete bool // the token is there, before the partial bytes
	blank    bool // all of it is white space so far
	partial  int  // bytes at the end that begin a character
}

func (t silentTail) isToken() bool { return t.complete && t.partial == 0 }

// textStart stands for the character before a text, where there is none.
const textStart rune = -1

// tail looks at the end of s; prev is the character before s.
func (t SilentToken) tail(s string, prev rune) silentTail {
	cut := len(s) - partialRune(s)
	found := t.tailOf(s[:cut], prev)
	found.partial = len(s) - cut
	if found.partial > 0 {
		if k := t.beginning(s, prev); k > 0 {
			found.start = min(found.start, t.before(s, len(s)-k, prev))
		}
	}
	return found
}

// tailOf is tail for a text that does not end within a character.
func (t SilentToken) tailOf(s string, prev rune) silentTail {
	token, complete := t.lastTokens(s, prev)
	if complete {
		return silentTail{start: t.before(s, token, prev), token: token, complete: true}
	}
	if k := t.beginning(s, prev); k > 0 {
		at := len(s) - k
		if earlier, ok := t.lastTokens(s[:at], prev); ok && t.Loose {
			at = earlier
		}
		return silentTail{start: t.before(s, at, prev)}
	}
	start := t.before(s, len(s), prev)
	return silentTail{start: start, blank: start < len(s) && runes.IsBlank(s[start:])}
}

// lastTokens returns where the tokens at the end of s begin: one in the exact form, any number in the loose one.
func (t SilentToken) lastTokens(s string, prev rune) (at int, ok bool) {
	token := t.text()
	for end := len(s); ; {
		if begin := end - len(token); begin >= 0 && t.equal(s[begin:end], token) && t.isBoundary(s, begin, prev) {
			if at, ok = begin, true; !t.Loose {
				return at, ok
			}
			end = begin
			continue
		}
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if size == 0 || !unicode.IsSpace(r) && !(t.Loose && isMark(r)) {
			return at, ok
		}
		end -= size
	}
}

// beginning returns how many bytes at the end of s begin the token, less than all of it.
func (t SilentToken) beginning(s string, prev rune) int {
	token := t.text()
	for k := min(len(token)-1, len(s)); k > 0; k-- {
		if upper(s[len(s)-1]) != upper(token[k-1]) {
			continue // no beginning of the token ends so: quicker to see than the rest
		}
		if t.equal(s[len(s)-k:], token[:k]) && t.isBoundary(s, len(s)-k, prev) {
			return k
		}
	}
	return 0
}

// isBoundary says that a token may begin at i of s.
func (t SilentToken) isBoundary(s string, i int, prev rune) bool {
	r := prev
	if i > 0 {
		r, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	return r == textStart || r == '*' || unicode.IsSpace(r) || t.Loose && isMark(r)
}

// maxMarks is how many marks go with a token. A longer run of them is a line in the text.
const maxMarks = 32

// before returns where what goes with a token at i begins: the marks that open it, and white space. In the loose
// form these are all marks, if nothing but marks stands before the token.
func (t SilentToken) before(s string, i int, prev rune) int {
	opening := "*"
	if t.Loose {
		opening = "*_~`\"'([{<"
	}
	if t.Loose && prev == textStart && isMarks(s[:i]) {
		return 0
	}
	marks := s[max(0, i-maxMarks):i]
	i -= len(marks) - len(strings.TrimRight(marks, opening))
	return len(strings.TrimRightFunc(s[:i], unicode.IsSpace))
}

// isMarks says that s is white space and at most maxMarks marks.
func isMarks(s string) bool {
	marks := 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			continue
		}
		if marks++; marks > maxMarks || !isMark(r) {
			return false
		}
	}
	return true
}

// equal compares with the token, or the beginning of it.
func (t SilentToken) equal(s, token string) bool {
	if !t.Loose {
		return s == token
	}
	for i := range len(s) {
		if upper(s[i]) != upper(token[i]) {
			return false
		}
	}
	return true
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

func isLetterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= upper(c) && upper(c) <= 'Z'
}

// isMark says that r is punctuation, or a symbol as Markdown uses it.
func isMark(r rune) bool {
	return r < utf8.RuneSelf && strings.ContainsRune("`~^|<>=+$", r) || unicode.IsPunct(r)
}

// partialRune returns how many bytes at the end of s begin a character that is not all there.
func partialRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if tail := s[len(s)-n:]; utf8.RuneStart(tail[0]) {
			if isPartialRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

// isPartialRune says that s is the beginning of one character, and not all of it.
func isPartialRune(s string) bool {
	return len(s) > 0 && len(s) < utf8.UTFMax && s[0] >= utf8.RuneSelf && !utf8.FullRuneInString(s)
}
