package winnow

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/maphash"
	"math/bits"
	"unsafe"
	"weak"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/place"
)

// How the manager recognises a message that it has seen before.

// key is the identity of a message by what a provider is sent of it: role, parts, call id, tool, error
// flag. What a host may add later (usage, details, pins, an ID) is not in it. SHA-256, because a tool
// result that could be made to collide with another would be sent with the other's edit.
type key = place.Key

// hasher computes keys. It is reused, for its memory.
type hasher struct {
	sha    hash.Hash
	buffer []byte
	sum    [sha256.Size]byte
}

// key reads all of m once. The lengths in front of the texts make the parts of two messages comparable one by one.
func (h *hasher) key(m *Message) key {
	if h.sha == nil {
		h.sha = sha256.New()
		h.buffer = make([]byte, 0, 1<<10)
	}
	h.sha.Reset()
	h.string(string(m.Role))
	h.string(m.ToolCallID)
	h.string(m.ToolName)
	if m.IsError {
		h.int(1)
	}
	h.int(len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		h.string(string(p.Kind))
		h.string(p.Text)
		h.string(p.Signature)
		h.string(p.ID)
		h.string(p.Name)
		h.int(len(p.Arguments))
		h.flush()
		h.sha.Write(p.Arguments)
		h.string(p.MediaType)
		h.int(p.Bytes)
		// Only of images: a size that a host sets on other parts is not sent.
		if p.Kind == KindImage {
			h.int(p.Width)
			h.int(p.Height)
		}
	}
	h.flush()
	return key(h.sha.Sum(h.sum[:0])[:len(key{})])
}

// string adds s with its length in front, so that neighbours cannot run into each other.
func (h *hasher) string(s string) {
	h.int(len(s))
	if len(s) >= cap(h.buffer) { // not worth a copy
		h.flush()
		h.sha.Write(mem.Bytes(s))
		return
	}
	for len(s) > 0 {
		n := min(len(s), cap(h.buffer)-len(h.buffer))
		h.buffer = append(h.buffer, s[:n]...)
		s = s[n:]
		if len(h.buffer) == cap(h.buffer) {
			h.flush()
		}
	}
}

// int adds a number in eight bytes.
func (h *hasher) int(n int) {
	if cap(h.buffer)-len(h.buffer) < 8 {
		h.flush()
	}
	h.buffer = binary.LittleEndian.AppendUint64(h.buffer, uint64(n))
}

// flush hands the buffer to the hash, which has a price for each call.
func (h *hasher) flush() {
	h.sha.Write(h.buffer)
	h.buffer = h.buffer[:0]
}

// mixed adds x to the hash h: one multiplication to 128 bits, as wyhash does, with the golden ratio as the factor. The
// sum keeps a zero from staying one.
func mixed(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, 0x9e3779b97f4a7c15)
	return hi ^ lo + 0x632be59bd9b4e019
}

// sampleHash identifies a message by its short texts, and of its long ones by where they lie in memory, their lengths
// and a few of their bytes. It costs some nanoseconds where a key costs a pass over the text. Strings do not change, so
// equal samples mean an equal message as long as the host goes on using the values that it passed before. What a host
// may write anew for each call, with a clock in it, can come to lie where the one before it lay: messages of the system
// and of users are read whole. So are arguments, which are bytes, and may be overwritten.
func sampleHash(m *Message) uint64 {
	h := uint64(len(m.Parts))
	mix := func(x uint64) { h = mixed(h, x) }
	isAnew := isReadWhole(m)
	text := func(s string) {
		if mix(uint64(len(s))); len(s) == 0 {
			return
		}
		if isAnew || len(s) <= sampleBytes {
			mix(maphash.String(idSeed, s))
			return
		}
		// Where a string lies says which one it is as long as somebody holds it, see anchor. The words from its
		// beginning, its middle and its end are for memory that was freed and is used again.
		mix(uint64(uintptr(unsafe.Pointer(unsafe.StringData(s)))))
		mix(ascii.LoadWord(s, 0))
		mix(ascii.LoadWord(s, len(s)/2-4))
		mix(ascii.LoadWord(s, len(s)-8))
	}
	text(string(m.Role))
	text(m.ToolCallID)
	text(m.ToolName)
	if m.IsError {
		mix(1)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		text(string(p.Kind))
		text(p.Text)
		text(p.Signature)
		text(p.ID)
		text(p.Name)
		if len(p.Arguments) > 0 {
			mix(maphash.Bytes(idSeed, p.Arguments))
		}
		text(p.MediaType)
		mix(uint64(p.Bytes) ^ uint64(p.Width)<<40 ^ uint64(p.Height)<<20)
		mix(uint64(p.Tokens))
	}
	return h
}

// isReadWhole reports whether all of m is in its sampleHash.
func isReadWhole(m *Message) bool { return m.Role != RoleAssistant && m.Role != RoleTool }

// sampleBytes is the length up to which sampleHash reads all of a text: to hash 256 bytes takes about as long as
// to wait for one line of memory.
const sampleBytes = 256

// An anchor is the first text of a history that sampleHash knows by where it lies. As long as the host holds it, and
// passes it again, the host holds its other texts too. Where it was freed, a host reads its log anew for each call: any
// text of it may have come to lie where another one of the same length lay, and has to be read.
type anchor struct {
	index, part int
	isSignature bool // of the part, not its text
	text        weak.Pointer[byte]
}

// isSet reports whether there is such a text.
func (a *anchor) isSet() bool { return a.text != weak.Pointer[byte]{} }

// stillHolds reports whether the texts of history that lie where they lay are what they were.
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
	return unsafe.StringData(s) == a.text.Value()
}

// set makes the first such text from message `from` on the anchor.
func (a *anchor) set(history []Message, from int) {
	*a = anchor{}
	for i := from; i < len(history); i++ {
		if isReadWhole(&history[i]) {
			continue
		}
		for k := range history[i].Parts {
			p := &history[i].Parts[k]
			if s := p.Text; len(s) > sampleBytes {
				*a = anchor{i, k, false, weak.Make(unsafe.StringData(s))}
				return
			}
			if s := p.Signature; len(s) > sampleBytes {
				*a = anchor{i, k, true, weak.Make(unsafe.StringData(s))}
				return
			}
		}
	}
}

// marks tells what a host may set on a message that was sent, and that decides what becomes of it.
func marks(m *Message) (h uint64) {
	for i, set := range [...]bool{m.Pinned, m.Injected, m.Summary, isFailed(m)} {
		if set {
			h |= 1 << i
		}
	}
	return h
}

// trimmings tells what goes along with a message: what a host may set on one that was sent, and gets back with it.
func trimmings(m *Message) uint64 {
	h := uint64(uintptr(unsafe.Pointer(m.Usage)))
	mix := func(x uint64) { h = mixed(h, x) }
	if u := m.Usage; u != nil {
		mix(uint64(u.Input))
		mix(uint64(u.CacheRead))
		mix(uint64(u.CacheWrite))
		mix(uint64(u.Output))
	}
	mix(placeOf(m.ID))
	mix(placeOf(m.StopReason))
	mix(placeOf(mem.String(m.Details)))
	if !m.Time.IsZero() {
		mix(uint64(m.Time.UnixNano()))
	}
	a, b := wordsOf(&m.Source)
	mix(a)
	mix(b)
	for i := range m.Parts {
		a, b = wordsOf(&m.Parts[i].Source)
		mix(a)
		mix(b)
	}
	return h
}

// placeOf is where a text lies, with its length.
func placeOf(s string) uint64 {
	return bits.RotateLeft64(uint64(len(s)), 48) ^ uint64(uintptr(unsafe.Pointer(unsafe.StringData(s))))
}

// wordsOf are the two words of an interface: it may hold what cannot be compared.
func wordsOf(v *any) (a, b uint64) {
	w := (*[2]uintptr)(unsafe.Pointer(v))
	return uint64(w[0]), uint64(w[1])
}

// headerHash identifies a message by what lies in it itself, without a look at its parts: it costs a nanosecond
// or two, and tells when another message was put in its place, or something was set on it.
func headerHash(m *Message) uint64 {
	h := uint64(len(m.Parts))<<32 | uint64(len(m.ToolCallID))<<16 | uint64(len(m.Role))<<8
	h |= marks(m) << 1
	if m.IsError {
		h++
	}
	a, b := wordsOf(&m.Source)
	h ^= uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.Parts)))) * 0x9e3779b97f4a7c15
	h ^= bits.RotateLeft64((placeOf(m.ID)^uint64(uintptr(unsafe.Pointer(m.Usage))))*0xd6e8feb86659fd93, 17)
	h ^= bits.RotateLeft64((a^bits.RotateLeft64(b, 32))*0xa0761d6478bd642f, 47)
	callID := uint64(uintptr(unsafe.Pointer(unsafe.StringData(m.ToolCallID))))
	return h ^ bits.RotateLeft64(callID*0xc2b2ae3d27d4eb4f, 31)
}

// idSeed is of this process: no id of a transcript can be made to collide.
var idSeed = maphash.MakeSeed()
