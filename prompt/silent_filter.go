package silent

import (
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/mem"
)

// Filter passes a stream of text on without a trailing token, and without a part of one. It is for one goroutine.
type Filter struct {
	w      io.Writer
	token  Token
	held   []byte
	state  tail // of held
	last   rune // the last character that was passed on
	shown  bool // there is one
	silent bool
	inside [256]bool // bytes that may end a token, or a part of one, with what belongs to it
}

// NewFilter returns a filter that writes to w.
func NewFilter(w io.Writer, token Token) Filter {
	f := Filter{w: w, token: token}
	for c := range f.inside {
		f.inside[c] = c >= utf8.RuneSelf || !ascii.IsLetter(byte(c)) && !ascii.IsDigit(byte(c))
	}
	for _, c := range mem.Bytes(token.Text) {
		f.inside[c] = true
		if token.Loose {
			f.inside[ascii.ToUpper(c)], f.inside[ascii.ToLower(c)] = true, true
		}
	}
	return f
}

// Write takes a chunk of the stream; a chunk may end anywhere, even within a character. The error is that of the
// writer.
func (f *Filter) Write(chunk []byte) (int, error) {
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
func (f *Filter) pass(chunk []byte) (int, error) {
	show := chunk
	if len(f.held) > 0 {
		f.held = append(f.held, chunk...)
		show = f.held
	}
	f.last, f.shown, f.state = rune(chunk[len(chunk)-1]), true, tail{}
	if _, err := f.w.Write(show); err != nil {
		return 0, err
	}
	f.held = f.held[:0]
	return len(chunk), nil
}

// Close ends the stream: it writes what was held back, unless that is the token. It does not close the writer.
func (f *Filter) Close() error {
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

// Silent reports, after Close, whether the stream was the token alone.
func (f *Filter) Silent() bool { return f.silent }

// prev is the character before what is held.
func (f *Filter) prev() rune {
	if !f.shown {
		return textStart
	}
	return f.last
}

// staysHeld reports whether what came behind the first `before` bytes changes nothing: a run of white space goes on. A
// long run then costs no look at its beginning with each chunk.
func (f *Filter) staysHeld(before int) bool {
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
