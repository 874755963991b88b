package tokencount

// A merger counts the tokens of pieces, and keeps the memory that one needs for the next.
type merger struct {
	vocabulary *vocabulary
	parts      []part
	queue      []pair // a heap: the pair that is merged next is the first
}

// A part is a token in the making. It stands at the index of its first byte.
type part struct {
	previous, next int    // where the parts beside it begin
	rank           uint32 // of it and the next one together
}

// A pair is the rank of two parts together and, in its low half, where the first of them begins: the lowest rank comes
// first and, of equal ones, the first in the text.
type pair uint64

// tokens returns the tokens of a piece of valid UTF-8 that is not empty. It merges the pair of parts with the lowest
// rank until no pair is a token, and returns how many parts are left.
func (m *merger) tokens(piece string) int {
	if len(piece) == 1 || m.vocabulary.rank(piece) != none {
		return 1
	}
	m.parts, m.queue = m.parts[:0], m.queue[:0]
	for i := range len(piece) {
		m.parts = append(m.parts, part{i - 1, i + 1, none})
	}
	for i := range len(piece) {
		m.rerank(piece, i)
	}
	left := len(piece)
	for len(m.queue) > 0 {
		first := m.pop()
		at := int(uint32(first))
		p := &m.parts[at]
		if p.rank != uint32(first>>32) {
			continue // one of the two has been merged since
		}
		m.parts[p.next].rank, p.next = none, m.parts[p.next].next
		if p.next < len(piece) {
			m.parts[p.next].previous = at
		}
		m.rerank(piece, at)
		if p.previous >= 0 {
			m.rerank(piece, p.previous)
		}
		left--
	}
	return left
}

// rerank ranks the part that begins at i with the next one, and queues the pair if it is a token.
func (m *merger) rerank(piece string, i int) {
	p := &m.parts[i]
	if p.rank = none; p.next == len(piece) {
		return
	}
	if p.rank = m.vocabulary.rank(piece[i:m.parts[p.next].next]); p.rank != none {
		m.push(pair(p.rank)<<32 | pair(i))
	}
}

func (m *merger) push(p pair) {
	m.queue = append(m.queue, p)
	i := len(m.queue) - 1
	for i > 0 && m.queue[(i-1)/2] > p {
		m.queue[i], i = m.queue[(i-1)/2], (i-1)/2
	}
	m.queue[i] = p
}

func (m *merger) pop() pair {
	q := m.queue
	first, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	m.queue = q
	for i := 0; len(q) > 0; {
		child := 2*i + 1
		if child+1 < len(q) && q[child+1] < q[child] {
			child++
		}
		if child >= len(q) || q[child] >= last {
			q[i] = last
			break
		}
		q[i], i = q[child], child
	}
	return first
}
