package winnow

import (
	"maps"
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summary"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What is in force: what code knows to be still valid for the work at hand. It stays whole as long as the request fits,
// is the last to go when it does not, and is carried over a compaction. See also carryInForce.

// A result of a read with fewer tokens than this, behind a longer one of the same file, most likely says that the file
// is unchanged. The notices of the common agents have 5 to 40 tokens.
const fewestOfFile = 80

// Files in work may take mostInWork tokens of a request: an agent that only reads would carry all that it has read.
// When they take more, only leftInWork of them are held. The others may go together, because each rewrite writes what
// stays to the cache again. In a window of 200 000, the recorded sessions lose two points of the lines that edits quote
// with a bound of 50 000, and none from 80 000 on; with 12 000 and 40 000 left, cost and lines are within .0001 and .1
// points of 20 000. In a small window files go before that, when a request does not fit: see dropFilesTo.
const (
	mostInWork = 80_000
	leftInWork = 20_000
)

// hold says why a message is in force. What has the lowest is given up first.
type hold uint8

const (
	holdNothing hold = iota
	holdFile         // it shows a file that the model works on
	holdShown        // it shows a file of which a newer result only says that it is unchanged
	holdLoaded       // instructions that a tool returned, the newest of their name
	holdPlan         // the newest call of a tool that replaces its own state
	holdTold         // a text of the host ([Message.InForce]), which only a summary replaces
)

// inForce is what is in force. A message that a record stands for has a place in it too.
type inForce struct {
	draft    *draft
	held     map[*item]hold  // results are held with their calls
	calls    map[callAt]hold // those of held that are calls
	restated map[*item]bool  // a later message is the same text of the host
	over     map[*item]bool  // texts of the host that it lets go: see findInForce
	said     map[string]bool // the names under which something holds, as in [Message.InForce] or subject.state
	work     toolcall.Work
}

// callAt is a call by its message and its place among the calls there.
type callAt struct {
	message *item
	nth     int
}

// workStep is a step with calls that work on files.
type workStep struct {
	items  []*item
	calls  []int // their places among the calls of the step
	files  toolcall.WorkFiles
	tokens int // as it is sent; 0: a record stands for it
}

// findInForce finds what is in force among the messages of a history before end. Later ones count only where they say
// that a file is unchanged.
func findInForce(d *draft, messages []*item, end int) *inForce {
	f := &inForce{
		draft: d,
		held:  map[*item]hold{}, calls: map[callAt]hold{}, restated: map[*item]bool{}, over: map[*item]bool{},
		said: map[string]bool{}, work: toolcall.Work{Uncached: d.opts.Cache.None},
	}
	var inWork []workStep
	inserted := map[key]bool{}
	turn := newestRequest(asOwn(messages))
	next := len(messages) // where the step of message i ends
	for i, x := range slices.Backward(messages) {
		isBefore := i < end
		switch x.own.Role {
		case RoleTool:
			continue
		case RoleUser:
			f.findText(x, isBefore, i < turn, inserted)
		case RoleAssistant:
			f.work.Back()
			w := workStep{items: messages[i:next]}
			for n, s := range slices.Backward(x.fact.subjectsOf(x.own, d.minifier.files)) {
				isShort, isError, files := false, false, s.files
				if result := i + 1 + n; result < next {
					isShort, isError = f.isShort(messages[result].fact), messages[result].own.IsError
				}
				if isError {
					files = files.AfterError()
				}
				if i >= turn && isBefore && f.work.Holds(files, isShort) {
					w.calls, w.files = append(w.calls, n), append(w.files, files...)
				}
				if isError {
					continue // the call has not done what it says
				}
				f.hold(x, n, f.holdOf(isBefore, s, isShort, !isShort || x.in == nil))
			}
			if w.calls != nil {
				inWork = append(inWork, w)
			}
		}
		f.holdStep(messages[i:next], f.held[x])
		next = i
	}
	f.holdFiles(inWork)
	return f
}

// findText finds whether x, a text of a user message, is in force, or may go. A text that the host inserted may go if a
// later one is the same, if later ones state all of it anew, if it is transient and of an older turn, or if it shows
// another result of a call that has one.
func (f *inForce) findText(x *item, isBefore, isOlderTurn bool, inserted map[key]bool) {
	m := x.own
	if isBefore && f.isNews(m.InForce) {
		f.held[x] = holdTold
	}
	if m.Injected {
		if inserted[x.fact.key] {
			f.restated[x] = true
		}
		inserted[x.fact.key] = true
	}
	isOver := len(m.InForce) > 0 && f.held[x] == holdNothing || m.Transient && isOlderTurn
	if (isOver || f.restated[x] || isLaterResult(m)) && mayFoldInjected(m) {
		f.over[x] = true
	}
}

// hold holds call n of x, and with it x, for h.
func (f *inForce) hold(x *item, n int, h hold) {
	if h != holdNothing {
		at := callAt{x, n}
		f.calls[at], f.held[x] = max(f.calls[at], h), max(f.held[x], h)
	}
}

// holdStep holds all messages of a step for h.
func (f *inForce) holdStep(step []*item, h hold) {
	if h == holdNothing {
		return
	}
	for _, x := range step {
		f.held[x] = max(f.held[x], h)
	}
}

// holdFiles holds the steps that work on files, which are the newest first: all of them or, if they take too much,
// those of files that the agent changes, and then the newest. What a record stands for takes nothing.
func (f *inForce) holdFiles(steps []workStep) {
	if o := &f.draft.opts; o.FoldAbove == FoldAlways || o.Tools.FoldFiles {
		return
	}
	all := 0
	for k := range steps {
		s := &steps[k]
		if s.items[0].in == nil {
			for _, x := range s.items {
				s.tokens = count.Add(s.tokens, f.shownTokens(x.fact))
			}
			all = count.Add(all, s.tokens)
		}
	}
	room := all
	if all > mostInWork {
		room = leftInWork
		others := slices.DeleteFunc(slices.Clone(steps), func(s workStep) bool { return f.work.Changed(s.files) })
		steps = append(slices.DeleteFunc(steps, func(s workStep) bool { return !f.work.Changed(s.files) }), others...)
	}
	for _, s := range steps {
		if s.tokens > 0 && room <= 0 {
			continue
		}
		room -= s.tokens
		for _, n := range s.calls {
			f.hold(s.items[0], n, holdFile)
		}
		f.holdStep(s.items, holdFile)
	}
}

// shownTokens returns the tokens of the message of x as the request has it, if no record stands for it.
func (f *inForce) shownTokens(x *fact) int {
	if p := f.draft.knownEdit(x); p != nil {
		return p.tokens
	}
	return x.tokens
}

// isShort reports whether the result of x has too few tokens to be a file's text, and no such text was put behind it.
func (f *inForce) isShort(x *fact) bool {
	p := f.draft.knownEdit(x)
	return x.tokens < fewestOfFile && (p == nil || p.op != OpShow)
}

// holdOf returns why a call is in force, beside the files in work. It comes before all that f has seen. isShort says
// that its result is short, and points that it counts for what it points to.
func (f *inForce) holdOf(isBefore bool, s subject, isShort, points bool) (h hold) {
	if points && f.work.PointedAt(s.files, isShort) {
		h = holdShown
	}
	switch {
	case s.state == "" || !isBefore || !f.isNews([]string{s.state}):
	case toolcall.IsOwn(s.state):
		h = holdPlan
	default:
		h = max(h, holdLoaded)
	}
	return h
}

// isNews reports whether one of the names was not said by a later message, and notes all of them.
func (f *inForce) isNews(names []string) (isNews bool) {
	for _, name := range names {
		isNews = isNews || !f.said[name]
		f.said[name] = true
	}
	return isNews
}

// inForceShare is how much of the budget, or of the cliff that the request stays below, the texts in force may take
// behind a summary. In a replay of the recorded sessions in a window of 64 000 tokens a quarter makes 10 % more
// summaries necessary, for no more lines. A plan and what the host told have a fiftieth even where the next summary is
// near.
const (
	inForceShare = 0.1
	leastInForce = 0.02
)

// carryInForce writes the section of what is in force in previous, an earlier summary, and in older, the messages that
// the new one stands for: all but those that stay beside it. In all, `beside` tokens stand beside the section.
func (c *compaction) carryInForce(d *draft, previous string, older []*item, stays map[*item]bool, beside int) string {
	f, free := d.inForceNow(), count.Share(d.room(), crampedShare)
	var q sections.Quotes
	said := f.toldIn(d.history[max(0, d.compactedAt):], &q)
	q.Keep(previous, func(name string) bool { return !said[name] }, f.work.WasPointedAt)
	for i, x := range older {
		switch {
		case f.held[x] == holdNothing || x.own.Role == RoleTool || stays[x]:
		case x.own.Role == RoleUser:
			q.Told(x.own.InForce, messageParts(x.own))
		default:
			nth := 0
			for p := range callsOf(x.own) {
				result := ""
				if k := i + 1 + nth; k < len(older) && older[k].own.Role == RoleTool {
					result = messageParts(older[k].own)
				}
				quoteCall(&q, d.minifier.files, p, f.calls[callAt{x, nth}], result)
				nth++
			}
		}
	}
	room := min(count.Share(d.limit(), inForceShare), max(count.Share(d.limit(), leastInForce), free-beside))
	if c.brevity == wordsCut { // nothing else helps
		room = min(room, max(0, c.free-c.tokens(c.said)-summary.LeastWords))
	}
	return q.Section(c.tokens, max(room, q.NoteTokens(c.tokens))) // notes are bounded where they are written
}

// toldIn adds to q the texts of the host in history that hold and are not among the messages of f: those that an
// earlier summary stands for, which may have had no room for them. It returns the names under which anything holds
// then.
func (f *inForce) toldIn(history []Message, q *sections.Quotes) (said map[string]bool) {
	all := inForce{said: maps.Clone(f.said)}
	var told []*Message
	for i := range slices.Backward(history) {
		if m := &history[i]; m.Role == RoleUser && all.isNews(m.InForce) {
			told = append(told, m)
		}
	}
	for _, m := range slices.Backward(told) {
		q.Told(m.InForce, messageParts(m))
	}
	return all.said
}

// quoteCall adds what a summary quotes of a call, which is in force because of h, and of its result.
func quoteCall(q *sections.Quotes, tools *toolcall.Files, p *Part, h hold, result string) {
	switch h {
	case holdNothing:
	case holdPlan:
		if name, note, isNote := toolcall.NoteIn(p.Name, p.Arguments); isNote {
			q.Note(name, note)
			return
		}
		text, isList := toolcall.Unfinished(p.Arguments)
		if !isList && len(result) > len(text) { // the call only asked for the plan
			text = result
		}
		q.State(tools.State(p.Name, p.Arguments), text)
	case holdLoaded:
		q.State(tools.State(p.Name, p.Arguments), result)
	default:
		if use := tools.OfShell(p.Name, p.Arguments); len(use.Modified) > 0 {
			q.Changed(use.Modified, mem.String(p.Arguments))
		} else {
			q.Read(use.Read, result)
		}
	}
}
