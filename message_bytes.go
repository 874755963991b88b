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

// messageBytes estimates how many bytes m takes in a request's body. controls is as in [jsontext.Size].
func messageBytes(m *Message) (n int, controls bool) {
	n = messageFrame + len(m.ToolCallID) + len(m.ToolName)
	for i := range m.Parts {
		p := &m.Parts[i]
		text, has := jsontext.Size(p.Text)
		n = count.Add(n, partFrame+text+len(p.Signature)+len(p.ID)+len(p.Name)+len(p.Arguments))
		n = count.Add(n, jsontext.HTMLEscapes(mem.String(p.Arguments)))
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
