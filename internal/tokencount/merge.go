package tokencount

// A merger counts the tokens of pieces, and keeps the memory that long ones need for the next.
type merger struct {
	vocabulary *vocabulary
	parts      []part
	heap       mergeHeap
}

// tokens returns the tokens of a piece of valid UTF-8 that is not empty.
func (m *merger) tokens(piece string) int {
	if len(piece) == 1 || m.vocabulary.rank(piece) != none {
		return 1
	}
	return m.merge(piece)
}

// A part is a token in the making, known by the index of its first byte. prev and next are its neighbours.
type part struct {
	prev, next int32
	rank       uint32 // of it and the next one together
}

// merge merges the pair of parts with the lowest rank until no pair is a token, and returns how many parts are left. If
// several pairs have that rank, it merges the first. Its time grows little faster than the length of the piece.
func (m *merger) merge(piece string) int {
	v, n := m.vocabulary, len(piece)
	if cap(m.parts) < n+1 {
		m.parts = make([]part, n+1)
	}
	parts, heap := m.parts[:n+1], m.heap[:0]
	for i := range n {
		rank := uint32(none)
		if i+1 < n {
			rank = v.rank(piece[i : i+2])
		}
		parts[i] = part{prev: int32(i) - 1, next: int32(i) + 1, rank: rank}
		if rank != none {
			heap = append(heap, candidate(rank, int32(i)))
		}
	}
	heap.order()
	count := n
	rerank := func(i int32) {
		rank, next := uint32(none), parts[i].next
		if int(next) < n {
			rank = v.rank(piece[i:parts[next].next])
		}
		if parts[i].rank = rank; rank != none {
			heap.push(candidate(rank, i))
		}
	}
	for len(heap) > 0 {
		top := heap.pop()
		i := int32(uint32(top))
		if parts[i].rank != uint32(top>>32) {
			continue // merged meanwhile
		}
		count--
		gone := parts[i].next
		next := parts[gone].next
		parts[gone].rank, parts[i].next, parts[next].prev = none, next, i
		rerank(i)
		if prev := parts[i].prev; prev >= 0 {
			rerank(prev)
		}
	}
	m.heap = heap
	return count
}

// A mergeHeap has the pairs that may be merged, the next one first: by rank, and by place where ranks are equal.
type mergeHeap []uint64

func candidate(rank uint32, at int32) uint64 { return uint64(rank)<<32 | uint64(uint32(at)) }

// order makes a heap of any list.
func (h mergeHeap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i, h[i])
	}
}

func (h *mergeHeap) push(c uint64) {
	*h = append(*h, c)
	list := *h
	i := len(list) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if list[parent] <= c {
			break
		}
		list[i] = list[parent]
		i = parent
	}
	list[i] = c
}

func (h *mergeHeap) pop() uint64 {
	list := *h
	top, last := list[0], list[len(list)-1]
	*h = list[:len(list)-1]
	if len(*h) > 0 {
		h.down(0, last)
	}
	return top
}

// down puts c where it belongs at or below i.
func (h mergeHeap) down(i int, c uint64) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if right := child + 1; right < len(h) && h[right] < h[child] {
			child = right
		}
		if c <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = c
}
