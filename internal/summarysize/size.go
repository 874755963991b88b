// Package summarysize says how long a summary may be, in tokens.
package summarysize

import "github.com/winnowgo/winnow/internal/count"

const (
	// LandShare is the share of the budget at which a compaction lands, or below, so that the next one is far away.
	LandShare = 0.6
	// Least is room for a heading with a line or two. A summary that has less says nothing of what it stands for.
	Least = 50
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

// Beside is In where what stays, which takes needed tokens of the room, leaves less: half of the rest is for the
// newest results. Where only the margin of the estimates has no room for a short summary, the whole room has. Where
// what stays does not fit by itself, as within a limit that was guessed too low, a summary of nothing would not help:
// it would lose the history.
func Beside(needed, budget, room, wholeRoom int) int {
	free := max(room-needed, min(leastOfAWindow, wholeRoom-needed))
	if free < Least {
		free = leastOfAWindow
	}
	return min(In(budget), max(free/2, min(free, leastOfAWindow)))
}

// Replaced is what a summary takes the place of.
type Replaced struct {
	Sent     int // as it is sent: shortened, or as a record
	History  int // the same messages as they are in the history
	Digested int // what a digest stands in for: the summary replaces that too
	Earlier  int // of Sent, an earlier summary
}

// News is what no earlier summary holds.
func (r Replaced) News() int { return r.Sent - r.Earlier }

// Limit makes the limit of a summary, which has `most`, smaller than what the summary stands for. frame and rules are
// what stands around it and the host's rules in it. filled is up to which code adds what the text left out. It is false
// if nothing is gained. What a host asked for stands for what is in the history, and need not be smaller.
//
// Where an earlier summary stands, its room is the new one's: a room that followed from the size of that one would lose
// some of it each time.
func (r Replaced) Limit(most, frame, rules int, isAsked bool) (limit, filled int, ok bool) {
	removed := count.Add(r.Sent, r.Digested)
	if isAsked {
		removed = count.Add(r.History, r.Digested)
	}
	switch {
	case r.Earlier > 0:
		return most, min(most, count.Add(r.Earlier, count.Share(removed-r.Earlier, mostOfRemoved))-frame), true
	case removed > LeastGain+frame+rules: // a summary longer than what it replaces is of no use
		limit = min(most, count.Share(removed, mostOfRemoved)-frame)
		return limit, limit, true
	}
	return most, most, isAsked
}

// Sections returns what the sections of a summary may take.
func Sections(limit int) int { return limit - count.Share(limit, textShare) }

// Text returns what the text of a summary may have, beside sections of that size, and what of it a summarizer is asked
// for.
func Text(limit, sections int) (most, asked int) {
	least := count.Share(limit, textShare)
	most = max(least, limit-sections)
	return most, max(count.Share(most, askedShare), min(least, count.Share(most, mostAskedOfShort)))
}
