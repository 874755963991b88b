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

// workStep is a step from message i to end with calls that work on files.
type workStep struct {
	i, end int
	calls  []int // their places among the calls of the step
	files  toolcall.WorkFiles
}

// findInForce finds what is in force among the messages of v before end. Later ones count only where they say that a
// file is unchanged. isShown reports whether message i of v is in the request, and not only in a record.
func (d *draft) findInForce(v *view, end int, isShown func(i int) bool) *inForce {
	f := &inForce{
		held: make([]hold, len(v.messages)), again: make([]bool, len(v.messages)),
		calls: map[callAt]hold{}, said: map[string]bool{},
		work: toolcall.Work{Uncached: d.opts.Cache.None},
		turn: newestRequest(v.unedited), end: end,
	}
	var inWork []workStep
	inserted := map[key]bool{}
	next := len(v.messages) // where the step of message i ends
	for i := len(v.messages) - 1; i >= 0; i-- {
		switch m := &v.unedited[i]; m.Role {
		case RoleTool:
			continue
		case RoleUser:
			if i < end && f.isNews(m.InForce) {
				f.held[i] = holdTold
			}
			if m.Injected {
				f.again[i], inserted[v.facts[i].key] = inserted[v.facts[i].key], true
			}
		case RoleAssistant:
			f.work.Back()
			w := workStep{i: i, end: next}
			for n, s := range v.facts[i].subjectsOf(m, d.minifier.files) {
				result := i + 1 + n
				if result < next && v.unedited[result].IsError {
					continue // the call has not done what it says
				}
				isShort := result < next && d.isShort(v.facts[result])
				if i >= f.turn && i < end && f.work.Holds(s.files, isShort) {
					w.calls, w.files = append(w.calls, n), append(w.files, s.files...)
				}
				if h := f.holdOf(i, s, isShort, !isShort || isShown(i)); h != holdNothing {
					f.calls[callAt{i, n}], f.held[i] = h, max(f.held[i], h)
				}
			}
			if w.calls != nil {
				inWork = append(inWork, w)
			}
		}
		for k := i + 1; k < next; k++ {
			f.held[k] = f.held[i]
		}
		next = i
	}
	d.holdFiles(f, v, inWork, isShown)
	return f
}

// holdFiles holds the steps of v that work on files, which are the newest first: all of them or, if they take too much,
// those of files that the agent changes, and then the newest. What a record stands for takes nothing.
func (d *draft) holdFiles(f *inForce, v *view, steps []workStep, isShown func(i int) bool) {
	if d.opts.FoldAbove == FoldAlways || d.opts.Tools.FoldFiles {
		return
	}
	all := 0
	tokens := make(map[int]int, len(steps)) // by the message of a step
	for _, s := range steps {
		if isShown(s.i) {
			for _, fact := range v.facts[s.i:s.end] {
				tokens[s.i] = count.Add(tokens[s.i], d.shownTokens(fact))
			}
			all = count.Add(all, tokens[s.i])
		}
	}
	room := all
	if all > mostInWork {
		room = leftInWork
		others := slices.DeleteFunc(slices.Clone(steps), func(s workStep) bool { return f.work.Changed(s.files) })
		steps = append(slices.DeleteFunc(steps, func(s workStep) bool { return !f.work.Changed(s.files) }), others...)
	}
	for _, s := range steps {
		if tokens[s.i] > 0 && room <= 0 {
			continue
		}
		room -= tokens[s.i]
		for _, n := range s.calls {
			at := callAt{s.i, n}
			f.calls[at] = max(f.calls[at], holdFile)
		}
		for k := s.i; k < s.end; k++ {
			f.held[k] = max(f.held[k], holdFile)
		}
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

// holdOf returns why a call of message i is in force, beside the files in work. It comes before all that f has seen.
// isShort says that its result is short, and points that it counts for what it points to.
func (f *inForce) holdOf(i int, s subject, isShort, points bool) (h hold) {
	if points && f.work.PointedAt(s.files, isShort) {
		h = holdShown
	}
	switch {
	case s.state == "" || i >= f.end || !f.isNews([]string{s.state}):
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

// keptByLimit marks the messages of the view before `from` that survive the turn limit. It looks at what was in force
// when the turns were cut, and not at what is now: the beginning of the request stays as it is until the next cut.
func (d *draft) keptByLimit(from int) []bool {
	if from == 0 {
		return nil
	}
	v := &view{messages: d.view.messages, unedited: d.view.messages, facts: d.view.facts}
	f := d.findInForce(v, from, func(int) bool { return true })
	return keptBefore(v.messages, from, func(i int) bool {
		return f.held[i] >= holdShown && v.messages[i].Role != RoleTool // results stay with their calls
	})
}

// inForceNow returns what is in force in the unfolded view: it is found once for each draft.
func (d *draft) inForceNow() *inForce {
	if d.inForce == nil {
		v := d.unfoldedView()
		d.inForce = d.findInForce(v, len(v.messages), func(i int) bool { return !d.isRecord(d.foldedAt(i)) })
	}
	return d.inForce
}

// heldInView returns, by message of the view, what is in force and held for a better reason than may.
func (d *draft) heldInView(may hold) []hold {
	f := d.inForceNow()
	held := make([]hold, len(d.view.messages))
	for i := range held {
		if h := f.held[d.unfoldedAt(i)]; h > may && !d.isRecord(i) {
			held[i] = h
		}
	}
	return held
}

// inForceShare is how much of the budget the texts in force may take behind a summary. In a replay of the recorded
// sessions in a window of 64 000 tokens a quarter makes 10 % more summaries necessary, for no more lines. A plan and
// what the host told have a fiftieth even where the next summary is near.
const (
	inForceShare = 0.1
	leastInForce = 0.02
)

// carryInForce writes the section of what is in force in the messages before message cut of the unfolded view, and in
// previous, the summary of what came before. stays reports whether a message stays beside the summary. In all, beside
// tokens stand beside the section.
func (d *draft) carryInForce(previous string, cut int, stays func(i int) bool, beside int) string {
	f, v, free := d.inForceNow(), d.unfoldedView(), count.Share(d.room(), crampedShare)
	var q sections.Quotes
	q.Keep(previous, func(name string) bool { return !f.said[name] }, f.work.WasPointedAt)
	for i := range cut {
		switch m := &v.unedited[i]; {
		case f.held[i] == holdNothing || m.Role == RoleTool || stays(i):
		case m.Role == RoleUser:
			q.Told(m.InForce, messageParts(m))
		default:
			nth := 0
			for p := range callsOf(m) {
				result := ""
				if k := i + 1 + nth; k < len(v.unedited) && v.unedited[k].Role == RoleTool {
					result = messageParts(&v.unedited[k])
				}
				quoteCall(&q, d.minifier.files, p, f.calls[callAt{i, nth}], result)
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
	v := d.view
	for i := range v.messages {
		m := &v.messages[i]
		isNew := v.index[i] >= 0 && v.edited[i] == nil && !wasSent(i)
		if !isNew || !saysUnchanged(m) {
			continue
		}
		text, isShown := d.pointedAt(v.index[i])
		if text == "" || isShown {
			continue
		}
		out := *m
		out.Parts, out.Source = []Part{{Text: joinedText(m) + shownAgain + text}}, nil
		d.project(i, out, estimateWith(d.opts.Estimator, out), OpShow, "what it points to is no longer in the request")
	}
}

// pointedAt returns the newest text of the file that result i of the history is about, "" if there is none, and whether
// the request shows it.
func (d *draft) pointedAt(i int) (text string, isShown bool) {
	facts, files := d.ledger.index.facts, toolcall.WorkFiles(nil)
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

// showsWhole reports whether the request has message i of the history with all that it says.
func (d *draft) showsWhole(i int) bool {
	p := slices.Index(d.view.index, i)
	if p < 0 {
		return false
	}
	e := d.view.edited[p]
	return e == nil || e.op == OpMinify || e.op == OpTruncate
}

// isShownAgain reports whether the request has message i of the history with what it points to.
func (d *draft) isShownAgain(i int) bool {
	p := slices.Index(d.view.index, i)
	return p >= 0 && d.view.edited[p] != nil && d.view.edited[p].op == OpShow
}

// mayGo reports whether m, message i of the unfolded view, is a text that the host inserted and lets go: a later text
// is the same, later ones state all anew that it said, or it is transient and of an older turn.
func (f *inForce) mayGo(i int, m *Message) bool {
	isOver := len(m.InForce) > 0 && f.held[i] == holdNothing || m.Transient && i < f.turn
	return (isOver || f.again[i] || isLaterResult(m)) && mayFoldInjected(m)
}

// changesFiles reports whether a call of the newest turn changes a file. It looks at the history, because a summary may
// stand for most of the turn.
func (d *draft) changesFiles() bool {
	facts := d.ledger.index.facts
	for i := len(d.history) - 1; i >= max(0, d.compactedAt) && !beginsTurn(&d.history[i]); i-- {
		for _, s := range facts[i].subjectsOf(&d.history[i], d.minifier.files) {
			if s.files.Change() {
				return true
			}
		}
	}
	return false
}
