package winnow

import "crypto/sha256"

// position is a message of the history: which one, and its index in the history when that was found out.
type position struct {
	key   key
	index int
}

// find returns the index of p's message in v, or -1. Of several messages that are the same it takes the one that
// is nearest to where p was.
func (p position) find(v *view) int {
	return p.nearest(v, func(i int) int { return v.index[i] }, func(int) bool { return true })
}

// findPosition is find for one whose index is a position in a view.
func (p position) findPosition(v *view) int {
	return p.nearest(v, func(i int) int { return i }, func(int) bool { return true })
}

// nearest returns the message that p is of and that fits, the one nearest to where it was by that index, or -1. A text
// such as "go on" may stand in a history many times.
func (p position) nearest(v *view, indexOf func(i int) int, fits func(i int) bool) int {
	found := -1
	if p.key == (key{}) {
		return found
	}
	for i, f := range v.facts {
		isNearer := found < 0 || distance(indexOf(i), p.index) < distance(indexOf(found), p.index)
		if f.key == p.key && isNearer && fits(i) {
			found = i
		}
	}
	return found
}

// bookmark is a position with what stood around it, because a message that reads like the one that is looked for may
// stand in another conversation.
type bookmark struct {
	position
	before key // of the messages before it, together
	count  int // of these
	after  key // of the next message; zero: there was none
}

// find returns the index of the bookmarked message in v, or -1.
func (m bookmark) find(v *view) int {
	return m.nearest(v, func(i int) int { return v.index[i] }, func(i int) bool {
		if i >= m.count && m.count > 0 {
			return keyOf(v.facts[i-m.count:i]) == m.before
		}
		if m.count == 0 && m.after == (key{}) {
			return true // nothing is known of its surroundings
		}
		// Fewer messages stand before it than did: a host may have dropped what a summary stands for. The next one
		// tells.
		return m.after != key{} && i+1 < len(v.facts) && v.facts[i+1].key == m.after
	})
}

// bookmarkContext is how many messages before a bookmark belong to it.
const bookmarkContext = 3

// bookmarkAt returns the bookmark of message i.
func bookmarkAt(v *view, i int) bookmark {
	m := bookmark{position: position{v.facts[i].key, v.index[i]}}
	from := i // what stands before it in the repaired history as well
	for from > 0 && i-from < bookmarkContext && v.at[from]-v.at[from-1] == 1 {
		from--
	}
	m.before, m.count = keyOf(v.facts[from:i]), i-from
	if i+1 < len(v.facts) {
		m.after = v.facts[i+1].key
	}
	return m
}

// keyOf is the identity of messages together.
func keyOf(facts []*fact) key {
	all := make([]byte, 0, len(facts)*len(key{}))
	for _, f := range facts {
		all = append(all, f.key[:]...)
	}
	return keyOfKeys(all)
}

// keyOfKeys is the key of messages by their keys, one behind the other.
func keyOfKeys(all []byte) key {
	sum := sha256.Sum256(all)
	return key(sum[:len(key{})])
}

func distance(a, b int) int { return max(a-b, b-a) }

// payloadOf is the identity of a request by its messages.
func payloadOf(sent []key) key {
	all := make([]byte, 0, len(sent)*len(key{}))
	for _, k := range sent {
		all = append(all, k[:]...)
	}
	return keyOfKeys(all)
}
