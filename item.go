package winnow

import (
	"iter"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
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
	stands []*item
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

// isBare reports whether x is a record of which only the frame is left.
func (x *item) isBare() bool { return x.record != nil && x.record.isBare }

// position returns the position of x.
func (x *item) position() position { return position{Key: x.fact.key, Index: x.index} }

// dropEdit returns the edit that says that x is left out.
func (x *item) dropEdit(op Op, reason string) Edit {
	return Edit{Op: op, Index: max(0, x.index), ID: x.own.ID, Before: max(1, x.tokens()), Reason: reason}
}

// messages yields the messages of the history that x is, or stands for.
func (x *item) messages() iter.Seq[*item] {
	return func(yield func(*item) bool) {
		if x.record == nil {
			yield(x)
			return
		}
		for _, m := range x.record.stands {
			if !yield(m) {
				return
			}
		}
	}
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
			out = append(out, x.record.stands...)
		}
	}
	return out
}

// historyTokens returns the tokens of the messages that items are or stand for, as they are in the history.
func historyTokens(items []*item) (n int) {
	for _, x := range items {
		for m := range x.messages() {
			n = count.Add(n, m.fact.tokens)
		}
	}
	return n
}

// historyTokens returns the tokens of the history without records and without edits of texts.
func (d *draft) historyTokens() int { return historyTokens(d.items) }

// sequence is a list of messages that a rule reads: a history, or a request as it is sent or as the history has it.
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

// messages returns what is sent as a list: [Request.History], but for what is edited, if nothing is left out of it.
func (d *draft) messages() []Message {
	if d.start >= 0 || len(d.items) != len(d.returned) {
		return messagesOf(d.sent(), d.source)
	}
	list, isOwn := clip(d.returned), false
	for i, x := range d.items {
		if x.edit == nil && x.record == nil {
			continue
		}
		if !isOwn {
			list, isOwn = slices.Clone(list), true
		}
		list[i] = *x.sent
	}
	return clip(list)
}

// A position, or a bookmark, identifies a message so that it is found again in another history.
type (
	position = place.Position
	bookmark = place.Bookmark
)

// placesIn returns items with their keys and their indexes in the history passed in.
func placesIn(items []*item) place.List {
	l := placesBy(items)
	l.Index = func(i int) int { return items[i].index }
	return l
}

// placesBy is placesIn where the index of an item is its place in the list.
func placesBy(items []*item) place.List {
	return place.List{Len: len(items), Key: func(i int) key { return items[i].fact.key }}
}

// bookmarkIn returns the bookmark of message i of items. Of the messages before it, it covers those that stand directly
// before it in the repaired history too.
func bookmarkIn(items []*item, i int) bookmark {
	return place.At(placesIn(items), i, func(k int) bool { return items[k].before == items[k-1] })
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
