package tokencount

// A merger counts the tokens of pieces, and keeps the memory that one needs for the next.
type merger struct {
	vocabulary *vocabulary
	parts      []part
}

// A part is a token in the making, known by the index of its first byte.
type part struct {
	start int
	rank  uint32 // of it and the next one together
}

// tokens returns the tokens of a piece of valid UTF-8 that is not empty. It merges the pair of parts with the lowest
// rank until no pair is a token, and returns how many parts are left. If several pairs have that rank, it merges the
// first. Its time grows with the square of the length of the piece.
func (m *merger) tokens(piece string) int {
	if len(piece) == 1 || m.vocabulary.rank(piece) != none {
		return 1
	}
	parts := m.parts[:0]
	for i := range len(piece) + 1 { // the last part is empty: it ends the one before
		parts = append(parts, part{i, none})
	}
	m.parts = parts
	rerank := func(i int) {
		if parts[i].rank = none; i+2 < len(parts) {
			parts[i].rank = m.vocabulary.rank(piece[parts[i].start:parts[i+2].start])
		}
	}
	for i := range parts {
		rerank(i)
	}
	for {
		next, least := 0, uint32(none)
		for i := range parts {
			if parts[i].rank < least {
				next, least = i, parts[i].rank
			}
		}
		if least == none {
			return len(parts) - 1
		}
		parts = append(parts[:next+1], parts[next+2:]...)
		rerank(next)
		if next > 0 {
			rerank(next - 1)
		}
	}
}
