// Package rewrite weighs what rewriting a part of what was sent saves against what the provider's cache charges for it.
package rewrite

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// Part is a part of a request that a rewrite may drop.
type Part struct {
	Index   int  // of its message
	Saving  int  // tokens, about
	Overdue int  // requests that carried it since it became stale; negative: requests left until it is
	IsRead  bool // it shows a file, whose ends report nothing
	Images  bool // only its images go
	End     int  // a record may stand for the messages from Index to End; 0: the part is edited in place
	Reason  string
}

// Runs joins neighbouring steps of list into runs, and leaves out runs that save less than `least` tokens.
func Runs(list []Part, least int) []Part {
	out := make([]Part, 0, len(list))
	for _, s := range list {
		if k := len(out) - 1; s.End > 0 && k >= 0 && out[k].End == s.Index {
			out[k].join(&s)
		} else {
			out = append(out, s)
		}
	}
	return slices.DeleteFunc(out, func(s Part) bool { return s.End > 0 && s.Saving < least })
}

// join makes s the run of s and next. What the requests have paid for both stays the same.
func (s *Part) join(next *Part) {
	if sum := s.Saving + next.Saving; sum > 0 {
		paid := float64(s.Overdue)*float64(s.Saving) + float64(next.Overdue)*float64(next.Saving)
		s.Overdue = int(paid / float64(sum))
	}
	s.Saving, s.End = s.Saving+next.Saving, next.End
}

// Tried holds what parts turned out to save once their edit was made, by message; 0 for a part that is not worth an
// edit.
type Tried map[int]int

// Note notes what part saves. It was made of one or more parts of list, at index next or behind it, and Note returns
// the index behind these. The saving of a run is divided among its steps as their savings were estimated.
func (t Tried) Note(list []Part, next int, part *Part) (behind int) {
	for list[next].Index < part.Index {
		next++
	}
	if part.End == 0 {
		t[part.Index] = part.Saving
		return next + 1
	}
	behind, estimated := next, 0
	for behind < len(list) && list[behind].Index < part.End {
		estimated += list[behind].Saving
		behind++
	}
	for _, s := range list[next:behind] {
		t[s.Index] = part.Saving * s.Saving / max(1, estimated)
	}
	return behind
}

// Prices are the prices of a token of input: Read if it was sent before, and so is read from the cache, and Write if it
// was not.
type Prices struct{ Read, Write float64 }

// From returns the first part of list with which an epoch pays after `later` more requests, or len(list). tokens holds
// the tokens of each message of the request.
//
// An epoch that begins at a message costs, once, the difference between writing and reading for all that is kept behind
// the message. In each request it saves the price of reading what it drops. Nobody knows how many requests are still to
// come, but a conversation that has gone on for long goes on for long. So an epoch pays when the parts have cost, since
// they became stale, as much as the epoch costs. Then the cost is at most twice that of the best decision in hindsight,
// whenever the conversation ends. (This is the rule for renting or buying; Karlin et al., Competitive Snoopy Caching,
// 1988.)
func (c Prices) From(list []Part, tokens []int, later int) int {
	best, from := 0.0, len(list)
	paid, saving, keptBehind := 0.0, 0, 0
	next := len(tokens)
	for k := len(list) - 1; k >= 0; k-- {
		p := &list[k]
		for next > p.Index {
			next--
			keptBehind = count.Add(keptBehind, tokens[next])
		}
		if p.Overdue+later < 0 {
			continue
		}
		saving = count.Add(saving, p.Saving)
		paid += c.Read * float64(p.Saving) * float64(p.Overdue+later)
		price := (c.Write-c.Read)*float64(keptBehind-saving) - c.Read*float64(saving)
		if gain := paid - price; gain > best {
			best, from = gain, k
		}
	}
	return from
}

// Next returns after how many more requests, at most `most`, an epoch pays with the parts of list.
func (c Prices) Next(list []Part, tokens []int, most int) int {
	low, high := 1, most
	for low < high { // a binary search: what the parts have cost only grows
		middle := (low + high) / 2
		if c.From(list, tokens, middle) < len(list) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// Search is the outcome of the last search for an epoch that pays. Its clock is the number of the model's answers in
// the request, which is the same in each process, and stands still while nothing happens.
type Search struct {
	At   int `json:"at"`   // the number of answers at the last search
	Next int `json:"next"` // the number of answers before which no epoch pays; 0: a search is due
}

// IsDue reports whether a search is due at this number of answers.
func (s Search) IsDue(answers int) bool { return answers < s.At || answers >= s.Next }

// Within returns s without a negative At: what is read from a disk may hold any number.
func (s Search) Within() Search { return Search{max(0, s.At), s.Next} }
