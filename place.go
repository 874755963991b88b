package winnow

import "crypto/sha256"

// place is a message of the history: which one, and its index in the history when that was found out.
type place struct {
	key   key
	index int
}

// find returns the position of p in v, or -1. Of several messages that are the same it takes the one that
// is nearest to where p was.
func (p place) find(v *view) int {
	return p.nearest(v, func(i int) int { return v.index[i] }, func(int) bool { return true })
}

// findPosition is find for a place whose index is a position in a view.
func (p place) findPosition(v *view) int {
	return p.nearest(v, func(i int) int { return i }, func(int) bool { return true })
}

func (p place) nearest(v *view, index func(i int) int, fits func(i int) bool) int {
	found := -1
	if p.key == (key{}) {
		return found
	}
	for i, f := range v.facts {
		if f.key == p.key && (found < 0 || distance(index(i), p.index) < distance(index(found), p.index)) && fits(i) {
			found = i
		}
	}
	return found
}

// landmark is a place with what stood around it: a message that reads like the one that is looked for may
// stand in another conversation.
type landmark struct {
	place
	before key // of the messages before it, together
	count  int // of these
	after  key // of the next message; zero: there was none
}

// find returns the position of the landmark in v, or -1.
func (m landmark) find(v *view) int {
	return m.nearest(v, func(i int) int { return v.index[i] }, func(i int) bool {
		if i >= m.count && m.count > 0 {
			return keyOf(v.facts[i-m.count:i]) == m.before
		}
		if m.count == 0 && m.after == (key{}) {
			return true // nothing is known of its surroundings
		}
		// A host may have dropped what a summary stands for.
		return m.after != key{} && i+1 < len(v.facts) && v.facts[i+1].key == m.after
	})
}

// landmarkContext is how many messages before a landmark belong to it.
const landmarkContext = 3

// landmarkAt returns the landmark of message i.
func landmarkAt(v *view, i int) landmark {
	m := landmark{place: place{v.facts[i].key, v.index[i]}}
	from := i // what stands before it in the repaired history as well
	for from > 0 && i-from < landmarkContext && v.at[from]-v.at[from-1] == 1 {
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
	keys := make([]key, len(facts))
	for i, f := range facts {
		keys[i] = f.key
	}
	return payloadOf(keys)
}

func distance(a, b int) int { return max(a-b, b-a) }

// payloadOf is the identity of a request by its messages.
func payloadOf(sent []key) key {
	h := sha256.New()
	for _, k := range sent {
		h.Write(k[:])
	}
	return key(h.Sum(nil)[:len(key{})])
}
