package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/rewrite"
	"github.com/winnowgo/winnow/internal/toolcall"
	"github.com/winnowgo/winnow/internal/workfiles"
)

// What of a request is stale: results and arguments that the model has most likely done with.

// How many requests carry a part whole before it is stale; other results are carried by
// PruneOptions.KeepLastAssistants. What a file holds is used for longer than what a command said, and what the
// model wrote itself for longer still. In a replay of the recorded sessions 5 requests for files cost 0.2 % less
// and kept as much: the numbers are not critical.
const (
	carriedReads     = 7
	carriedArguments = 10
)

// maxCarriedAgain bounds how often a part that was asked for again is carried twice as long: 2³ times.
const maxCarriedAgain = 3

// Less than this many tokens is not worth an edit.
const leastStale = 100

// noSubjects is what most answers hold. Nobody writes to it.
var noSubjects []subject

// subjectsOf returns what the calls of m are about, in their order.
func subjectsOf(m *Message, tools *toolcall.Files) *[]subject {
	if !hasCalls(m) {
		return &noSubjects
	}
	known := &struct {
		list []subject
		one  [1]subject // of most: in the same memory
	}{}
	subjects := known.one[:0]
	for p := range callsOf(m) {
		s := subject{
			call: toolcall.Hash(p.Name, p.Arguments), isRead: tools.Reads(p.Name), recalls: recalledBy(p),
			files: workfiles.Of(tools, p.Name, p.Arguments),
		}
		if p.Signature == "" { // a signed call is sent as it came
			s.saving = excerpt.ArgumentSavings(p.Arguments)
		}
		subjects = append(subjects, s)
	}
	known.list = subjects
	return &known.list
}

// staleness finds the stale parts of a view.
type staleness struct {
	view    *view
	options PruneOptions
	allowed toolcall.Matcher
	tools   toolNames      // of the results of view
	subject []*subject     // of each result; nil: not known
	recalls *recalls       // nil: without Options.Recall
	asked   map[uint32]int // how often each call was made
	last    map[uint32]int // the newest result of each call that is no failure
	newest  int            // the newest turn of a person begins here

	// what is carried longer than the least is not: nothing is lost by dropping it now, or all is if it stays
	early bool
}

// Below staleShare of the window, and below staleTokens, a conversation stays append-only: the saving is
// too small to hide anything from the model. In a replay of the recorded sessions floors of up to 5 % and of up to
// 8 000 tokens cost at most 0.2 % in windows of 64 000 and of 200 000, with the same names kept and 2 to 10 % fewer
// rewrites; 10 % of 200 000 cost 0.6 %.
const (
	staleShare  = 0.05
	staleTokens = 8_000
)

// isBelowStale reports whether the messages of d are too few to drop what is stale of them. A request that does not fit
// is never small enough for that.
func (d *draft) isBelowStale() bool {
	return !d.isPressed && d.view.total < d.staleFrom() || d.view.total < d.askedStaleFrom()
}

// askedStaleFrom is PruneOptions.SoftTrimRatio in tokens, where the host has set it.
func (d *draft) askedStaleFrom() int { return count.Share(d.windowEstimate(), d.pruneFrom) }

// staleFrom is how many tokens the messages have when what is stale of them is dropped.
func (d *draft) staleFrom() int {
	switch {
	case d.opts.Keep == KeepAll:
		return d.windowEstimate()
	case d.pruneFrom > 0:
		return d.askedStaleFrom()
	case d.opts.Cache.None: // nothing is lost by a rewrite
		return 0
	}
	return min(staleTokens, count.Share(d.windowEstimate(), staleShare))
}

// readSubjects finds out what each result is about. The n-th result behind an assistant message is that of
// its n-th call: the view is repaired.
func (s *staleness) readSubjects(tools *toolcall.Files) {
	v := s.view
	s.subject = make([]*subject, len(v.messages))
	s.asked, s.last = map[uint32]int{}, map[uint32]int{}
	var calls []subject
	for i := range v.messages {
		m := &v.messages[i]
		switch {
		case m.Role == RoleAssistant:
			calls = *v.facts[i].subjectsOf(&v.unedited[i], tools) // what is known of it, sent shortened or not
		case m.Role == RoleTool && len(calls) > 0:
			c := &calls[0]
			calls = calls[1:]
			isCopy := s.recalls != nil && c.recalls != ""
			if isCopy {
				c = s.recalls.subject(s.subject, i, c.recalls)
			}
			s.subject[i] = c
			s.asked[c.call]++
			if !m.IsError && !isCopy {
				s.last[c.call] = i
			}
		case beginsTurn(m):
			s.newest = i
		}
	}
}

// readFolded counts the calls that records of d stand for, of those whose results are in the view: who makes one of
// them again has missed what it said.
func (s *staleness) readFolded(d *draft) {
	for i := range s.view.facts {
		if !d.isRecord(i) {
			continue
		}
		for k := d.wholeAt(i); k < d.wholeAt(i+1); k++ {
			if f := d.unfolded.facts[k]; d.unfolded.messages[k].Role == RoleAssistant {
				for _, c := range *f.subjectsOf(&d.unfolded.messages[k], d.minifier.files) {
					if n, isShown := s.asked[c.call]; isShown {
						s.asked[c.call] = n + 1
					}
				}
			}
		}
	}
}

// subjectsOf returns what the calls of m are about, which f is of.
func (f *fact) subjectsOf(m *Message, tools *toolcall.Files) *[]subject {
	if f.subjects == nil {
		f.subjects = subjectsOf(m, tools)
	}
	return f.subjects
}

// dueAfter returns how many requests carry result i whole; due is the default.
func (s *staleness) dueAfter(i, due int) int {
	c := s.subject[i]
	if c == nil || s.early || s.last[c.call] > i || s.asked[c.call] < 2 {
		return due
	}
	return min(due, len(s.view.messages)) << min(s.asked[c.call]-1, maxCarriedAgain) // it was missed once
}

// result says when result i is stale, which was in `carried` requests.
func (s *staleness) result(i, carried int) (rewrite.Part, bool) {
	v := s.view
	m := &v.messages[i]
	isCleared := v.edited[i] != nil && v.edited[i].op == OpClear
	if s.options.NoHardClear || isCleared || v.tokens[i] < leastStale {
		return rewrite.Part{}, false
	}
	if !holdsOnlyText(m) || !s.allowed.Matches(s.tools.of(i, m)) {
		return rewrite.Part{}, false
	}
	p := rewrite.Part{Index: i, Saving: v.tokens[i] - excerpt.Room(v.tokens[i]),
		Reason: "an old result: its names and what it reports are kept"}
	due := s.options.KeepLastAssistants
	if c := s.subject[i]; c != nil {
		p.IsRead = c.isRead
		again := s.last[c.call] > i
		if again {
			p.Reason = "the same call was made again later"
		}
		if c.isRead && !again && !s.early {
			due = max(due, carriedReads)
		}
		due = s.dueAfter(i, due)
	}
	p.Overdue = carried - max(1, due)
	return p, p.Saving > 0
}

// arguments says when those of the calls of message i are stale.
func (s *staleness) arguments(i, carried int) (rewrite.Part, bool) {
	v := s.view
	m := &v.messages[i]
	if v.tokens[i] < leastStale || i >= s.newest && hasSignature(m) ||
		argumentBytes(m) < argumentBytes(&v.unedited[i]) {
		return rewrite.Part{}, false // what is signed in the newest turn stays as it is; what was shortened too
	}
	p := rewrite.Part{Index: i, Arguments: true, Reason: "arguments of an old call: long texts are shortened"}
	calls := *v.facts[i].subjects
	for c := range callsOf(m) {
		if calls[0].saving > 0 && s.allowed.Matches(c.Name) {
			p.Saving += calls[0].saving
		}
		calls = calls[1:]
	}
	due := s.options.KeepLastAssistants
	if !s.early {
		due = max(due, carriedArguments)
	}
	p.Overdue = carried - max(1, due)
	return p, p.Saving > 0 && isWorthIt(v.tokens[i]-p.Saving, v.tokens[i])
}

// isWorthIt reports whether an edit leaves little enough of what was there, in tokens.
func isWorthIt(after, before int) bool { return float64(after) <= mostRemainder*float64(before) }

// mostRemainder is the share of its tokens that an edit may leave. One that leaves more is not worth what the model no
// longer sees.
const mostRemainder = 0.75
