package record

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// Size is how much a record takes.
type Size struct {
	At     int // position of its message in the request
	Tokens int
	Lean   int // how often it was made leaner
}

// Run is a run of records that become one: those of the messages from From up to To.
type Run struct {
	From, To int
	Tokens   int // of the records, as they are
	Lean     int // how lean the one record is
}

// Older returns the runs that become leaner: the older half of records, or nothing if all of them together take at most
// room tokens.
func Older(records []Size, room int) (list []Run) {
	all := 0
	for i := range records {
		all = count.Add(all, records[i].Tokens)
	}
	if all == 0 || all <= room {
		return nil
	}
	half := 0
	for k := 0; k < len(records) && half <= all/2; {
		r := Run{From: records[k].At, To: records[k].At}
		for k < len(records) && records[k].At == r.To {
			s := &records[k]
			// Beside each other, two records with nothing left but their frames would say the same twice.
			if isSameFrame := s.Lean >= Leanest && r.Lean+1 >= Leanest; half > all/2 && !isSameFrame {
				break
			}
			half, r.Tokens, r.Lean = count.Add(half, s.Tokens), count.Add(r.Tokens, s.Tokens), max(r.Lean, s.Lean)
			r.To++
			k++
		}
		if r.To-r.From > 1 || r.Lean < Leanest { // else only its frame is left, and it cannot get leaner
			r.Lean++
			list = append(list, r)
		}
	}
	return list
}

// mergeRatio bounds the work. A record is written again only together with newer ones that take at least half of its
// tokens. So each message is read for a record only a few times, however long the conversation goes on.
const mergeRatio = 2

// Small returns the runs of neighbours that become one record of at most the given tokens. A record that was made
// leaner stays as it is.
func Small(records []Size, most int) (list []Run) {
	for end := len(records); end > 0; {
		last := &records[end-1]
		r := Run{From: last.At, To: last.At + 1, Tokens: last.Tokens}
		end--
		for last.Lean == 0 && end > 0 && records[end-1].joins(&r, most) {
			end--
			r.From, r.Tokens = records[end].At, count.Add(r.Tokens, records[end].Tokens)
		}
		if r.To-r.From > 1 {
			list = append(list, r)
		}
	}
	slices.Reverse(list)
	return list
}

// joins reports whether s may become one record with the newer ones of r, in at most the given tokens.
func (s *Size) joins(r *Run, most int) bool {
	isNeighbour := s.At+1 == r.From && s.Lean == 0
	return isNeighbour && s.Tokens/mergeRatio <= r.Tokens && count.Add(s.Tokens, r.Tokens) <= most
}
