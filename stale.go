package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Which parts of a request are stale, and what stays of them: the work between what people and the agent said to each
// other may go. A run of old steps becomes a record. A step that no record may stand for, such as a signed one of the
// newest turn, loses its results in their place: what they report stays, in a line or two. The names that occur nowhere
// else stay too. So the model still knows these names and what it can ask for again.

// How many of the newest steps stay whole when old work goes. Where the model ends a phase of its work, or records are
// tried in place of a summary, only one does. Options.WholeSteps may ask for more.
const (
	// While the prompt cache is warm, and where the provider caches nothing. In a replay of the recorded sessions 2 and
	// 8 cost the same within 0.7 %: what stands behind a step decides when a record is made. See BENCHMARKS.md.
	warmSteps = 4
	// When the cache has been lost, so that folding costs nothing. Three cost 0.3 to 0.6 % more and keep the same names
	// and lines; one costs 0.3 % less and loses up to 0.6 points of the lines that edits quote.
	coldSteps = 2
	// When the request does not fit otherwise, while the cache is warm.
	pressedSteps = 3
)

// While the cache is warm, the old images of this many steps or more go together. An agent that takes a screenshot of
// 1 400 tokens in each step then rewrites its prefix in 7 of 100 requests, and sends a third of the tokens of 60 steps,
// and a tenth of those of 200.
const imagesAtOnce = 14

// Of a request with more images, Anthropic refuses those of more than 2 000 pixels.
const mostImages = 20

// Below this, most conversations are short ones, and nothing is worth hiding from the model. In a replay of the
// recorded sessions a lower floor saves 3 % more of the cost; see BENCHMARKS.md for the curve.
const (
	defaultFoldAbove  = 0.2
	defaultFoldTokens = 40_000
)

// isBelowFold reports whether the messages take so little of the window that no old work may go. From dropStale on, no
// request counts as too small.
func (e *epoch) isBelowFold() bool {
	return !e.isPressed && (e.opts.FoldAbove >= 1 || e.total < e.foldFrom())
}

// foldFrom returns from how many estimated tokens on the messages may lose old work. By default it is a share of the
// window, or of what requests stay below because they cost more above it.
func (e *epoch) foldFrom() int {
	window := e.windowEstimate()
	if e.opts.FoldAbove == 0 {
		if len(e.prices.cliffs) > 0 {
			window = min(window, count.Share(e.prices.cliffs[0].Above, belowCliff))
		}
		return min(defaultFoldTokens, count.Share(window, defaultFoldAbove))
	}
	return count.Share(window, max(0, e.opts.FoldAbove))
}

// staleness finds the parts of a request that may go.
type staleness struct {
	*epoch
	calls answered
	first int  // the oldest message of a user: nothing before it goes
	turn  int  // the newest turn of a person begins here
	may   hold // what is in force goes if it is held for no better reason
	least int  // how many of the newest steps stay whole

	inside []bool // by message, whether it stands between the halves of a pair of the provider's; nil: none does

	images int // messages before this one have images that are old
}

// part is one place in the request that may be shortened: a step that a record may replace, a result, images, or data.
type part struct {
	index  int  // of its message
	saving int  // tokens, about
	isRead bool // it shows a file, whose ends report nothing
	images bool // only its images go
	data   bool // only what no model can read goes, of the arguments of its calls
	end    int  // a record may stand for the messages from index to end; 0: the part is edited in place
	reason string
}

// staleParts returns the parts that may go, oldest first; none from a small request. The given number of the newest
// steps stay whole, and so does what is in force, except for what is held for no better reason than may.
func (e *epoch) staleParts(steps int, may hold) []part {
	if e.isBelowFold() {
		return nil
	}
	return e.staleInAny(steps, may)
}

// staleInAny is staleParts for a request of any size.
func (e *epoch) staleInAny(steps int, may hold) []part {
	first := slices.IndexFunc(e.items, func(x *item) bool { return x.own.Role == RoleUser })
	if first < 0 {
		return nil
	}
	if !e.givesUpSteps {
		steps = max(steps, e.opts.WholeSteps)
	}
	s := staleness{
		epoch: e, first: first, turn: max(0, newestRequest(e.own())), least: steps, may: may,
		calls: answered{messages: e.own()}, images: min(imagesFrom(e.own()), e.wholeFrom()),
		inside: insidePairs(e.own()),
	}
	var list []part
	carried, end := 0, len(e.items) // how many requests held message i; where its step ends
	isSeen := true
	for i := len(e.items) - 1; i >= first; i-- {
		carried += countAnswers(asOwn(unfolded(e.items[i : i+1])))
		if isSeen = isSeen && !e.isUnseen(i); e.items[i].sent.Role == RoleTool {
			continue
		}
		if isSeen {
			list = append(list, s.step(i, end, carried)...)
		}
		end, isSeen = i, true
	}
	slices.Reverse(list)
	return s.withoutLone(list)
}

// withoutLone returns list without the texts of a user that save no more than the frame of a record takes, which is
// about a line of it, where none would stand for a neighbour as well.
func (s *staleness) withoutLone(list []part) []part {
	isRecord := func(i int) bool { return i >= 0 && i < len(s.items) && s.items[i].record != nil }
	var kept []part
	for k, p := range list {
		isBehind := k > 0 && list[k-1].end == p.index || isRecord(p.index-1)
		isBefore := k+1 < len(list) && list[k+1].end > 0 && list[k+1].index == p.end || isRecord(p.end)
		isText := s.items[p.index].own.Role == RoleUser && p.end > 0
		if !isText || p.saving > record.EstimateCall() || isBehind || isBefore {
			kept = append(kept, p)
		}
	}
	return kept
}

// mayLoseImages reports whether old images of m may go: not those of a pin, and not those that a person sent in the
// newest turn.
func mayLoseImages(m *Message, isOlderTurn bool) bool {
	isPersons := m.Role == RoleUser && !m.Injected
	return !m.Pinned && m.Role != RoleAssistant && (isOlderTurn || !isPersons)
}

// isOld reports whether the step at i is older than the newest `least` steps: `carried` requests held it.
func (s *staleness) isOld(i, carried, least int) bool {
	if s.items[i].own.Role == RoleAssistant {
		carried-- // the request that it answers did not hold it
	}
	return carried >= least
}

// step returns the parts of the step from i to end that may go, the newest first. A step that becomes a record is one
// part. Of a step that stays, what no model can read goes, if the model has answered since.
func (s *staleness) step(i, end, carried int) (parts []part) {
	x := s.items[i]
	if x.own.Pinned || x.own.Summary {
		return nil
	}
	if isHeld := x.record == nil && s.inForceNow().held[x] > s.may; !isHeld && s.isOld(i, carried, s.least) {
		if s.mayFold(i, end) {
			p := part{index: i, end: end, saving: s.saving(i, end), reason: foldReason}
			if p.saving > 0 || len(x.own.InForce) > 0 { // what it said holds no more, however short it is
				parts = append(parts, p)
			}
			return parts
		}
		for k := end - 1; k > i; k-- {
			if p, ok := s.result(k); ok {
				parts = append(parts, p)
			}
		}
	}
	if x.own.Role == RoleAssistant && s.isOld(i, carried, 1) {
		if left, after := s.withoutData(i); left != nil {
			parts = append(parts, part{
				index: i, data: true, saving: x.tokens() - after, reason: "data in the arguments of an older call",
			})
		}
	}
	return parts
}

// mayFold reports whether a record may stand for the messages from i to end. They have to be an answer with calls and
// all of their results, with more behind it, or a text that the host lets go. A record would end the turn in which the
// provider goes on with a call of its own.
func (s *staleness) mayFold(i, end int) bool {
	m := s.items[i].sent
	if m.Role == RoleUser {
		// A later request judges it as it is in the history.
		return i > s.first && s.inForceNow().over[s.items[i]]
	}
	if !hasCalls(m) || end == len(s.items) || i >= s.turn && hasSignature(m) {
		return false
	}
	if s.inside != nil && s.inside[i] {
		return false
	}
	calls := 0
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			if calls++; !s.minifier.match.Matches(p.Name) {
				return false
			}
		case p.Kind != KindText && !isThinking(*p):
			return false
		}
	}
	if calls != end-i-1 {
		return false
	}
	for k := i + 1; k < end; k++ {
		r := s.items[k].own // with the images that were left out of it
		if r.Pinned || !s.minifier.mayShorten(r, s.calls.tool(k)) {
			return false
		}
		for p := range r.Parts {
			if isOld := isOptionalImage(&r.Parts[p]) && k < s.images; r.Parts[p].Kind != KindText && !isOld {
				return false
			}
		}
	}
	return true
}

// saving estimates how many tokens a record saves of the step from i to end.
func (s *staleness) saving(i, end int) int {
	x := s.items[i]
	m := x.own
	left := 0
	if m.Role == RoleUser {
		switch {
		case s.inForceNow().restated[x]:
		case len(m.InForce) > 0:
			left = record.EstimateInserted(0)
		default:
			left = record.EstimateInserted(textBytes(m))
		}
	}
	for k := range m.Parts {
		switch p := &m.Parts[k]; {
		case p.Kind == KindToolCall:
			left += record.EstimateCall()
		case m.Role == RoleAssistant && p.Kind == KindText:
			left += record.EstimateSaid(len(p.Text))
		}
	}
	sum := s.tokensOf(i, end)
	return sum - left - count.Share(sum, record.NamesShare/2)
}

// result returns result k as a part that is cleared in its place, and whether that may be.
func (s *staleness) result(k int) (part, bool) {
	x := s.items[k]
	m, tokens := x.sent, x.tokens()
	isCleared := x.edit != nil && x.edit.op == OpClear
	if isCleared || tokens < leastStale || m.Pinned || !holdsOnlyText(m) {
		return part{}, false
	}
	tool := s.calls.tool(k)
	if !s.minifier.mayShorten(m, tool) {
		return part{}, false
	}
	p := part{index: k, saving: tokens - excerpt.Room(tokens),
		isRead: s.minifier.files.Reads(tool), reason: "an old result: its names and what it reports are kept"}
	return p, p.saving > 0
}

// isWorthIt reports whether an edit that leaves `after` of `before` tokens leaves few enough.
func isWorthIt(after, before int) bool { return float64(after) <= mostRemainder*float64(before) }

// mostRemainder is the largest share of its tokens that an edit may leave. An edit that leaves more is not worth what
// the model can no longer see.
const mostRemainder = 0.75

// mostOfRecord is how many messages a record may stand for. It matters for a history that is many times as long as the
// window when it is seen first: the older half of its records becomes bare, and the newer one keeps its lines.
const mostOfRecord = 200

// runsOf joins neighbouring steps of list into runs, and leaves out runs that save too little.
func runsOf(list []part) []part {
	out := make([]part, 0, len(list))
	for _, s := range list {
		if k := len(out) - 1; s.end > 0 && k >= 0 && out[k].end == s.index && s.end-out[k].index <= mostOfRecord {
			out[k].saving, out[k].end = out[k].saving+s.saving, s.end
		} else {
			out = append(out, s)
		}
	}
	return slices.DeleteFunc(out, func(s part) bool { return s.end > 0 && s.saving < leastStale })
}

// drop replaces the stale parts of list by what stays of them, where that is worth an edit. It begins with the newest,
// because a name that several hold stays there. Where the newest records have their share of the room already, older
// ones are bare from the beginning: of a history that is many times as long as the window, nobody would read them.
func (e *epoch) drop(list []part) {
	list = runsOf(list)
	if len(list) == 0 { // else everything that is kept would be read for its names in vain
		return
	}
	names := e.namesKept(list)
	var runs []recordedRun
	w := record.NewWriter(e.minifier.files) // of all records, so that its memory is used again
	room := count.Share(e.room(), recordsShare)
	for _, p := range slices.Backward(list) {
		switch {
		case p.end > 0:
			run := recordedRun{from: p.index, to: p.end}
			if room > 0 {
				r := e.writeRecord(w, p.index, p.end, names)
				if !isWorthIt(r.fact.tokens, e.tokensOf(p.index, p.end)) {
					continue // it stays, with its names, and takes nothing of the records' share
				}
				if joinedText(&r.message) != record.Bare(len(r.keys), 0) { // else it says nothing, like a bare one
					run.record = r
				}
				room -= r.fact.tokens
			}
			runs = append(runs, run)
		case p.images:
			if parts, after := e.withoutImages(p.index); parts != nil {
				e.edit(p.index, parts, after, OpClear, p.reason)
			}
		case p.data:
			if parts, after := e.withoutData(p.index); parts != nil {
				e.edit(p.index, parts, after, OpClear, p.reason)
			}
		default:
			e.clearInPlace(p, names)
		}
	}
	slices.Reverse(runs)
	e.putNew(runs) // after the edits, because records change the positions of messages
	e.showRepeats(false)
}

// clearInPlace leaves of result p what it reports, or the host behind it, and the names in it that are not in names.
func (e *epoch) clearInPlace(p part, names *excerpt.Names) {
	x := e.items[p.index]
	m, tokens := x.sent, x.tokens()
	if x.edit.isRepeat() {
		m, _ = e.beforeCut(p.index)
	}
	text, reminders := toolcall.Reminders(joinedText(m))
	text = excerpt.Remainder(text, excerpt.Room(tokens), !p.isRead, names, e.recallNote(p.index))
	for _, reminder := range reminders {
		if report := record.ReportIn(reminder); report != "" {
			text += "\nReported by the host: " + report
		}
	}
	parts := []Part{{Text: text}}
	if after := e.tokensWith(p.index, parts); isWorthIt(after, tokens) {
		e.edit(p.index, parts, after, OpClear, p.reason)
	}
}

// namesKept returns the names in what the request keeps when the parts of list are dropped. Thinking counts only if
// every epoch keeps it.
func (e *epoch) namesKept(list []part) *excerpt.Names {
	names := new(excerpt.Names)
	keepsThinking := e.thinking() == ThinkingKept
	next := 0
	for i, x := range e.items {
		for next < len(list) && list[next].end > 0 && list[next].end <= i {
			next++
		}
		if next < len(list) && list[next].end > 0 && list[next].index <= i {
			continue // of a run
		}
		if next < len(list) && list[next].index == i {
			if next++; !list[next-1].data {
				continue
			}
		}
		for k := range x.sent.Parts {
			p := &x.sent.Parts[k]
			if keepsThinking || !isThinking(*p) {
				names.Add(p.Text)
			}
			names.Add(mem.String(p.Arguments))
		}
	}
	return names
}
