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
	type message struct {
		role                 winnow.Role
		toolCallID, toolName string
		isError              bool
	}
	maphash.WriteComparable(&h, message{m.Role, m.ToolCallID, m.ToolName, m.IsError})
	for i := range m.Parts {
		p := m.Parts[i]
		maphash.WriteComparable(&h, [...]string{string(p.Kind), p.Text, p.Signature, p.ID, p.Name, p.MediaType})
		maphash.WriteComparable(&h, string(p.Arguments))
		maphash.WriteComparable(&h, p.Bytes)
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
