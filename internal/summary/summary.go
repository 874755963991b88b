// Package summary says how long a summary may be, in tokens, and when a summarizer that failed is worth asking again.
package summary

import "github.com/winnowgo/winnow/internal/count"

const (
	// LandShare is the share of the budget at which a compaction lands, or below, so that the next one is far away.
	LandShare = 0.6
	// Least is room for a heading with a line or two. A summary that has less says nothing of what it stands for.
	Least = 50
	// LeastWords is room for a few words. Only a digest is that short, and only where the request does not fit
	// otherwise: what such a digest stands for is lost, but the person gets an answer.
	LeastWords = 10
	// LeastGain is about what a summary with its frame has: where it stands for less, nothing is gained.
	LeastGain = 200

	// A summary may have this share of the budget, its sections included. It grows with the window: a limit that is
	// right for 8 000 tokens forgets too much at 1 000 000.
	budgetShare      = 1.0 / 8
	leastOfAWindow   = 300
	mostOfAnyWindow  = 24_000
	mostOfRemoved    = 0.9 // of a short history: the share of what the summary stands for
	textShare        = 0.5 // at least this share of the summary is the summarizer's text
	askedShare       = 0.6 // of the room for the text; models count badly, and what they leave is for the identifiers
	mostAskedOfShort = 0.8 // where the sections are long
)

// In returns what a summary may have within a budget, its sections included.
func In(budget int) int {
	return max(leastOfAWindow, min(count.Share(budget, budgetShare), mostOfAnyWindow))
}

// Beside returns how many tokens a summary may have beside other messages, which take needed tokens of room: at most
// In, and at most half of what they leave, because the newest results need the other half. A short summary may take
// more than half. If room has no place even for that, because the margin of the estimates is kept free, wholeRoom
// counts. If the other messages leave less than `least`, as within a limit that was guessed too low, a short summary
// is allowed all the same: an empty one would not help, and would lose the history.
func Beside(needed, budget, room, wholeRoom, least int) int {
	free := max(room-needed, min(leastOfAWindow, wholeRoom-needed))
	if free < least {
		free = leastOfAWindow
	}
	return min(In(budget), max(free/2, min(free, leastOfAWindow)))
}

// Replaced is what a summary replaces, in tokens.
type Replaced struct {
	Sent     int // as it is sent: shortened, or as a record
	History  int // the same messages as they are in the history
	Digested int // what a digest stands in for: the summary replaces that too
	Earlier  int // of Sent, an earlier summary
}

// News returns how many of Sent no earlier summary holds.
func (r Replaced) News() int { return r.Sent - r.Earlier }

// Limit returns how many tokens a summary may have, at most `most`, so that it is smaller than what it stands for.
// frame is the size of the text around it, and rules that of the host's rules in it. Up to filled, code adds what the
// text left out. ok is false if nothing is gained: if it stands for no more than leastGain and what is around it. If
// the host asked for the summary, it stands for what is in the history, and need not be smaller.
//
// A summary that replaces an earlier one gets the whole room: if its room followed from the size of the earlier one,
// each summary would lose some of it.
func (r Replaced) Limit(most, frame, rules, leastGain int, isAsked bool) (limit, filled int, ok bool) {
	removed := count.Add(r.Sent, r.Digested)
	if isAsked {
		removed = count.Add(r.History, r.Digested)
	}
	switch {
	case r.Earlier > 0:
		return most, min(most, count.Add(r.Earlier, count.Share(removed-r.Earlier, mostOfRemoved))-frame), true
	case removed > leastGain+frame+rules: // a summary longer than what it replaces is of no use
		limit = min(most, count.Share(removed, mostOfRemoved)-frame)
		return limit, limit, true
	}
	return most, most, isAsked
}

// Sections returns how many tokens the sections of a summary may take.
func Sections(limit int) int { return limit - count.Share(limit, textShare) }

// Text returns how many tokens the text of a summary may have beside sections of the given size, and how many a
// summarizer is asked for.
func Text(limit, sections int) (most, asked int) {
	least := count.Share(limit, textShare)
	most = max(least, limit-sections)
	return most, max(count.Share(most, askedShare), min(least, count.Share(most, mostAskedOfShort)))
}
