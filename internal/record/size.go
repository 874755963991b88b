package record

import "github.com/winnowgo/winnow/internal/count"

// Size is how much a record takes.
type Size struct {
	At     int // position of its message in the request
	Tokens int
	IsBare bool // only its frame is left
}

// Run is a run of neighbouring records, from message From up to To, that become one bare record.
type Run struct{ From, To int }

// Older returns what becomes bare: the older half of records, or nothing if all of them together take at most room
// tokens. Neighbours become one, because each frame would say the same.
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
		r, isNews := Run{From: records[k].At, To: records[k].At}, !records[k].IsBare
		for k < len(records) && records[k].At == r.To && (half <= all/2 || records[k].IsBare) {
			half = count.Add(half, records[k].Tokens)
			r.To++
			k++
		}
		if isNews || r.To-r.From > 1 {
			list = append(list, r)
		}
	}
	return list
}
