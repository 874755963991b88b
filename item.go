package winnow

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
)

// item is one message of a request in the making. Nobody writes to the messages: they may be the host's.
type item struct {
	sent  *Message // as it is sent now
	own   *Message // as the history has it, repaired; of a message that the library made, as it was made
	fact  *fact    // of own
	edit  *edit    // how sent differs from own; nil: it does not
	index int      // of own in the history passed in; -1: the library made it

	// what stands directly in front of it in the repaired history; nil: nothing, or the library made it
	before *item
	record *folded // that it is; nil: it is none
	in     *item   // the record that stands for it; nil: none does
}

// folded is a record in a request, with the messages of the history that it stands for.
type folded struct {
	*runRecord
	standsFor []*item
}

// itemsOf returns the items of a repaired history, whose messages have these facts.
func itemsOf(messages []Message, facts []*fact) []*item {
	all, items := make([]item, len(messages)), make([]*item, len(messages))
	for i := range all {
		x := &all[i]
		x.sent, x.own, x.fact, x.index = &messages[i], &messages[i], facts[i], i
		if i > 0 {
			x.before = items[i-1]
		}
		items[i] = x
	}
	return items
}

// madeItem returns the item of m, a message that the library made.
func madeItem(m *Message, f *fact) *item { return &item{sent: m, own: m, fact: f, index: -1} }

// tokens returns the tokens of what is sent.
func (x *item) tokens() int {
	if x.edit != nil {
		return x.edit.tokens
	}
	return x.fact.tokens
}

// key returns the key of what is sent.
func (x *item) key() key {
	if x.edit != nil {
		return x.edit.key
	}
	return x.fact.key
}

// size returns the bytes of what is sent in a request's body.
func (x *item) size() int {
	if x.edit == nil {
		return x.fact.bytes(x.sent)
	}
	if x.edit.body == 0 {
		x.edit.body = bodySize(x.sent)
	}
	return int(x.edit.body)
}

// isBare reports whether x is a record of which only failures and what was changed are left, or nothing.
func (x *item) isBare() bool { return x.record != nil && x.record.Bare }

func (x *item) position() position { return position{Key: x.fact.key, Index: x.index} }

// dropEdit returns the edit that says that x is left out.
func (x *item) dropEdit(op Op, reason string) Edit {
	return Edit{Op: op, Index: max(0, x.index), ID: x.own.ID, Before: max(1, x.tokens()), Reason: reason}
}

// unfolded returns items with the messages that records stand for in the place of the records.
func unfolded(items []*item) []*item {
	first := slices.IndexFunc(items, func(x *item) bool { return x.record != nil })
	if first < 0 {
		return slices.Clip(items)
	}
	out := slices.Clone(items[:first])
	for _, x := range items[first:] {
		if x.record == nil {
			out = append(out, x)
		} else {
			out = append(out, x.record.standsFor...)
		}
	}
	return out
}

// historyTokens returns the tokens of the messages that items are or stand for, as they are in the history.
func historyTokens(items []*item) (n int) {
	for _, x := range items {
		if x.record != nil {
			n = count.Add(n, historyTokens(x.record.standsFor))
		} else {
			n = count.Add(n, x.fact.tokens)
		}
	}
	return n
}

// itemList is the items of a request, in their order.
type itemList struct {
	items []*item
	total int // sum of their tokens
}

func (l *itemList) setItems(items []*item) {
	l.items, l.total = items, 0
	for _, x := range items {
		l.total = count.Add(l.total, x.tokens())
	}
}

// key returns the identity of the request.
func (l *itemList) key() key {
	keys := make([]key, len(l.items))
	for i, x := range l.items {
		keys[i] = x.key()
	}
	return place.Of(keys)
}

// sent returns the messages as they are sent, and own as the history has them.
func (l *itemList) sent() sequence { return sequence{items: l.items, asSent: true} }

func (l *itemList) own() sequence { return asOwn(l.items) }

// counts returns the tokens of each message, in a new list.
func (l *itemList) counts() []int {
	counts := make([]int, len(l.items))
	for i, x := range l.items {
		counts[i] = x.tokens()
	}
	return counts
}

// tokensOf returns the tokens of items[from:to].
func (l *itemList) tokensOf(from, to int) (n int) {
	for _, x := range l.items[from:to] {
		n = count.Add(n, x.tokens())
	}
	return n
}

// bytes estimates the size of the request's body, without what is not in the history, such as the schemas of tools.
func (l *itemList) bytes() int {
	n := 0
	for _, x := range l.items {
		n = count.Add(n, x.size())
	}
	return n
}

func (l *itemList) images() int { return len(l.imageSizes()) }

// imageSizes returns the bytes of each image.
func (l *itemList) imageSizes() (sizes []int) {
	for _, x := range l.items {
		for k := range x.sent.Parts {
			if p := &x.sent.Parts[k]; p.Kind == KindImage {
				sizes = append(sizes, p.Bytes)
			}
		}
	}
	return sizes
}

// byIndex maps each index of a history of that length to the first item with that index, as its position plus one; 0:
// none.
func (l *itemList) byIndex(history int) []int32 {
	at := make([]int32, history)
	for i, x := range slices.Backward(l.items) {
		if x.index >= 0 {
			at[x.index] = int32(i + 1)
		}
	}
	return at
}

// historyTokens returns the tokens that the request would have without records and edits. A summary counts as it is.
func (l *itemList) historyTokens() int { return historyTokens(l.items) }

// sequence is a view of messages for the rules that read them: a history, or the items of a request, as sent or as in
// the history.
type sequence struct {
	list   []Message
	items  []*item // nil: list
	asSent bool
}

func listed(messages []Message) sequence { return sequence{list: messages} }
func asOwn(items []*item) sequence       { return sequence{items: items} }

func (s sequence) len() int { return max(len(s.list), len(s.items)) }

func (s sequence) at(i int) *Message {
	switch {
	case s.items == nil:
		return &s.list[i]
	case s.asSent:
		return s.items[i].sent
	}
	return s.items[i].own
}

// messagesOf returns the messages of s as a list: `from` if it has the very same.
func messagesOf(s sequence, from []Message) []Message {
	i, n := 0, s.len()
	for n == len(from) && i < n && s.at(i) == &from[i] {
		i++
	}
	if i == n && n == len(from) {
		return clip(from)
	}
	list := make([]Message, n)
	for i := range list {
		list[i] = *s.at(i)
	}
	return list
}

// position identifies a message so that it is found again in another history.
type position = place.Position

// placesIn returns items with their keys and their indexes in the history passed in.
func placesIn(items []*item) place.List {
	l := placesInRequest(items)
	l.Index = func(i int) int { return items[i].index }
	l.Before = func(i, n int) (keys []key) {
		for x := items[i].before; x != nil && len(keys) < n; x = x.before {
			keys = append(keys, x.fact.key)
		}
		slices.Reverse(keys)
		return keys
	}
	return l
}

// placesInRequest is placesIn where the index of an item is its place in the request.
func placesInRequest(items []*item) place.List {
	return place.List{Len: len(items), Key: func(i int) key { return items[i].fact.key }}
}

// keysOf returns the keys of items, as they are in the history.
func keysOf(items []*item) []key {
	keys := make([]key, len(items))
	for i, x := range items {
		keys[i] = x.fact.key
	}
	return keys
}

// kept returns the items for which keep is true, in a new list.
func kept(items []*item, keep []bool) []*item {
	out := make([]*item, 0, len(items))
	for i, x := range items {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

// Edit describes one change that a stage or the manager made. Index is the position in the stage's input or, for an
// edit of the manager, in the history passed in. Before and After are estimated tokens of that message. After is 0 only
// if the message was removed, and Before is 0 only if it was inserted.
type Edit struct {
	Op     Op     `json:"op"`
	Index  int    `json:"index"`
	ID     string `json:"id,omitempty"` // Message.ID
	Before int    `json:"before"`
	After  int    `json:"after"`
	Reason string `json:"reason"` // for people: why it was done
}

// Op is what an [Edit] did.
type Op string

const (
	OpRepair   Op = "repair"   // pairing repaired: dropped, moved or inserted, or its ids made unique
	OpLimit    Op = "limit"    // turn limit dropped it
	OpTrim     Op = "trim"     // soft trim: head and tail kept
	OpClear    Op = "clear"    // hard clear: placeholder
	OpTruncate Op = "truncate" // oversized result cut
	OpMinify   Op = "minify"   // new result written shorter: see Options.NoMinify
	OpShow     Op = "show"     // a text that a new result points to was left out, and is shown behind it again
	OpFold     Op = "fold"     // removed together with its neighbours, or inserted: the record in their place
	OpCompact  Op = "compact"  // replaced by a summary
)

// dropEdit is the edit of a message that a stage removed. The stages count four characters as a token.
func dropEdit(op Op, history []Message, i int, reason string) Edit {
	return newDropEdit(op, history, i, charsPerToken(4).Estimate(history[i]), reason)
}

// newDropEdit is dropEdit for a message of known tokens.
func newDropEdit(op Op, history []Message, i, tokens int, reason string) Edit {
	return Edit{Op: op, Index: i, ID: history[i].ID, Before: max(1, tokens), Reason: reason}
}

// edit is what is sent in place of a message of the history, and why. An [Edit] reports it.
type edit struct {
	parts  []Part // in place of the message's own; nothing else of it changes. nil: text alone
	text   string
	key    key // of the message with them
	tokens int
	op     Op
	reason string
	forms  minify.Forms // of redundancy that are gone, for OpMinify

	undecoded bool   // from a snapshot, which has no tokens of it, and may be damaged
	body      uint32 // bytes of a request's body; 0: not asked for yet

	// the key, as it is sent, of the earlier message that shows the lines left out here; zero: none were left out for
	// that
	repeats key
}

// read sets the parts, the key and the tokens of p by m, the message that it edits. A snapshot may have another key.
func (p *edit) read(m *Message, e Estimator, h *hasher) {
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
func (p *edit) isRepeat() bool { return p != nil && p.repeats != key{} }

// showsMore reports whether x is sent with what its message only points to.
func (x *item) showsMore() bool {
	p := x.edit
	return p != nil && (p.op == OpShow || p.op == OpTruncate && saysUnchanged(x.own))
}

// isCut reports whether p shows only the ends of a result. p may be nil.
func (p *edit) isCut() bool { return p != nil && (p.op == OpTruncate || p.op == OpTrim) }

// Three reasons say when an edit is sent again, and when its message is sent whole. A snapshot has no other word of it.
const (
	// Images left out by age are shown where they are new: in a history that was rewound, and in another message that
	// is the same.
	oldImages = "old images: a line stands for each"
	// Only the model that signed it accepts it: it never comes back, not even in a pin.
	signedByAnother = "thinking that another model signed"
	// It ends the reason. In a rewound history such a message is unseen as it was then.
	unseenReason = " (the model has not seen it, but the request does not fit otherwise)"
)

func (p *edit) isOldImages() bool       { return p.reason == oldImages }
func (p *edit) isForeignThinking() bool { return p != nil && p.reason == signedByAnother } // p may be nil
func (p *edit) isOfUnseen() bool        { return strings.HasSuffix(p.reason, unseenReason) }

// report returns the Edit that reports p: it is of message m, which was at index i of the history and has fact f.
func (p *edit) report(i int, m *Message, f *fact) Edit {
	return Edit{Op: p.op, Index: i, ID: m.ID, Before: max(1, f.tokens), After: max(1, p.tokens), Reason: p.reason}
}

// setParts makes p send parts. Most edits send a single part with nothing but a text: only that text is kept.
func (p *edit) setParts(parts []Part) {
	if len(parts) == 1 && sameParts(&parts[0], &Part{Text: parts[0].Text}) && parts[0].Source == nil {
		p.parts, p.text = nil, parts[0].Text
		return
	}
	p.parts, p.text = parts, ""
}

// sent returns the parts that are sent.
func (p *edit) sent() []Part {
	if p.parts == nil {
		return []Part{{Text: p.text}}
	}
	return p.parts
}

// What an edit, and each part of it, takes in a snapshot besides its texts, in bytes: keys, the reason and the names of
// the fields.
const savedEditBytes, savedPartBytes = 200, 60

// size returns about how many bytes p takes in a snapshot. It is the same for an edit that was restored.
func (p *edit) size() int {
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

// partsLook is how many parts of a message are searched for the original of a part of an edit.
const partsLook = 64

// partsFor returns the parts that are sent in place of those of m, each with the Source that the host has on that part
// now. The parts in earlier requests are not changed.
func (p *edit) partsFor(m *Message) []Part {
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
	ids := func(parts []Part) (ids []string) {
		for p := range callsOf(&Message{Parts: parts}) {
			ids = append(ids, p.ID)
		}
		return ids
	}
	return slices.Equal(ids(a), ids(b))
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
