package winnow

import (
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/rewrite"
	"github.com/winnowgo/winnow/internal/toolcall"
	"github.com/winnowgo/winnow/internal/workfiles"
)

// What of a request is stale: results and arguments that the model most likely no longer needs.

// How many requests carry a part whole before it is stale: a result that shows a file, and the arguments of a call.
// For other results it is PruneOptions.KeepLastAssistants. What a file holds is used for longer than what a command
// said, and what the model wrote itself for longer still. In a replay of the recorded sessions 5 requests for files
// cost 0.2 % less and kept as much: the numbers are not critical. KeepLittle halves both.
const (
	carriedReads     = 7
	carriedArguments = 10
)

// maxCarriedAgain is how often the time for which a part is carried may double because the model asked for the part
// again: to 2³ times at most.
const maxCarriedAgain = 3

// A part of fewer tokens is not worth an edit.
const leastStale = 100

// noSubjects is the list of a message without calls. Nobody writes to it.
var noSubjects []subject

// subjectsOf returns what the calls of m are about, in their order.
func subjectsOf(m *Message, tools *toolcall.Files) *[]subject {
	if !hasCalls(m) {
		return &noSubjects
	}
	known := &struct {
		list []subject
		one  [1]subject // memory for the list of most messages, which has one call
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
	last    map[uint32]int // of each call, the newest result that is not a failure
	newest  int            // the newest turn of a person begins here

	// nothing is carried longer than necessary: dropping it costs nothing now, or keeping it would lose more
	early   bool
	isBrief bool // see KeepPolicy.isBrief
}

// Below staleShare of the window, or below staleTokens if that is less, a conversation stays append-only: the saving is
// too small to hide anything from the model. In a replay of the recorded sessions floors of up to 5 % and of up to
// 8 000 tokens cost at most 0.2 % in windows of 64 000 and of 200 000, with the same names kept and 2 to 10 % fewer
// rewrites; 10 % of 200 000 cost 0.6 %.
const (
	staleShare  = 0.05
	staleTokens = 8_000
)

// isBelowStale reports whether the messages of d have too few tokens for their stale parts to be dropped. A request
// that does not fit counts as large enough, except for the floor that the host has set.
func (d *draft) isBelowStale() bool {
	return !d.isPressed && d.view.total < d.staleFrom() || d.view.total < d.askedStaleFrom()
}

// askedStaleFrom returns the floor that the host has set, PruneOptions.SoftTrimRatio, in tokens, or 0.
func (d *draft) askedStaleFrom() int { return count.Share(d.windowEstimate(), d.pruneFrom) }

// staleFrom returns how many tokens the messages must have for their stale parts to be dropped.
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

// readSubjects finds out what each result is about. The view is repaired, so the n-th result behind an assistant
// message is that of its n-th call.
func (s *staleness) readSubjects(tools *toolcall.Files) {
	v := s.view
	s.subject = make([]*subject, len(v.messages))
	s.asked, s.last = map[uint32]int{}, map[uint32]int{}
	var calls []subject
	for i := range v.messages {
		m := &v.messages[i]
		switch {
		case m.Role == RoleAssistant:
			calls = *v.facts[i].subjectsOf(&v.unedited[i], tools) // of the message as the host has it
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

// readFolded adds to s.asked the calls that records of d stand for, if a result of the same call is in the view: a
// model that made a call again has missed what its old result said.
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

// subjectsOf returns what the calls of m, the message of f, are about.
func (f *fact) subjectsOf(m *Message, tools *toolcall.Files) *[]subject {
	if f.subjects == nil {
		f.subjects = subjectsOf(m, tools)
	}
	return f.subjects
}

// carriedFor returns how many requests carry a part whole if those of KeepWork carry it for n.
func (s *staleness) carriedFor(n int) int {
	if s.isBrief {
		return n / 2
	}
	return n
}

// dueAfter returns how many requests carry result i whole: due or, if the model had to ask for the result again, a
// multiple of it.
func (s *staleness) dueAfter(i, due int) int {
	c := s.subject[i]
	if c == nil || s.early || s.last[c.call] > i || s.asked[c.call] < 2 {
		return due
	}
	return min(due, len(s.view.messages)) << min(s.asked[c.call]-1, maxCarriedAgain) // it was missed before
}

// result returns result i as a part that is stale or will be, and whether it may be dropped. carried is the number of
// requests that held it.
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
			due = max(due, s.carriedFor(carriedReads))
		}
		due = s.dueAfter(i, due)
	}
	p.Overdue = carried - max(1, due)
	return p, p.Saving > 0
}

// arguments is like result, for the arguments of the calls of message i.
func (s *staleness) arguments(i, carried int) (rewrite.Part, bool) {
	v := s.view
	m := &v.messages[i]
	if v.tokens[i] < leastStale || i >= s.newest && hasSignature(m) ||
		argumentBytes(m) < argumentBytes(&v.unedited[i]) {
		return rewrite.Part{}, false // a signed message of the newest turn stays, and so do shortened arguments
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
		due = max(due, s.carriedFor(carriedArguments))
	}
	p.Overdue = carried - max(1, due)
	return p, p.Saving > 0 && isWorthIt(v.tokens[i]-p.Saving, v.tokens[i])
}

// isWorthIt reports whether an edit that leaves `after` of `before` tokens leaves few enough.
func isWorthIt(after, before int) bool { return float64(after) <= mostRemainder*float64(before) }

// mostRemainder is the largest share of its tokens that an edit may leave. An edit that leaves more is not worth what
// the model can no longer see.
const mostRemainder = 0.75
