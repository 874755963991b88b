package winnow

import (
	"hash/maphash"
	"math/bits"

	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/toolcall"
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
	if m.Speaker != "" && m.Role == RoleUser { // a result has no name in any form
		h.Number(2)
		h.Text(m.Speaker)
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

// sampleHash identifies m by its short texts, and by the address and the length of each long one, of its role and of
// its kinds. It takes some nanoseconds, where a key takes a pass over the text. Strings do not change, so equal samples
// mean an equal message as long as the host goes on using the values that it passed before. A host may write some
// messages anew for each call, with the time in them for example, and the new text can lie where the old one lay. Such
// messages are of the system or of users, so sampleHash reads those whole. It also reads arguments whole, because they
// are bytes and may be overwritten.
func sampleHash(m *Message) uint64 {
	h, isAnew := uint64(len(m.Parts)), isReadWhole(m)
	text := func(s string) { h = addSample(h, s, isAnew) }
	h = mix(h, placeOf(string(m.Role)))
	text(m.ToolCallID)
	text(m.ToolName)
	text(m.Speaker)
	if m.IsError {
		h = mix(h, 1)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		h = mix(h, placeOf(string(p.Kind)))
		text(p.Text)
		text(p.Signature)
		text(p.ID)
		text(p.Name)
		if len(p.Arguments) > 0 {
			h = mix(h, maphash.String(sampleSeed, mem.String(p.Arguments)))
		}
		text(p.MediaType)
		h = mix(h, uint64(p.Bytes)^uint64(p.Width)<<40^uint64(p.Height)<<20)
		h = mix(h, uint64(p.Tokens)^uint64(p.Pages)<<40^uint64(p.Seconds)<<20)
	}
	return h
}

// sampleSeed differs in each process, so that nobody can write two texts with one hash.
var sampleSeed = maphash.MakeSeed()

// sampledLong is the length above which addSample does not read all of a text. To hash 256 bytes takes about as long as
// to wait for one line of memory.
const sampledLong = 256

// addSample adds s to the hash h. Of a long text it takes only the place, which identifies a string as long as somebody
// holds it, unless readAll is set.
func addSample(h uint64, s string, readAll bool) uint64 {
	if h = mix(h, uint64(len(s))); len(s) == 0 {
		return h
	}
	if readAll || len(s) <= sampledLong {
		return mix(h, maphash.String(sampleSeed, s))
	}
	return mix(h, placeOf(s))
}

// mix returns the hash h with x added. As in wyhash, that is one multiplication to 128 bits. The factor is the golden
// ratio. The constant that is added keeps a product of 0 from making the hash 0.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, 0x9e3779b97f4a7c15)
	return hi ^ lo + 0x632be59bd9b4e019
}

// placeOf returns a hash of the address and the length of s.
func placeOf(s string) uint64 { return bits.RotateLeft64(uint64(len(s)), 48) ^ uint64(mem.Address(s)) }

// isReadWhole reports whether sampleHash reads all of m.
func isReadWhole(m *Message) bool { return m.Role != RoleAssistant && m.Role != RoleTool }

// An anchor is the first text of a history that sampleHash identifies by its address. As long as the host passes that
// text again, it holds the other texts too. If it passes another one, it reads its log anew for each call. Any text may
// then lie where another one of the same length lay, so all of them have to be read.
type anchor struct {
	index, part int
	isSignature bool // text is the Signature of the part, not its Text
	text        string
}

func (a *anchor) isSet() bool { return a.text != "" }

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
	return mem.Same(a.text, s)
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
			if s := p.Text; len(s) > sampledLong {
				*a = anchor{i, k, false, s}
				return
			}
			if s := p.Signature; len(s) > sampledLong {
				*a = anchor{i, k, true, s}
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

// What the manager knows of each message of the last history that it saw.

// subject is what a call is about.
type subject struct {
	files toolcall.WorkFiles
	state string // what it sets anew or loads, see toolcall.Files.State; "": nothing
}

// noSubjects is the list of a message without calls. Nobody writes to it.
var noSubjects []subject

// subjectsOf returns what the calls of m, the message of f, are about, in their order.
func (f *fact) subjectsOf(m *Message, tools *toolcall.Files) []subject {
	if f.subjects == nil {
		f.subjects = &noSubjects
		if hasCalls(m) {
			list := make([]subject, 0, 1)
			for p := range callsOf(m) {
				list = append(list,
					subject{tools.WorkFiles(p.Name, p.Arguments), tools.State(p.Name, p.Arguments)})
			}
			f.subjects = &list
		}
	}
	return *f.subjects
}

// fact is what the manager remembers of a message.
type fact struct {
	key       key
	tokens    int
	counts    uint32       // see hostCounts
	sound     bool         // its parts need no repair
	isEarlier bool         // of an earlier turn, whose reasoning is not in tokens: see forgetReasoning
	redundant minify.Forms // that may be left out of it, see redundantIn
	body      uint32       // bytes that it takes in a request's body; 0: not known yet, see bytes

	subjects *[]subject // of its calls; nil: not asked for yet
}

// bytes returns how many bytes m, the message of f, takes in a request's body. It is computed when a request holds the
// message as it is: of a long history that is seen for the first time, most texts are only part of a record or a
// summary.
func (f *fact) bytes(m *Message) int {
	if f.body == 0 {
		f.body = bodySize(m)
	}
	return int(f.body)
}

// index remembers facts of messages, so that no text is read twice.
type index struct {
	anchor   anchor        // of the history passed in last: shows whether its texts are known by their addresses
	samples  []uint64      // likewise, by position: sampleHash of each message
	facts    []*fact       // likewise
	ownFacts map[key]*fact // of messages that the library made: summaries, results that stand in, repaired messages
	aliases  map[key]*fact // of repaired messages, by the original message and what the repair changed
	hasher   hasher
}

// update learns what is new or changed in history and returns the facts of its messages. The slice belongs to the
// index.
func (x *index) update(history []Message, e Estimator) []*fact {
	var before map[key]*fact // of the history passed in last; nil until a message is found that may have moved
	isHeld := x.anchor.stillHolds(history)
	for i := range min(len(history), len(x.samples)) {
		now := sampleHash(&history[i])
		if !isHeld || now != x.samples[i] {
			if before == nil {
				before = byKey(x.facts)
			}
			x.facts[i] = factOf(x.hasher.key(&history[i]), &history[i], before, e)
		}
		x.samples[i] = now
	}
	if n := len(history); n < len(x.samples) {
		clear(x.facts[n:])
		x.samples, x.facts = x.samples[:n], x.facts[:n]
	}
	if !isHeld {
		x.anchor.set(history, 0)
	}
	if !x.anchor.isSet() {
		x.anchor.set(history, len(x.samples))
	}
	for i := len(x.samples); i < len(history); i++ {
		// may panic in e, so it comes before the two lists grow
		f := factOf(x.hasher.key(&history[i]), &history[i], before, e)
		x.samples, x.facts = append(x.samples, sampleHash(&history[i])), append(x.facts, f)
	}
	x.forgetReasoning(history, e)
	x.forget()
	return x.facts
}

// forgetReasoning takes the reasoning in front of the newest message of a user out of the facts, where the provider
// does not read it any more. Where a history was rewound to before that message, it counts again.
func (x *index) forgetReasoning(history []Message, e Estimator) {
	if !forgetsReasoning(e) {
		return
	}
	isEarlier := false
	for i := len(history) - 1; i >= 0; i-- {
		m, f := &history[i], x.facts[i]
		if f.isEarlier != isEarlier {
			if n := reasoningOf(e, m); n > 0 {
				changed := *f // others may hold it, or have a message with the same key
				if changed.isEarlier = isEarlier; isEarlier {
					n = -n
				}
				changed.tokens = max(0, changed.tokens+n)
				x.facts[i] = &changed
			}
		}
		isEarlier = isEarlier || m.Role == RoleUser
	}
}

func byKey(facts []*fact) map[key]*fact {
	m := make(map[key]*fact, len(facts))
	for _, f := range facts {
		m[f.key] = f
	}
	return m
}

// fact returns the fact of m, a message that the library made.
func (x *index) fact(m *Message, e Estimator) *fact {
	return x.factBy(x.hasher.key(m), m, e)
}

// factBy is fact for a message whose key is known.
func (x *index) factBy(k key, m *Message, e Estimator) *fact {
	f := factOf(k, m, x.ownFacts, e)
	if x.ownFacts == nil {
		x.ownFacts = map[key]*fact{}
	}
	x.ownFacts[f.key] = f
	return f
}

// factOf returns the fact of m, whose key is k: the one in known or, if there is none, a new one.
func factOf(k key, m *Message, known map[key]*fact, e Estimator) *fact {
	counts := hostCounts(m)
	if f := known[k]; f != nil && f.counts == counts {
		return f
	}
	return &fact{
		key: k, tokens: estimateWith(e, *m), counts: counts, sound: faultOf(m) == nil && partsAreClean(m, true),
		redundant: redundantIn(m),
	}
}

// repaired returns the fact of m, which the repair made from the message of f. The repair changes ids, arguments and
// which parts there are. So m is identified by these and by the key of f, and its texts are not read again.
func (x *index) repaired(f *fact, m *Message, e Estimator) *fact {
	short := Message{Role: m.Role, ToolCallID: m.ToolCallID, Parts: make([]Part, 0, len(m.Parts)+1)}
	short.Parts = append(short.Parts, Part{Signature: string(f.key[:])})
	for i := range m.Parts {
		p := &m.Parts[i]
		short.Parts = append(short.Parts, Part{
			Kind: p.Kind, ID: p.ID, Name: p.Name, Bytes: len(p.Text), Tokens: len(p.Arguments),
		})
	}
	alias := x.hasher.key(&short)
	found := x.aliases[alias]
	if found == nil {
		found = x.fact(m, e)
		if x.aliases == nil {
			x.aliases = map[key]*fact{}
		}
		x.aliases[alias] = found
	}
	return found
}

// forget drops the facts of messages that the library made if they far outnumber the others.
func (x *index) forget() {
	// A history in use has a summary, some results that stand in and some repaired messages. Any more are left from
	// branches and calls that are gone. Facts that are needed again are made anew in one pass.
	if len(x.ownFacts) > 4*len(x.facts)+1_000 {
		x.ownFacts, x.aliases = nil, nil
	}
}
