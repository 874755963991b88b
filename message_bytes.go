package winnow

import (
	"math"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
)

// About how many bytes JSON puts around a message and around a part: the field names of the common providers with their
// quotes.
const (
	messageFrame = 60
	partFrame    = 40
)

// messageBytes estimates how many bytes m takes in a request's body. controls is as in jsonBytes.
func messageBytes(m *Message) (n int, controls bool) {
	n = messageFrame + len(m.ToolCallID) + len(m.ToolName)
	for i := range m.Parts {
		p := &m.Parts[i]
		text, has := jsonBytes(p.Text)
		n = count.Add(n, partFrame+text+len(p.Signature)+len(p.ID)+len(p.Name)+len(p.Arguments))
		n = count.Add(n, htmlEscapes(mem.String(p.Arguments)))
		n = count.Add(n, max(0, p.Bytes))
		controls = controls || has
	}
	return n, controls
}

// bodySize returns messageBytes in the type of [fact.body]: facts keep it, so that no text is read twice for it.
func bodySize(m *Message) (size uint32, controls bool) {
	n, controls := messageBytes(m)
	return uint32(min(uint64(n), math.MaxUint32)), controls
}

// jsonBytes returns the length of s in JSON: a newline, a tab, a quote and a backslash each take one byte more, and the
// escape character of terminals takes five. Other control characters are rare, and count as they are. controls says
// that s has one that a terminal obeys: an escape character or a carriage return.
func jsonBytes(s string) (n int, controls bool) {
	returns, escapes := strings.Count(s, "\r"), strings.Count(s, "\x1b")
	n = len(s) + returns + 5*escapes + htmlEscapes(s)
	for _, c := range [...]string{"\n", "\t", `"`, `\`} {
		n += strings.Count(s, c)
	}
	return n, returns+escapes > 0
}

// htmlEscapes returns how many bytes s gets longer where <, > and & are written as \u003c, \u003e and \u0026: package
// json does that, and so the SDKs of Anthropic and Google. For an SDK that does not (OpenAI's) it is too much, and a
// page of HTML counts as up to half as large again: better than a body that a provider refuses.
func htmlEscapes(s string) int {
	n := 0
	for _, c := range [...]string{"<", ">", "&"} {
		n += strings.Count(s, c)
	}
	return len(`u003c`) * n
}
