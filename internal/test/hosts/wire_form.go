package hosts

import (
	"hash/maphash"

	"github.com/winnowgo/winnow"
)

var seed = maphash.MakeSeed()

// wireForms identifies messages by the form that a provider gets.
func wireForms(messages []winnow.Message) []uint64 {
	out := make([]uint64, len(messages))
	for i := range messages {
		out[i] = wireForm(&messages[i])
	}
	return out
}

func wireForm(m *winnow.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	number := func(n int) {
		for range 4 {
			_ = h.WriteByte(byte(n))
			n >>= 8
		}
	}
	field := func(s string) {
		number(len(s))
		_, _ = h.WriteString(s)
	}
	field(string(m.Role))
	field(m.ToolCallID)
	field(m.ToolName)
	number(map[bool]int{true: 1}[m.IsError])
	number(len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		field(string(p.Kind))
		field(p.Text)
		field(p.Signature)
		field(p.ID)
		field(p.Name)
		number(len(p.Arguments))
		_, _ = h.Write(p.Arguments)
		field(p.MediaType)
		number(p.Bytes)
	}
	return h.Sum64()
}

// together identifies a list of messages.
func together(forms []uint64) uint64 {
	n := uint64(len(forms))
	for _, form := range forms {
		n = maphash.Comparable(seed, [2]uint64{n, form})
	}
	return n
}
