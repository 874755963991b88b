package winnow

import (
	"math"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
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
		n = count.Add(n, partFrame+jsontext.Size(p.Text)+len(p.Signature)+len(p.ID)+len(p.Name)+len(p.Arguments))
		n = count.Add(n, jsontext.HTMLEscapes(mem.String(p.Arguments)))
		n = count.Add(n, max(0, p.Bytes))
	}
	return n
}

// bodySize returns messageBytes in the type of [fact.body]. It is never 0.
func bodySize(m *Message) uint32 { return uint32(min(uint64(messageBytes(m)), math.MaxUint32)) }

// isLaterResult reports whether m is a text that shows another result of a call that has one.
func isLaterResult(m *Message) bool { return m.Role == RoleUser && m.Injected && m.ToolCallID != "" }

// returnsContent reports whether m shows what a tool returned.
func returnsContent(m *Message) bool { return m.Role == RoleTool || isLaterResult(m) }
