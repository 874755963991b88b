package winnow

import (
	"io"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/silent"
)

// SilentReply is the token with which a model says that it has nothing to tell the user, for example after a memory
// flush.
const SilentReply = "NO_REPLY"

// SilentToken is a token for silent replies and the form in which it counts. The zero value is [SilentReply] in the
// reference's form: exactly as written, with white space around it. A trailing token counts after the start of the
// text, white space or *.
//
// Loose is the form of later versions of the reference: in any case (of ASCII letters), repeated, and with
// punctuation around it, so that "**no_reply**." is silent too.
type SilentToken struct {
	Text  string // "" means SilentReply
	Loose bool
}

// form is the token for package silent.
func (t SilentToken) form() silent.Token {
	if t.Text == "" {
		t.Text = SilentReply
	}
	return silent.Token(t)
}

// IsSilent reports whether text is only the token, so that there is nothing to show.
func IsSilent(text string, token SilentToken) bool { return token.form().Is(text) }

// StripSilent returns text without a trailing token, trimmed, or "" if nothing is left. Text that does not end in the
// token is returned unchanged.
func StripSilent(text string, token SilentToken) string { return token.form().Strip(text) }

// SilentFilter passes a stream of text on without a trailing token, and without a part of one. It holds back only text
// that may become the token, with the white space and the marks around it; what turns out to be text is passed on
// unchanged. In whatever chunks a text comes, the filter passes on what [StripSilent] returns for it. The one exception
// is white space at the very beginning, which is passed on before it is known that the token follows.
//
// It is for one stream and one goroutine.
type SilentFilter struct{ filter silent.Filter }

// NewSilentFilter returns a filter that writes to w. Call [SilentFilter.Close] at the end of the stream.
func NewSilentFilter(w io.Writer, token SilentToken) *SilentFilter {
	return &SilentFilter{silent.NewFilter(w, token.form())}
}

// Write takes a chunk of the stream; a chunk may end anywhere, even within a character. The error comes from the
// writer.
func (f *SilentFilter) Write(chunk []byte) (int, error) { return f.filter.Write(chunk) }

// WriteString is Write for a string.
func (f *SilentFilter) WriteString(chunk string) (int, error) {
	return f.filter.Write(mem.Bytes(chunk)) // a writer does not write to what it gets
}

// Close ends the stream: it writes what was held back, unless that is the token. It does not close the writer.
func (f *SilentFilter) Close() error { return f.filter.Close() }

// Silent reports, after Close, whether the stream was only the token, so that nothing was written.
func (f *SilentFilter) Silent() bool { return f.filter.Silent() }
