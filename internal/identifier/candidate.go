package identifier

import "github.com/winnowgo/winnow/internal/ascii"

// Most tokens of a text name nothing. An automaton, whose state is what the text in front of an index ends in, rules
// them out at a shift for each byte and without a branch: it stops where it has seen what every name has somewhere,
//
//   - a capital behind a lower-case letter, or behind an E that begins a word,
//   - a digit behind a letter or the reverse, or four digits in a row,
//   - a letter or a digit behind a point, a slash or an underscore,
//   - a backtick in front of a token, or a quote behind one that is more than lower-case letters.
//
// It also stops at an at sign, at a backslash and at the last byte of an opening quote of CJK text. It may stop at what
// is no name.

// state is a state of the automaton: by how many bits a row of moves is shifted to see the next state.
type state = uint64

// A row has 64 bits: ten states of six bits, and four bits for an eleventh that is followed by the first three only.
const stateBits = 6

const (
	found       state = stateBits * iota // stop: nothing follows this state but itself
	outside                              // no token, or joints behind lower-case letters
	oddWord                              // a lower-case letter, in a token that has other bytes too
	word                                 // lower-case letters
	capitals                             // capitals
	oneDigit                             // a digit, and no other byte of the token
	twoDigits                            // two
	threeDigits                          // three
	behindPoint                          // a point, a slash, an underscore or a backtick
	behindDash                           // a dash, a first point, a colon, a joint behind what is not a plain word
	capitalE                             // an E that begins a word
)

// moves has a row for each byte: at each state, the state that follows it.
var moves = func() (rows [256]uint64) {
	for c := range rows {
		for k, to := range movesBehind(byte(c)) {
			rows[c] |= to << (outside + stateBits*state(k))
		}
	}
	return rows
}()

// movesBehind returns the states behind c that follow outside, oddWord, and so on up to capitalE.
func movesBehind(c byte) [10]state {
	const (
		_____ = found
		outsd = outside
		oddWd = oddWord
		capit = capitals
		point = behindPoint
		dash_ = behindDash
		twoDg = twoDigits
		three = threeDigits
	)
	switch ascii.Class[c] {
	case ascii.Lower:
		return [...]state{word, oddWd, word, oddWd, _____, _____, _____, _____, oddWd, oddWd}
	case ascii.Upper:
		first := capitals
		if c == 'E' {
			first = capitalE
		}
		return [...]state{first, _____, _____, capit, _____, _____, _____, _____, first, _____}
	case ascii.Digit:
		return [...]state{oneDigit, _____, _____, _____, twoDg, three, _____, _____, _____, _____}
	case ascii.Dot:
		return [...]state{dash_, point, point, point, point, point, point, point, point, _____}
	case ascii.Slash: // :// is found
		return [...]state{point, point, point, point, point, point, point, point, _____, _____}
	case ascii.Underscore:
		return [...]state{point, point, point, point, point, point, point, _____, point, _____}
	case ascii.Dash:
		return [...]state{dash_, dash_, dash_, dash_, dash_, dash_, point, _____, dash_, _____}
	case ascii.Joint:
		switch c {
		case '@':
			return [10]state{} // always found
		case ':':
			return [...]state{outsd, dash_, dash_, dash_, dash_, dash_, dash_, _____, dash_, _____}
		}
		return [...]state{outsd, dash_, outsd, dash_, dash_, dash_, dash_, _____, dash_, _____}
	}
	switch c {
	case '`':
		return [...]state{point, point, point, point, point, point, point, point, point, _____}
	case '"', '\'':
		return [...]state{outsd, _____, outsd, _____, _____, _____, _____, _____, _____, _____}
	case '\\', 0x8A, 0x8C, 0x8E, 0x9C: // the last bytes of 「, 『, 《 and “
		return [10]state{}
	}
	return [...]state{outsd, outsd, outsd, outsd, outsd, outsd, outsd, outsd, outsd, outsd}
}

// lowest are the bits of a state. In front of them stands what is left of a row.
const lowest = 1<<stateBits - 1

// follow returns the state behind c, in its lowest bits.
func follow(st state, c byte) state { return moves[c] >> (st & lowest) }

// candidate returns the first index of s, from i on, at which the automaton stops. It begins in state st.
func candidate(s string, i int, st state) int {
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		half := follow(follow(follow(follow(st, w[0]), w[1]), w[2]), w[3])
		whole := follow(follow(follow(follow(half, w[4]), w[5]), w[6]), w[7])
		if whole&lowest == found {
			return i + stopWithin(ascii.LoadWord(w, 0), st)
		}
		st = whole
	}
	for ; i < len(s); i++ {
		if st = follow(st, s[i]); st&lowest == found {
			break
		}
	}
	return i
}

// stopWithin returns which of eight bytes the automaton stops at. It counts the states in front of that: where a loop
// would end is nothing that the processor can foresee.
func stopWithin(w uint64, st state) (n int) {
	for range 8 {
		st = follow(st, byte(w))
		w >>= 8
		n += int((st&lowest + lowest) >> stateBits) // 1 unless the state is found
	}
	return n
}
