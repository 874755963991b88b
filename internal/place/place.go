package place

// List is a list of messages in which one is looked for.
type List struct {
	Len   int
	Key   func(i int) Key
	Index func(i int) int // of each message in its history; nil: as in the list

	// Before returns the keys of up to n messages that stand directly before message i in its history, the last one at
	// the end; nil: as in the list
	Before func(i, n int) []Key
}

func (l *List) index(i int) int {
	if l.Index == nil {
		return i
	}
	return l.Index(i)
}

// Position names a message of a history by its key, and by the index that it had when the position was made. The zero
// value stands for no message.
type Position struct {
	Key   Key `json:"key"`
	Index int `json:"index"`
}

// Find returns the index in l of p's message, or -1. If several messages have its key, the nearest to p.Index is taken:
// a text such as "go on" may stand in a history many times.
func (p Position) Find(l List) int { return p.nearest(&l, func(int) bool { return true }) }

// nearest is Find among the messages for which fits returns true.
func (p Position) nearest(l *List, fits func(i int) bool) int {
	found := -1
	if p.Key == (Key{}) {
		return found
	}
	for i := range l.Len {
		if l.Key(i) != p.Key {
			continue
		}
		isNearer := found < 0 || distance(l.index(i), p.Index) < distance(l.index(found), p.Index)
		if isNearer && fits(i) {
			found = i
		}
	}
	return found
}

func distance(a, b int) int { return max(a-b, b-a) }

// Moved returns p for a history in which its message has that much higher an index.
func (p Position) Moved(by int) Position { return Position{p.Key, p.Index + by} }

// Bookmark is a position with the neighbours of its message. They tell the message from one that reads the same and
// stands in another conversation.
type Bookmark struct {
	Position
	Before Key `json:"before,omitzero"` // one key for the messages before it
	Count  int `json:"count,omitempty"` // how many messages Before stands for
	After  Key `json:"after,omitzero"`  // of the next message; zero: there was none
}

// neighbours is how many messages before its own a bookmark remembers at most.
const neighbours = 3

// At returns the bookmark of message i of l.
func At(l List, i int) Bookmark {
	before := l.before(i, neighbours)
	m := Bookmark{Position: Position{l.Key(i), l.index(i)}, Count: len(before)}
	if m.Count > 0 {
		m.Before = Of(before)
	}
	if i+1 < l.Len {
		m.After = l.Key(i + 1)
	}
	return m
}

// before returns the keys of up to n messages before message i.
func (l *List) before(i, n int) []Key {
	if l.Before != nil {
		return l.Before(i, n)
	}
	n = min(n, i)
	keys := make([]Key, n)
	for k := range keys {
		keys[k] = l.Key(i - n + k)
	}
	return keys
}

// Find returns the index in l of the bookmarked message, or -1.
func (m Bookmark) Find(l List) int {
	return m.nearest(&l, func(i int) bool {
		if before := l.before(i, min(m.Count, neighbours)); m.Count > 0 && len(before) == m.Count {
			return Of(before) == m.Before
		}
		if m.Count == 0 && m.After == (Key{}) {
			return true // nothing is known of its surroundings
		}
		// Fewer messages stand before it than did, because a host may have dropped what a summary stands for. The next
		// message then decides.
		return m.After != Key{} && i+1 < l.Len && l.Key(i+1) == m.After
	})
}
