package adapter

import (
	"slices"

	"github.com/winnowgo/winnow"
)

// Piece is the Source of an imported message or part. Providers put into one message what winnow keeps in several, such
// as the results of parallel calls; a piece says which of them it is. If all pieces of a value are still there, in
// order, they are exported as that value.
type Piece[T any] struct {
	Of    *T  // the caller's value
	Block any // the piece's value within Of, if it is a single one; nil: the rest of Of
	Index int // index of the piece in Of, from 0
	Count int // number of pieces

	First bool // the conversation begins with it; known only if several values were imported

	// Of or Block holds an empty text, which the message's parts lack: it is built anew from them
	Hollow bool
}

// piece is a Piece of any SDK.
type piece interface {
	place(index int, first bool)
	isFirst() bool
}

func (p *Piece[T]) place(index int, first bool) { p.Index, p.First = index, first }

func (p *Piece[T]) isFirst() bool { return p.First }

// isFirst reports whether the conversation begins with the value of m, which is a piece.
func isFirst(m *winnow.Message) bool {
	p, ok := m.Source.(piece)
	return ok && p.isFirst()
}

// PieceOf returns the piece of m, or nil if m was changed or comes from elsewhere.
func PieceOf[T any](m *winnow.Message) *Piece[T] {
	p, _ := m.Source.(*Piece[T])
	return p
}

// ResultsIn returns how many blocks of a user's message are results, how many messages all become, which are one for
// each result and one for the rest, and whether results come first.
func ResultsIn[B any](blocks []B, isResult func(B) bool) (results, messages int, first bool) {
	first = true
	for i, b := range blocks {
		if isResult(b) {
			first = first && i == results
			results++
		}
	}
	if results > 0 && results == len(blocks) {
		return results, results, first
	}
	return results, results + 1, first
}

// JoinResults collects the results of a run of messages between two assistant messages, which go into one message of an
// SDK, with what directly follows them and stood beside one of them in the caller's message. rest is the rest of the
// run, in its order, without results if any are joined. joined is nil if there is nothing to join: run has no result
// outside of a value that is whole and comes first.
func JoinResults[T any](run []winnow.Message) (joined, rest []winnow.Message) {
	isResult := func(m winnow.Message) bool { return m.Role == winnow.RoleTool }
	if _, n := Whole[T](run); !slices.ContainsFunc(run[n:], isResult) {
		return nil, run
	}
	values := map[*T]bool{} // of the results; nil: of one that was changed, which is no piece anymore and may be of any
	for i := range run {
		if m := &run[i]; isResult(*m) {
			joined = append(joined, *m)
			var of *T
			if p := PieceOf[T](m); p != nil {
				of = p.Of
			}
			values[of] = true
		}
	}
	behind := true
	for i := range run {
		m := &run[i]
		p := PieceOf[T](m)
		stoodBeside := p != nil && p.Count > 1 && (values[p.Of] || values[nil])
		switch behind = behind && (m.Role != winnow.RoleUser || stoodBeside); {
		case isResult(*m):
		case behind && m.Role == winnow.RoleUser:
			joined = append(joined, *m)
		default:
			rest = append(rest, *m)
		}
	}
	return joined, rest
}

// Whole returns the caller's value if messages begins with all its pieces in order, and the number of pieces.
func Whole[T any](messages []winnow.Message) (of *T, n int) {
	first := PieceOf[T](&messages[0])
	if first == nil || first.Index != 0 || first.Count > len(messages) {
		return nil, 0
	}
	for i := 1; i < first.Count; i++ {
		if p := PieceOf[T](&messages[i]); p == nil || p.Of != first.Of || p.Index != i {
			return nil, 0
		}
	}
	return first.Of, first.Count
}

// SortByCalls sorts the results of one value by the order of their calls, which are among parts. The library keeps
// results in that order, so a value in another order is also recognized as whole.
func SortByCalls(results []winnow.Message, parts []winnow.Part) {
	if len(results) < 2 {
		return
	}
	at := make(map[string]int, len(results))
	for k := range slices.Backward(parts) { // the first of those with the same id counts
		if p := &parts[k]; p.Kind == winnow.KindToolCall {
			at[p.ID] = k - len(parts) // those of no call come last
		}
	}
	slices.SortStableFunc(results, func(a, b winnow.Message) int { return at[a.ToolCallID] - at[b.ToolCallID] })
}
