package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/sections"
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

// workStep is a step with calls that work on files.
type workStep struct {
	items  []*item
	calls  []int // their places among the calls of the step
	files  toolcall.WorkFiles
	tokens int // as it is sent; 0: a record stands for it
}

// findInForce finds what is in force among the messages of a history before end. Later ones count only where they say
// that a file is unchanged.
func (d *draft) findInForce(messages []*item, end int) *inForce {
	f := &inForce{
		held: map[*item]hold{}, calls: map[callAt]hold{}, again: map[*item]bool{}, over: map[*item]bool{},
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
			for n, s := range x.fact.subjectsOf(x.own, d.minifier.files) {
				isShort := false
				if result := i + 1 + n; result < next {
					if messages[result].own.IsError {
						continue // the call has not done what it says
					}
					isShort = d.isShort(messages[result].fact)
				}
				if i >= turn && isBefore && f.work.Holds(s.files, isShort) {
					w.calls, w.files = append(w.calls, n), append(w.files, s.files...)
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
	d.holdFiles(f, inWork)
	return f
}

// findText finds whether x, a text of a user, is in force or lets itself go. It lets go of what the host inserted if a
// later text is the same, if later ones state all anew that it said, or if it is transient and of an older turn.
func (f *inForce) findText(x *item, isBefore, isOlderTurn bool, inserted map[key]bool) {
	m := x.own
	if isBefore && f.isNews(m.InForce) {
		f.held[x] = holdTold
	}
	if m.Injected {
		if inserted[x.fact.key] {
			f.again[x] = true
		}
		inserted[x.fact.key] = true
	}
	isOver := len(m.InForce) > 0 && f.held[x] == holdNothing || m.Transient && isOlderTurn
	if (isOver || f.again[x] || isLaterResult(m)) && mayFoldInjected(m) {
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
func (d *draft) holdFiles(f *inForce, steps []workStep) {
	if d.opts.FoldAbove == FoldAlways || d.opts.Tools.FoldFiles {
		return
	}
	all := 0
	for k := range steps {
		s := &steps[k]
		if s.items[0].in == nil {
			for _, x := range s.items {
				s.tokens = count.Add(s.tokens, d.shownTokens(x.fact))
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

// shownTokens returns the tokens of the message of f as the request has it, if no record stands for it.
func (d *draft) shownTokens(f *fact) int {
	if p := d.knownEdit(f); p != nil {
		return p.tokens
	}
	return f.tokens
}

// isShort reports whether the result of f has too few tokens to be the text of a file, and no such text behind itself.
func (d *draft) isShort(f *fact) bool {
	p := d.knownEdit(f)
	return f.tokens < fewestOfFile && (p == nil || p.op != OpShow)
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

// keptByLimit marks the messages before `from` that survive the turn limit. It looks at what was in force
// when the turns were cut, and not at what is now: the beginning of the request stays as it is until the next cut.
func (d *draft) keptByLimit(from int) []bool {
	if from == 0 {
		return nil
	}
	f := d.findInForce(d.items, from)
	return keptBefore(d.own(), from, func(i int) bool {
		x := d.items[i]
		return f.held[x] >= holdShown && x.own.Role != RoleTool // results stay with their calls
	})
}

// inForceNow returns what is in force: it is found once before records are replayed, and once behind that.
func (d *draft) inForceNow() *inForce {
	if d.inForce == nil {
		all := unfolded(d.items)
		d.inForce = d.findInForce(all, len(all))
	}
	return d.inForce
}

// inForceShare is how much of the budget the texts in force may take behind a summary. In a replay of the recorded
// sessions in a window of 64 000 tokens a quarter makes 10 % more summaries necessary, for no more lines. A plan and
// what the host told have a fiftieth even where the next summary is near.
const (
	inForceShare = 0.1
	leastInForce = 0.02
)

// carryInForce writes the section of what is in force in previous, an earlier summary, and in older, the messages that
// the new one stands for: all but those that stay beside it. In all, beside tokens stand beside the section.
func (d *draft) carryInForce(previous string, older []*item, stays map[*item]bool, beside int) string {
	f, free := d.inForceNow(), count.Share(d.room(), crampedShare)
	var q sections.Quotes
	q.Keep(previous, func(name string) bool { return !f.said[name] }, f.work.WasPointedAt)
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
	room := min(count.Share(d.budget, inForceShare), max(count.Share(d.budget, leastInForce), free-beside))
	tokens := func(s string) int { return textTokens(d.opts.Estimator, s) }
	return q.Section(tokens, max(room, q.NoteTokens(tokens))) // notes are bounded where they are written
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
		q.Plan(tools.State(p.Name, p.Arguments), text)
	case holdLoaded:
		q.Loaded(tools.State(p.Name, p.Arguments), result)
	default:
		if use := tools.OfShell(p.Name, p.Arguments); len(use.Modified) > 0 {
			q.Changed(use.Modified, mem.String(p.Arguments))
		} else {
			q.Read(use.Read, result)
		}
	}
}

// saysUnchanged reports whether m is a result that may only say that a file is as it was shown before.
func saysUnchanged(m *Message) bool {
	if m.Role != RoleTool || m.Pinned || m.IsError {
		return false
	}
	return holdsOnlyText(m) && toolcall.SaysUnchanged(joinedText(m))
}

const shownAgain = "\n[What this points to is no longer shown, so here it is:]\n"

// showUnchanged puts the text of a file behind a new result that only says that the file is unchanged, if the request
// has that text no more. A tool that remembers what it showed would say the same again and again.
func (d *draft) showUnchanged(wasSent func(int) bool) {
	for i, x := range d.items {
		m := x.own
		isNew := x.index >= 0 && x.edit == nil && !wasSent(i)
		if !isNew || !saysUnchanged(m) {
			continue
		}
		text, isShown := d.pointedAt(x.index)
		if text == "" || isShown {
			continue
		}
		out := *m
		out.Parts, out.Source = []Part{{Text: joinedText(m) + shownAgain + text}}, nil
		d.edit(i, out, estimateWith(d.opts.Estimator, out), OpShow, "what it points to is no longer in the request")
	}
}

// pointedAt returns the newest text of the file that result i of the history is about, "" if there is none, and whether
// the request shows it.
func (d *draft) pointedAt(i int) (text string, isShown bool) {
	facts, files := d.index.facts, toolcall.WorkFiles(nil)
	var work toolcall.Work
	nth := 0
	for k := i; k >= 0; k-- {
		m := &d.history[k]
		if m.Role == RoleTool {
			nth++
			continue
		}
		for n, s := range facts[k].subjectsOf(m, d.minifier.files) {
			result := k + 1 + n
			switch {
			case result > i || d.history[result].Role != RoleTool:
			case files == nil && n == nth-1:
				files = s.files
				work.PointedAt(files, true)
			case files != nil && !d.history[result].IsError && facts[result].tokens >= fewestOfFile:
				if work.PointedAt(s.files, false) {
					return joinedText(&d.history[result]), d.showsWhole(result)
				}
			case files != nil && files.Overlap(s.files) && d.isShownAgain(result):
				return shownAgain, true
			}
		}
		if files == nil { // its call is not known, or is about no file
			return "", false
		}
		nth = 0
	}
	return "", false
}

// shownNow returns the item of message i of the history, or nil if the request does not have that.
func (d *draft) shownNow(i int) *item {
	p := slices.IndexFunc(d.items, func(x *item) bool { return x.index == i })
	if p < 0 {
		return nil
	}
	return d.items[p]
}

// showsWhole reports whether the request has message i of the history with all that it says.
func (d *draft) showsWhole(i int) bool {
	x := d.shownNow(i)
	return x != nil && (x.edit == nil || x.edit.op == OpMinify || x.edit.op == OpTruncate)
}

// isShownAgain reports whether the request has message i of the history with what it points to.
func (d *draft) isShownAgain(i int) bool {
	x := d.shownNow(i)
	return x != nil && x.edit != nil && x.edit.op == OpShow
}

// changesFiles reports whether a call of the newest turn changes a file. It looks at the history, because a summary may
// stand for most of the turn.
func (d *draft) changesFiles() bool {
	facts := d.index.facts
	for i := len(d.history) - 1; i >= max(0, d.compactedAt) && !beginsTurn(&d.history[i]); i-- {
		for _, s := range facts[i].subjectsOf(&d.history[i], d.minifier.files) {
			if s.files.Change() {
				return true
			}
		}
	}
	return false
}
