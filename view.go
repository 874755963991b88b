package winnow

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
)

// view is a request in the making: a list of messages and, for each, what the manager knows of it. The
// columns run in parallel.
type view struct {
	messages []Message
	facts    []*fact       // of the message before edits of its text
	tokens   []int         // as it stands here
	index    []int         // in the history passed in; -1: made by the library
	at       []int         // in the repaired history; -1: not from there
	edited   []*projection // how it is sent instead of as it is; nil: as it is

	unedited []Message // messages before edits of their texts; set when those begin
	shared   bool      // somebody else holds messages: copy before writing
	total    int       // sum of tokens
}

// section is the part of a history of which a request is made.
type section struct {
	messages []Message
	facts    []*fact
	index    []int // in the history; nil: it is the whole history
}

func (x *section) add(m Message, f *fact, i int) {
	x.messages, x.facts, x.index = append(x.messages, m), append(x.facts, f), append(x.index, i)
}

// inHistory returns the index in the history of message i.
func (x *section) inHistory(i int) int {
	if x.index == nil {
		return i
	}
	return x.index[i]
}

// projection is what is sent in place of a message of the history, and why.
type projection struct {
	parts  []Part // in place of the message's own; nothing else of it changes. nil: text alone
	text   string
	key    key // of the message with them
	tokens int
	op     Op
	reason string
	forms  minify.Forms // of redundancy that are gone, for OpMinify

	undecoded bool   // from a snapshot, which has no tokens of it, and may be damaged
	body      uint32 // bytes of a request's body; 0: not asked for yet

	// the key, as it is sent, of the earlier message that shows the lines left out here; nil: none were left out for
	// that
	repeats *key
}

// read sets the parts, the key and the tokens of p by m, the message that it edits. A snapshot may have another key.
func (p *projection) read(m *Message, e Estimator, h *hasher) {
	if p.forms != 0 {
		parts, _, _ := minifiedParts(m.Parts, p.forms, "")
		if parts == nil {
			parts = slices.Clone(m.Parts)
		}
		p.setParts(parts)
	}
	sent := *m
	sent.Parts, sent.Source = p.sent(), nil
	p.key, p.tokens, p.undecoded = h.key(&sent), estimateWith(e, sent), false
}

// isRepeat reports whether p leaves out what an earlier message shows. p may be nil.
func (p *projection) isRepeat() bool { return p != nil && p.repeats != nil }

// isCut reports whether p shows only the ends of a result. p may be nil.
func (p *projection) isCut() bool { return p != nil && (p.op == OpTruncate || p.op == OpTrim) }

// edit returns the Edit that reports p: it is of message m, which was at index i of the history and has fact f.
func (p *projection) edit(i int, m *Message, f *fact) Edit {
	return Edit{Op: p.op, Index: i, ID: m.ID, Before: max(1, f.tokens), After: max(1, p.tokens), Reason: p.reason}
}

// newProjection returns the projection that puts parts in the place of a message's own.
func newProjection(parts []Part) *projection {
	p := &projection{}
	p.setParts(parts)
	return p
}

// withOwnArguments gives parts, a list of the caller's own, arguments in memory of their own, and returns it. A host
// that decodes its log again into the same memory overwrites its bytes.
func withOwnArguments(parts []Part) []Part {
	for i := range parts {
		parts[i].Arguments = bytes.Clone(parts[i].Arguments)
	}
	return parts
}

// setParts makes p send parts. Most projections send a single part with nothing but a text: only that text is kept.
func (p *projection) setParts(parts []Part) {
	if len(parts) == 1 && sameParts(&parts[0], &Part{Text: parts[0].Text}) && parts[0].Source == nil {
		p.parts, p.text = nil, parts[0].Text
		return
	}
	p.parts, p.text = parts, ""
}

// sent returns the parts that are sent.
func (p *projection) sent() []Part {
	if p.parts == nil {
		return []Part{{Text: p.text}}
	}
	return p.parts
}

// What an edit, and each part of it, takes in a snapshot besides its texts, in bytes: keys, the reason and the names of
// the fields.
const savedEditBytes, savedPartBytes = 200, 60

// size returns about how many bytes p takes in a snapshot. It is the same for an edit that was restored.
func (p *projection) size() int {
	switch {
	case p.forms != 0: // its text is not stored: it is made from the message's own
		return savedEditBytes
	case p.parts == nil:
		return savedEditBytes + savedPartBytes + base64.StdEncoding.EncodedLen(len(p.text))
	}
	n := savedEditBytes
	for i := range p.parts {
		part := &p.parts[i]
		n += savedPartBytes + base64.StdEncoding.EncodedLen(len(part.Text)+len(part.Arguments))
		n += len(part.Signature) + len(part.ID) + len(part.Name)
	}
	return n
}

// partsLook is how many parts of a message are searched for the original of a part of a projection.
const partsLook = 64

// partsFor returns the parts that are sent in place of those of m, each with the Source that the host has on that part
// now. The parts in earlier requests are not changed.
func (p *projection) partsFor(m *Message) []Part {
	parts := p.sent()
	if p.parts == nil {
		return parts
	}
	parts = slices.Clone(parts)
	next := 0 // parts keep their order
	for i := range parts {
		parts[i].Source = nil
		for k := next; k < min(len(m.Parts), next+partsLook); k++ {
			if sameParts(&parts[i], &m.Parts[k]) {
				parts[i].Source, next = m.Parts[k].Source, k+1
				break
			}
		}
	}
	return parts
}

// haveSameCalls reports whether a and b hold calls with the same ids, in the same order. Edits never change them.
func haveSameCalls(a, b []Part) bool {
	k := 0
	for i := range a {
		if a[i].Kind != KindToolCall {
			continue
		}
		for k < len(b) && b[k].Kind != KindToolCall {
			k++
		}
		if k == len(b) || a[i].ID != b[k].ID {
			return false
		}
		k++
	}
	return !slices.ContainsFunc(b[k:], func(p Part) bool { return p.Kind == KindToolCall })
}

// follows reports whether message i also stands directly behind the one before it in the history passed in.
func (v *view) follows(i int) bool {
	if i == 0 {
		return v.index[i] == 0
	}
	return v.index[i] == v.index[i-1]+1
}

// finder returns a function that finds the first message of v with an index in the history, which has n messages. It
// returns -1 if there is none.
func (v *view) finder(n int) func(index int) int {
	at := make([]int, n) // one more than the place in the view
	for i := len(v.index) - 1; i >= 0; i-- {
		if v.index[i] >= 0 {
			at[v.index[i]] = i + 1
		}
	}
	return func(index int) int {
		if index < 0 || index >= n {
			return -1
		}
		return at[index] - 1
	}
}

// sameParts reports whether a provider is sent the same for a and b.
func sameParts(a, b *Part) bool {
	switch {
	case a.Kind != b.Kind || a.Text != b.Text || a.Signature != b.Signature:
		return false
	case a.ID != b.ID || a.Name != b.Name || !bytes.Equal(a.Arguments, b.Arguments):
		return false
	case a.MediaType != b.MediaType || a.Bytes != b.Bytes:
		return false
	}
	isSameSize := a.Width == b.Width && a.Height == b.Height
	return isSameSize && a.Pages == b.Pages && a.Seconds == b.Seconds && a.Tokens == b.Tokens
}

// newView returns a view of a history. It shares the list of messages until it has to change one.
func newView(history []Message, facts []*fact) *view {
	v := &view{messages: clip(history), facts: slices.Clone(facts), shared: true}
	n := len(history)
	v.tokens, v.index, v.at, v.edited = make([]int, n), make([]int, n), make([]int, n), make([]*projection, n)
	for i, f := range facts {
		v.index[i], v.at[i], v.tokens[i] = i, i, f.tokens
		v.total = count.Add(v.total, f.tokens)
	}
	return v
}

// own makes messages writable.
func (v *view) own() {
	if v.shared {
		v.messages, v.shared = slices.Clone(v.messages), false
	}
}

// project puts p in the place of message i.
func (v *view) project(i int, p *projection) {
	v.own()
	m := v.messages[i] // an edit changes the parts; what else a host set stays
	// Parts are looked for in the message as it is in the history, as in a replay, which does not know this draft's
	// edits.
	m.Parts, m.Source = p.partsFor(&v.unedited[i]), nil
	v.messages[i], v.edited[i] = m, p
	v.setTokens(i, p.tokens)
}

// unproject sends message i as it is in the history.
func (v *view) unproject(i int) {
	v.own()
	v.messages[i], v.edited[i] = v.unedited[i], nil
	v.setTokens(i, v.facts[i].tokens)
}

// setTokens sets the tokens of message i to n, and updates total without adding up all messages.
func (v *view) setTokens(i, n int) {
	saturated := v.total == math.MaxInt // a host's own counts may be absurd
	v.total += n - v.tokens[i]
	v.tokens[i] = n
	if saturated || n == math.MaxInt {
		v.sum()
	}
}

// sum adds up total, which saturates where a host's own counts are absurd.
func (v *view) sum() {
	v.total = 0
	for _, n := range v.tokens {
		v.total = count.Add(v.total, n)
	}
}

// sentKey returns the key of message i as it is sent.
func (v *view) sentKey(i int) key {
	if v.edited[i] != nil {
		return v.edited[i].key
	}
	return v.facts[i].key
}

// keepOnly removes the messages for which keep is false. All columns are lists of their own then.
func (v *view) keepOnly(keep []bool) {
	v.messages, v.unedited, v.shared = kept(v.messages, keep), kept(v.unedited, keep), false
	v.facts, v.tokens, v.edited = kept(v.facts, keep), kept(v.tokens, keep), kept(v.edited, keep)
	v.index, v.at = kept(v.index, keep), kept(v.at, keep)
	v.sum()
}

// kept returns the elements of list for which keep is true, in a new list.
func kept[T any](list []T, keep []bool) []T {
	n := 0 // counted first: records may leave a hundredth of a long history
	for _, stays := range keep[:len(list)] {
		if stays {
			n++
		}
	}
	out := make([]T, 0, n)
	for i := 0; i < len(list); i++ {
		from := i
		for i < len(list) && keep[i] {
			i++
		}
		out = append(out, list[from:i]...)
	}
	return out
}

// dropEdit returns the edit that says that message i is left out.
func (v *view) dropEdit(i int, op Op, reason string) Edit {
	return Edit{Op: op, Index: max(0, v.index[i]), ID: v.messages[i].ID, Before: max(1, v.tokens[i]), Reason: reason}
}

// insert puts m, a message that the library made, before message i.
func (v *view) insert(i int, m Message, f *fact) {
	v.messages, v.shared = slices.Insert(slices.Clip(v.messages), i, m), false
	v.facts = slices.Insert(v.facts, i, f)
	v.tokens = slices.Insert(v.tokens, i, f.tokens)
	v.index, v.at = slices.Insert(v.index, i, -1), slices.Insert(v.at, i, -1)
	v.edited = slices.Insert(v.edited, i, nil)
	v.sum()
}

// replace puts m, a message that the library made, in the place of message i.
func (v *view) replace(i int, m Message, f *fact) {
	v.own()
	v.messages[i], v.facts[i], v.index[i], v.at[i], v.edited[i] = m, f, -1, -1, nil
	if len(v.unedited) > 0 {
		v.unedited[i] = m
	}
	v.setTokens(i, f.tokens)
}

// share returns the messages as they are now; v copies them before it changes them.
func (v *view) share() []Message {
	v.shared = true
	return clip(v.messages)
}

func sumOf(facts []*fact) (n int) {
	for _, f := range facts {
		n = count.Add(n, f.tokens)
	}
	return n
}

// A position, or a bookmark, identifies a message so that it is found again in another history.
type (
	position = place.Position
	bookmark = place.Bookmark
)

// places returns the messages of v with their keys and their indexes in the history passed in.
func (v *view) places() place.List {
	return place.List{Len: len(v.facts), Key: v.keyOf, Index: v.index}
}

// keyOf returns the key of message i before edits of its text.
func (v *view) keyOf(i int) key { return v.facts[i].key }

// position returns the position of message i.
func (v *view) position(i int) position { return position{Key: v.facts[i].key, Index: v.index[i]} }

// bookmark returns the bookmark of message i. Of the messages before it, it covers those that stand directly before it
// in the repaired history too.
func (v *view) bookmark(i int) bookmark {
	return place.At(v.places(), i, func(k int) bool { return v.at[k]-v.at[k-1] == 1 })
}

// keysIn returns the keys of facts.
func keysIn(facts []*fact) []key {
	keys := make([]key, len(facts))
	for i, f := range facts {
		keys[i] = f.key
	}
	return keys
}
