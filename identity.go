package winnow

import (
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/sample"
)

// How the manager recognizes a message that it has seen before.

// key identifies a message by what a provider receives of it: role, parts, call id, tool and error flag. What a host
// may add later (usage, details, pins, an ID) is not in it. It is the beginning of a SHA-256 hash, because a tool
// result that somebody made to collide with another one would be sent with the other's edit.
type key = place.Key

// hasher computes the keys of messages.
type hasher struct{ place.Hasher }

// key returns the key of m. It reads all of m once. Each text has its length in front, so that different parts give
// different bytes.
func (h *hasher) key(m *Message) key {
	h.Begin()
	h.Text(string(m.Role))
	h.Text(m.ToolCallID)
	h.Text(m.ToolName)
	if m.IsError {
		h.Number(1)
	}
	h.Number(len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		h.Text(string(p.Kind))
		h.Text(p.Text)
		h.Text(p.Signature)
		h.Text(p.ID)
		h.Text(p.Name)
		h.Bytes(p.Arguments)
		h.Text(p.MediaType)
		h.Number(p.Bytes)
		// Only of images: providers do not receive a size that a host sets on other parts.
		if p.Kind == KindImage {
			h.Number(p.Width)
			h.Number(p.Height)
		}
	}
	return h.Key()
}

// sampleHash identifies m by its short texts, and by the address, the length and a few bytes of each long text. It
// takes some nanoseconds, where a key takes a pass over the text. Strings do not change, so equal samples mean an equal
// message as long as the host goes on using the values that it passed before. A host may write some messages anew for
// each call, with the time in them for example, and the new text can lie where the old one lay. Such messages are of
// the system or of users, so sampleHash reads those whole. It also reads arguments whole, because they are bytes and
// may be overwritten.
func sampleHash(m *Message) uint64 {
	h, isAnew := uint64(len(m.Parts)), isReadWhole(m)
	text := func(s string) { h = sample.Add(h, s, isAnew) }
	text(string(m.Role))
	text(m.ToolCallID)
	text(m.ToolName)
	if m.IsError {
		h = sample.Mix(h, 1)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		text(string(p.Kind))
		text(p.Text)
		text(p.Signature)
		text(p.ID)
		text(p.Name)
		if len(p.Arguments) > 0 {
			h = sample.Mix(h, sample.Of(mem.String(p.Arguments)))
		}
		text(p.MediaType)
		h = sample.Mix(h, uint64(p.Bytes)^uint64(p.Width)<<40^uint64(p.Height)<<20)
		h = sample.Mix(h, uint64(p.Tokens)^uint64(p.Pages)<<40^uint64(p.Seconds)<<20)
	}
	return h
}

// isReadWhole reports whether sampleHash reads all of m.
func isReadWhole(m *Message) bool { return m.Role != RoleAssistant && m.Role != RoleTool }

// An anchor is the first text of a history that sampleHash identifies by its address. As long as the host holds that
// text and passes it again, it holds the other texts too. If the text was freed, the host reads its log anew for each
// call. Any text may then lie where another one of the same length lay, so all of them have to be read.
type anchor struct {
	index, part int
	isSignature bool // text is the Signature of the part, not its Text
	text        mem.Ref
}

// isSet reports whether a has a text.
func (a *anchor) isSet() bool { return a.text != mem.Ref{} }

// stillHolds reports whether a text of history is unchanged if it has the address that it had before.
func (a *anchor) stillHolds(history []Message) bool {
	if !a.isSet() {
		return true
	}
	if a.index >= len(history) || a.part >= len(history[a.index].Parts) {
		return false
	}
	p := &history[a.index].Parts[a.part]
	s := p.Text
	if a.isSignature {
		s = p.Signature
	}
	return a.text.Is(s)
}

// set makes a the anchor of history: the first text, from message `from` on, that sampleHash identifies by its address.
func (a *anchor) set(history []Message, from int) {
	*a = anchor{}
	for i := from; i < len(history); i++ {
		if isReadWhole(&history[i]) {
			continue
		}
		for k := range history[i].Parts {
			p := &history[i].Parts[k]
			if s := p.Text; len(s) > sample.Long {
				*a = anchor{i, k, false, mem.RefTo(s)}
				return
			}
			if s := p.Signature; len(s) > sample.Long {
				*a = anchor{i, k, true, mem.RefTo(s)}
				return
			}
		}
	}
}

// hostCounts returns a hash of what the host counted of the parts of m: tokens, pages, seconds. This is not sent, so
// the key does not have it, but the estimate depends on it.
func hostCounts(m *Message) (n uint32) {
	for i := range m.Parts {
		n = n*31 + uint32(m.Parts[i].Tokens) + uint32(m.Parts[i].Pages)*7 + uint32(m.Parts[i].Seconds)*13
	}
	return n
}
