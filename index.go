package winnow

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/workfiles"
)

// What the manager knows of each message of the history that it saw last.

// fact is what the manager remembers of a message.
type fact struct {
	key    key
	tokens int
	counts uint32 // see hostCounts
	sound  bool   // its parts need no repair

	isWatched bool   // it is sent edited: the sampleHash alone will not do
	body      uint32 // bytes of a request's body
	deepHash  uint32 // 0: not known, and the message is not watched

	subjects *[]subject // of its calls; nil: not asked for yet
}

// isOf reports whether m, whose sampleHash is that of f, is its message by the deepHash as well.
func (f *fact) isOf(m *Message) bool { return !f.isWatched || f.deepHash == deepHash(m) }

// hashedAtOnce is the size of a message, in bytes, from which on its deepHash is found out with the other facts: most
// such messages will be sent edited, and later each word of the hash lies in a line of memory that has to be fetched.
const hashedAtOnce = 2 << 10

// deepHashWords is how many words of each text a deepHash takes. A text that another one is put in the
// place of, of the same length, at the same address, with the same beginning, middle and end, is one that
// somebody redacted.
const deepHashWords = 64

// deepHash identifies the texts of m by words that are spread over them.
func deepHash(m *Message) uint32 {
	h := uint64(len(m.Parts)) + 1
	add := func(s string) {
		if len(s) < 8 {
			return
		}
		if len(s) <= 8*deepHashWords { // all of it costs less
			h = mixed(h, maphash.String(idSeed, s))
			return
		}
		at := uint64(len(s)) * 0x9e3779b97f4a7c15
		for range deepHashWords {
			at ^= at >> 29
			at *= 0xbf58476d1ce4e5b9
			offset, _ := bits.Mul64(at, uint64(len(s)-7))
			hi, lo := bits.Mul64(h^ascii.LoadWord(s, int(offset)), 0x9e3779b97f4a7c15)
			h = hi ^ lo + 1
		}
	}
	for i := range m.Parts {
		add(m.Parts[i].Text)
		add(mem.String(m.Parts[i].Arguments))
	}
	return uint32(h>>32) | 1
}

// watch has message i of history looked at closely from now on, because it is sent edited: nobody wants the
// excerpt of a text that is not there any more.
func (x *index) watch(history []Message, i int) {
	if i < 0 || i >= len(x.facts) {
		return
	}
	f := x.facts[i]
	if f.isWatched = true; f.deepHash == 0 {
		f.deepHash = deepHash(&history[i])
	}
}

// index remembers facts of messages, so that no text is read twice.
type index struct {
	// where the history passed in last lies in memory; it is compared, and keeps nothing alive
	base         uintptr
	anchor       anchor        // says whether the texts of that history may still lie where they lay
	sentAnchor   anchor        // the same of the history that was last made a request of: Plan may have seen another
	isReread     bool          // the last call of Prepare found that one freed, or elsewhere
	cursor       int           // where the next look at old messages begins
	deepCursor   int           // where the next closer look does
	headerHashes []uint64      // of the history passed in last, by position
	changes      int           // how often a message was found changed, or gone
	sampleHashes []uint64      // of the history passed in last, by position
	seen         []setByHost   // of the same
	facts        []*fact       // of the same
	ownFacts     map[key]*fact // of messages that the library made: summaries, results that stand in, what was mended
	aliases      map[key]*fact // of repaired messages, by the key of what they were and what was changed
	hasher       hasher
}

// setByHost is what a host may set on a message that is known: its marks in the lowest bits, and its trimmings.
type setByHost uint64

const markBits = 4 // as many as marks sets

func setOn(m *Message) setByHost { return setByHost(trimmings(m)<<markBits | marks(m)) }

func (s setByHost) marks() uint64 { return uint64(s) % (1 << markBits) }

// update learns what is new in history and returns the facts of its messages. The slice is the index's.
func (x *index) update(history []Message, e Estimator) []*fact {
	var before map[key]*fact // of the history passed in last, where a message of it may have moved
	isHeld := x.anchor.stillHolds(history)
	for i := range min(len(history), len(x.sampleHashes)) {
		if g := sampleHash(&history[i]); !isHeld || x.sampleHashes[i] != g || !x.facts[i].isOf(&history[i]) {
			if before == nil {
				before = byKey(x.facts)
			}
			f := factOf(x.hasher.key(&history[i]), &history[i], before, e, nil)
			// Other memory alone is no change: a host that reads its log anew passes the same messages.
			if old := x.facts[i]; f.key != old.key || f.tokens != old.tokens {
				x.changes++
			}
			x.sampleHashes[i], x.facts[i] = g, f
		}
		if set := setOn(&history[i]); set != x.seen[i] {
			x.seen[i] = set
			x.changes++
		}
		x.headerHashes[i] = headerHash(&history[i])
	}
	if len(history) < len(x.sampleHashes) {
		x.changes++
		clear(x.facts[len(history):])
		x.headerHashes, x.sampleHashes, x.facts = x.headerHashes[:len(history)], x.sampleHashes[:len(history)],
			x.facts[:len(history)]
		x.seen = x.seen[:len(history)]
	}
	if !isHeld {
		x.anchor.set(history, 0)
	}
	x.learnFrom(history, before, e)
	x.forget()
	return x.facts
}

// isOf reports whether history is the list passed in last, as far as can be told without a look at the messages: within
// one call nobody writes to them.
func (x *index) isOf(history []Message) bool {
	return x.base == mem.Base(history) && len(x.facts) == len(history)
}

// learn adds the facts of what history has behind the messages that are known.
func (x *index) learn(history []Message, e Estimator) { x.learnFrom(history, nil, e) }

// learnFrom is learn where messages may have moved: before has the facts of the history that was passed in last, so
// that a message that stands elsewhere now is not estimated again. nil: none has moved.
func (x *index) learnFrom(history []Message, before map[key]*fact, e Estimator) {
	if !x.anchor.isSet() {
		x.anchor.set(history, len(x.sampleHashes))
	}
	n := len(history) - len(x.sampleHashes)
	if n >= manyMessages { // else append knows better how much room to leave
		x.headerHashes, x.sampleHashes = slices.Grow(x.headerHashes, n), slices.Grow(x.sampleHashes, n)
		x.facts, x.seen = slices.Grow(x.facts, n), slices.Grow(x.seen, n)
	}
	var room factRoom
	for i := len(x.sampleHashes); i < len(history); i++ {
		if len(room) == 0 {
			room = make(factRoom, min(factsTogether, len(history)-i))
		}
		k := x.hasher.key(&history[i])
		f := factOf(k, &history[i], before, e, &room) // first: a panic of e leaves the columns alike
		x.headerHashes = append(x.headerHashes, headerHash(&history[i]))
		x.sampleHashes = append(x.sampleHashes, sampleHash(&history[i]))
		x.facts = append(x.facts, f)
		x.seen = append(x.seen, setOn(&history[i]))
	}
	x.base = mem.Base(history)
}

func byKey(facts []*fact) map[key]*fact {
	m := make(map[key]*fact, len(facts))
	for _, f := range facts {
		m[f.key] = f
	}
	return m
}

// How many messages of a list that only grew are looked at in one call: the newest, where hosts change
// things, and the others in turn. Each costs a line or two of the processor's cache: 48 keep a call below
// 3.5 µs in long histories too.
const (
	lookedAt        = 48 // at their heads
	lookedAtNewest  = 16
	lookedAtClosely = 8 // half of them the newest
	lookedAtFirst   = 2 // closely
)

// goesOn reports whether history is the one passed in last with, perhaps, more behind it. A list in other memory
// is looked at as a whole; of one that is in the same memory only some messages are, so that the cost does
// not grow with its length: what a host changes in old messages in place is noticed some calls later.
//
// What goes along with a message is of no matter where the request is the history itself.
func (x *index) goesOn(history []Message, isHistory bool) bool {
	n := len(x.sampleHashes)
	if len(history) < n || !x.anchor.stillHolds(history) {
		return false
	}
	if x.base != mem.Base(history) {
		return x.isSame(history, 0, n, isHistory)
	}
	newest := max(0, n-lookedAtNewest)
	from, to := inTurn(&x.cursor, newest, lookedAt-lookedAtNewest)
	closelyFrom, closelyTo := inTurn(&x.deepCursor, newest, lookedAtClosely/2)
	// A list that was freed may lie where this one lies, with a first message that is written anew for each call.
	first := min(n, lookedAtFirst)
	if !x.isSame(history, 0, first, isHistory) {
		return false
	}
	if !x.hasSameHeaders(history, from, to) || !x.hasSameHeaders(history, newest, n) {
		return false
	}
	return x.isSame(history, closelyFrom, closelyTo, isHistory) &&
		x.isSame(history, max(0, n-lookedAtClosely/2), n, isHistory)
}

// inTurn returns the range of the next `many` of n items, and moves the cursor behind it. It begins again at the end.
func inTurn(cursor *int, n, many int) (from, to int) {
	if from = *cursor; from >= n || many >= n {
		from = 0
	}
	to = min(n, from+many)
	*cursor = to
	return from, to
}

// hasSameHeaders compares messages by what lies in them itself: no line of memory is read for their texts.
func (x *index) hasSameHeaders(history []Message, from, to int) bool {
	for i := from; i < to; i++ {
		if x.headerHashes[i] != headerHash(&history[i]) {
			return false
		}
	}
	return true
}

// isSame compares messages by samples of their texts too.
func (x *index) isSame(history []Message, from, to int, isHistory bool) bool {
	for i := from; i < to; i++ {
		m, seen := &history[i], x.seen[i]
		if x.sampleHashes[i] != sampleHash(m) || !x.facts[i].isOf(m) {
			return false
		}
		if isHistory && seen.marks() != marks(m) || !isHistory && seen != setOn(m) {
			return false
		}
	}
	return true
}

// fact returns what is known of a message that the library made, and finds it out if nothing is.
func (x *index) fact(m *Message, e Estimator) *fact {
	return x.factBy(x.hasher.key(m), m, e)
}

// factBy is fact for a message whose key is known.
func (x *index) factBy(k key, m *Message, e Estimator) *fact {
	f := factOf(k, m, x.ownFacts, e, nil)
	if x.ownFacts == nil {
		x.ownFacts = map[key]*fact{}
	}
	x.ownFacts[f.key] = f
	return f
}

// manyMessages is how many new ones are a history that is seen for the first time: the columns of a shorter one grow in
// a few microseconds.
const manyMessages = 1_000

// factRoom is memory for facts that are found out one behind the other. They lie together, and are freed together.
type factRoom []fact

// factsTogether is how many facts lie together: 480 bytes, a size of the allocator. Above 512 it puts a header in
// front, and one fact that is still known would keep more in memory.
const factsTogether = 10

// take returns a fact of r, or one that lies by itself.
func (r *factRoom) take() *fact {
	if r == nil || len(*r) == 0 {
		return new(fact)
	}
	f := &(*r)[0]
	*r = (*r)[1:]
	return f
}

// factOf returns the fact of m, whose key is k, among those that are known, or a new one in room.
func factOf(k key, m *Message, known map[key]*fact, e Estimator, room *factRoom) *fact {
	counts := hostCounts(m)
	if f := known[k]; f != nil && f.counts == counts {
		return f
	}
	tokens := estimateWith(e, *m) // before the room is taken: e may panic
	f := room.take()
	*f = fact{key: k, tokens: tokens, counts: counts, sound: partsAreClean(m, true), body: bodySize(m)}
	if f.body >= hashedAtOnce && m.Role == RoleTool {
		f.deepHash = deepHash(m)
	}
	return f
}

// hostCounts tells the host's own counts of parts from others: they are no part of what is sent, and the
// estimate depends on them.
func hostCounts(m *Message) (n uint32) {
	for i := range m.Parts {
		n = n*31 + uint32(m.Parts[i].Tokens)
	}
	return n
}

// repaired returns the fact of a message that the repair made of the one that f is of. The repair changes
// ids, arguments and which parts there are; its text needs no second reading to know which message it is.
func (x *index) repaired(f *fact, m *Message, e Estimator) *fact {
	short := Message{Role: RoleTool, ToolCallID: m.ToolCallID, Parts: make([]Part, 0, len(m.Parts)+1)}
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

// forget drops facts of made messages that are gone, when they are most of what is known.
func (x *index) forget() {
	// A history in use has a summary, some results that stand in and some repaired messages. More are of branches and
	// of calls that are gone, and what is still needed is found out again in one pass.
	if len(x.ownFacts) > 4*len(x.facts)+1_000 {
		x.ownFacts, x.aliases = nil, nil
	}
}

// subject is what a call is about.
type subject struct {
	call    uint32 // hash of tool and arguments: the same call has the same
	isRead  bool   // of a file
	recalls string // handle of what a call of the recall tool asks for; empty: no such call
	saving  int    // tokens that shortening its arguments saves, about
	files   []workfiles.Use
}
