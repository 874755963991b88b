package openclaw

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/mem"
)

// SilentFilter passes on what [StripSilent] returns for a stream of text, in whatever chunks it comes, but for white
// space at the very beginning, which stays. It holds back only what may become the token, with white space and marks
// around it, and a <think> block at the beginning. It is for one stream and one goroutine.
type SilentFilter struct {
	w      io.Writer
	token  SilentToken
	lead   lead // of what was held so far, leadOpen until it is known
	begin  int  // where the text begins in what is held, until it is known
	held   []byte
	state  silentTail // of held
	last   rune       // the last character that was passed on
	shown  bool       // there is one
	silent bool
}

// NewSilentFilter returns a filter that writes to w. Call [SilentFilter.Close] at the end of the stream.
func NewSilentFilter(w io.Writer, token SilentToken) *SilentFilter {
	return &SilentFilter{w: w, token: token, lead: leadOpen}
}

// Write takes a chunk, which may end anywhere, even within a character. The error comes from the writer.
func (f *SilentFilter) Write(chunk []byte) (int, error) {
	switch f.lead {
	case leadText:
		return f.write(chunk)
	case leadOpen:
		return f.open(chunk)
	}
	return len(chunk), nil
}

// open takes a chunk of a stream of which it is not known yet whether it begins with the token.
func (f *SilentFilter) open(chunk []byte) (int, error) {
	f.held = append(f.held, chunk...)
	text := mem.String(f.held)
	searched := max(f.begin, len(text)-len(chunk)-len(thinkCloses))
	if strings.HasPrefix(text[f.begin:], thinkOpens) && !strings.Contains(text[searched:], thinkCloses) {
		return len(chunk), nil // it goes on: no look at its beginning with each chunk
	}
	f.begin += afterThoughts(text[f.begin:])
	if f.lead = f.token.lead(text[f.begin:], false); f.lead == leadOpen {
		return len(chunk), nil
	}
	held := f.held
	f.held = nil
	if f.lead == leadText {
		if _, err := f.write(held); err != nil {
			return 0, err
		}
	}
	return len(chunk), nil
}

// write takes a chunk of a text that does not begin with the token.
func (f *SilentFilter) write(chunk []byte) (int, error) {
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

// Close ends the stream: it writes what was held back, unless that is the token. It does not close the writer.
func (f *SilentFilter) Close() error {
	held := f.held
	f.held = nil
	switch {
	case f.lead == leadSilent, f.lead == leadOpen && IsSilent(mem.String(held), f.token):
		f.silent = true
		return nil
	case f.lead == leadOpen:
		f.lead = leadText
		if _, err := f.write(held); err != nil {
			return err
		}
		held, f.held = f.held, nil
	}
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

// Silent reports, after Close, whether nothing was written because the stream was silent.
func (f *SilentFilter) Silent() bool { return f.silent }

// prev is the character before what is held.
func (f *SilentFilter) prev() rune {
	if !f.shown {
		return textStart
	}
	return f.last
}

// staysHeld reports whether what came behind the first `before` bytes changes nothing: a run of white space goes on. A
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
