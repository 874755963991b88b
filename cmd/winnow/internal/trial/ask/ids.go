package ask

import (
	"crypto/sha256"
	"math/big"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
)

// withIDs returns messages whose calls have ids that every provider takes. Those of other providers are longer, or have
// other characters.
func withIDs(messages []winnow.Message) []winnow.Message {
	out := slices.Clone(messages)
	for i := range out {
		m := &out[i]
		if m.Role == winnow.RoleTool {
			m.ToolCallID = callID(m.ToolCallID)
		}
		isCopied := false
		for k := range m.Parts {
			if m.Parts[k].Kind != winnow.KindToolCall {
				continue
			}
			if !isCopied {
				m.Parts, isCopied = slices.Clone(m.Parts), true
			}
			m.Parts[k].ID = callID(m.Parts[k].ID)
		}
	}
	return out
}

// callID returns an id of nine letters and digits for another one, as Mistral wants them.
func callID(id string) string {
	const digits = 9
	sum := sha256.Sum256([]byte(id))
	text := new(big.Int).SetBytes(sum[:8]).Text(36)
	return strings.Repeat("0", max(0, digits-len(text))) + text[max(0, len(text)-digits):]
}
