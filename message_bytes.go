package winnow

import (
	"math"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
)

// About how many bytes JSON puts around a message and around a part: the field names of the common providers with their
// quotes.
const (
	messageFrame = 60
	partFrame    = 40
)

// messageBytes estimates how many bytes m takes in a request's body.
func messageBytes(m *Message) int {
	n := messageFrame + len(m.ToolCallID) + len(m.ToolName)
	for i := range m.Parts {
		p := &m.Parts[i]
		n = count.Add(n, partFrame+jsonBytes(p.Text)+len(p.Signature)+len(p.ID)+len(p.Name)+len(p.Arguments))
		n = count.Add(n, max(0, p.Bytes))
	}
	return n
}

// bodySize returns messageBytes in the type of [fact.body]: facts keep it, so that no text is read twice for it.
func bodySize(m *Message) uint32 { return uint32(min(uint64(messageBytes(m)), math.MaxUint32)) }

// jsonBytes returns the length of s in JSON: a newline, a tab, a quote and a backslash each take one byte more, and the
// escape character of terminals takes five. Other control characters are rare, and count as they are.
func jsonBytes(s string) int {
	n := len(s)
	for _, c := range [...]string{"\n", "\t", "\r", `"`, `\`} {
		n += strings.Count(s, c)
	}
	return n + 5*strings.Count(s, "\x1b")
}
