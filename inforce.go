package winnow

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/lazyregexp"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/toolcall"
	"github.com/winnowgo/winnow/internal/workfiles"
)

// What is in force: what code knows to be still valid for the work at hand. It stays whole as long as the request fits,
// is the last to go when it does not, and is carried over a compaction. See also carryInForce.

// hold says why a message is in force. The lowest goes first.
type hold uint8

const (
	holdNothing hold = iota
	holdFile         // it shows a file that the model works on
	holdShown        // it shows a file of which a newer result only says that it is unchanged
	holdLoaded       // instructions that a tool returned, the newest of their name
	holdPlan         // the newest call of a tool that replaces its own state
	holdTold         // a text of the host ([Message.InForce]), which only a summary replaces
)

// A result of a read with fewer tokens than this, behind a longer one of the same file, most likely says that the file
// is unchanged. The notices of the common agents have 5 to 40 tokens.
const fewestOfFile = 80

// inForce is what is in force in a view that has no records.
type inForce struct {
	held  []hold          // by message; results are held with their calls
	calls map[callAt]hold // those of held that are calls
	said  map[string]bool // the names under which something holds, as in [Message.InForce] or subject.state
	work  workfiles.Work
}

// callAt is a call by its message and its place among the calls there.
type callAt struct{ message, nth int }

// findInForce finds what is in force among the messages of v before end. Later ones count only where they say that a
// file is unchanged. isShown reports whether message i of v is in the request, and not only in a record.
func (d *draft) findInForce(v *view, end int, isShown func(i int) bool) *inForce {
	f := &inForce{
		held: make([]hold, len(v.messages)), calls: map[callAt]hold{}, said: map[string]bool{},
		work: workfiles.Work{Uncached: d.opts.Cache.None, OnlyLooks: !d.changesFiles()},
	}
	turn := newestRequest(v.unedited)
	next := len(v.messages) // where the step of message i ends
	for i := len(v.messages) - 1; i >= 0; i-- {
		switch m := &v.unedited[i]; m.Role {
		case RoleTool:
			continue
		case RoleUser:
			if i < end && f.isNews(m.InForce) {
				f.held[i] = holdTold
			}
		case RoleAssistant:
			f.work.Back()
			for n, s := range v.facts[i].subjectsOf(m, d.minifier.files) {
				h := f.holdOf(v, i, callResult(i+1+n, next), s, i >= turn && i < end, i < end, isShown)
				if h != holdNothing {
					f.calls[callAt{i, n}], f.held[i] = h, max(f.held[i], h)
				}
			}
		}
		for k := i + 1; k < next; k++ {
			f.held[k] = f.held[i]
		}
		next = i
	}
	return f
}

// callResult returns i if it is below end, else -1: the call has no result yet.
func callResult(i, end int) int {
	if i < end {
		return i
	}
	return -1
}

// holdOf returns why a call of message i is in force. result is the position of its result, -1 if it has none.
func (f *inForce) holdOf(v *view, i, result int, s subject, isOfTurn, counts bool, isShown func(int) bool) (h hold) {
	if result >= 0 && v.unedited[result].IsError {
		return holdNothing
	}
	isShort := result >= 0 && v.facts[result].tokens < fewestOfFile
	if isOfTurn && f.work.Holds(s.files, isShort) {
		h = holdFile
	}
	if (!isShort || isShown(i)) && f.work.PointedAt(s.files, isShort) {
		h = holdShown
	}
	switch {
	case s.state == "" || !counts || !f.isNews([]string{s.state}):
	case toolcall.IsPlan(s.state):
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
	return keptBefore(v.messages, from, f.held)
}

// inForceNow returns what is in force in the whole view: it is found once for each draft.
func (d *draft) inForceNow() *inForce {
	if d.force == nil {
		v := d.whole()
		d.force = d.findInForce(v, len(v.messages), func(i int) bool { return !d.isRecord(d.foldedAt(i)) })
	}
	return d.force
}

// heldInView returns, by message of the view, what is in force and may not go yet.
func (d *draft) heldInView() []hold {
	f := d.inForceNow()
	held := make([]hold, len(d.view.messages))
	for i := range held {
		if h := f.held[d.wholeAt(i)]; h > d.drops && !d.isRecord(i) {
			held[i] = h
		}
	}
	return held
}

// inForceShare is how much of the budget the texts in force may take behind a summary. In a replay of the recorded
// sessions in a window of 64 000 tokens a quarter makes 10 % more summaries necessary, for no more lines.
const inForceShare = 0.1

// carryInForce writes the section of what is in force in the messages before message cut of the whole view, and in
// previous, the summary of what came before. stays reports whether a message stays beside the summary. The section has
// at most room tokens.
func (d *draft) carryInForce(previous string, cut int, stays func(i int) bool, room int) string {
	f, v, tools := d.inForceNow(), d.whole(), d.minifier.files
	var list []sections.InForce
	for _, t := range sections.ReadInForce(previous) {
		if f.stillHolds(&t) {
			list = append(list, t)
		}
	}
	for i := range cut {
		switch m := &v.unedited[i]; {
		case f.held[i] == holdNothing || m.Role == RoleTool || stays(i):
		case m.Role == RoleUser:
			list = append(list, sections.InForce{Kind: sections.Told, Names: m.InForce, Text: messageParts(m)})
		default:
			nth := 0
			for p := range callsOf(m) {
				if h := f.calls[callAt{i, nth}]; h != holdNothing {
					result := ""
					if k := i + 1 + nth; k < len(v.unedited) && v.unedited[k].Role == RoleTool {
						result = messageParts(&v.unedited[k])
					}
					list = append(list, textInForce(tools, p, h, result))
				}
				nth++
			}
		}
	}
	return sections.InForceSection(list, func(s string) int { return textTokens(d.opts.Estimator, s) }, room)
}

// textInForce returns what a summary quotes of a call and its result.
func textInForce(tools *toolcall.Files, p *Part, h hold, result string) sections.InForce {
	state := tools.State(p.Name, p.Arguments)
	switch h {
	case holdPlan:
		text := toolcall.Unfinished(p.Arguments)
		if text == "" { // the call only asked for the plan
			text = result
		}
		return sections.InForce{Kind: sections.Plan, Names: []string{strings.TrimPrefix(state, toolcall.Plan)}, Text: text}
	case holdLoaded:
		name := strings.TrimPrefix(state, toolcall.Instructions)
		return sections.InForce{Kind: sections.Instructions, Names: []string{name}, Text: result}
	}
	use := tools.OfShell(p.Name, p.Arguments)
	if len(use.Modified) > 0 {
		return sections.InForce{Kind: sections.Change, Names: use.Modified, Text: mem.String(p.Arguments)}
	}
	return sections.InForce{Kind: sections.File, Names: use.Read, Text: result}
}

// stillHolds reports whether t, which an earlier summary quoted, is still in force: what came later does not replace it
// or, if it is a file, points to it.
func (f *inForce) stillHolds(t *sections.InForce) bool {
	for _, name := range t.Names {
		switch t.Kind {
		case sections.File, sections.Change:
			if f.work.WasPointedAt(name) {
				return true
			}
			continue
		case sections.Plan:
			name = toolcall.Plan + name
		case sections.Instructions:
			name = toolcall.Instructions + name
		}
		if !f.said[name] {
			return true
		}
	}
	return false
}

// unchanged is what tools say instead of a file that was shown before: in words, in JSON or as a tag. Sources: Claude
// Code, Hermes, nanobot and Codewhale.
var unchanged = lazyregexp.New(`(?i)unchanged|not (been )?(changed|modified)|no changes?\b|same content|already (shown|read)|identical`)

// saysUnchanged reports whether m is a result that may say so.
func saysUnchanged(m *Message) bool {
	const most = 4 * fewestOfFile // bytes
	return m.Role == RoleTool && !m.IsError && !m.Pinned && holdsOnlyText(m) && textBytes(m) < most &&
		unchanged.Get().MatchString(joinedText(m))
}

const shownAgain = "\n[What this points to is no longer shown, so here it is:]\n"

// showUnchanged puts the text of a file behind a new result that only says that the file is unchanged, if the request
// has that text no more. A tool that remembers what it showed would say the same again and again.
func (d *draft) showUnchanged(wasSent func(int) bool) {
	v := d.view
	for i := range v.messages {
		m := &v.messages[i]
		if v.index[i] < 0 || v.edited[i] != nil || !saysUnchanged(m) || wasSent(i) {
			continue
		}
		text, isShown := d.pointedAt(v.index[i])
		if text == "" || isShown {
			continue
		}
		out := *m
		out.Parts, out.Source = []Part{{Text: joinedText(m) + shownAgain + text}}, nil
		d.project(i, out, estimateWith(d.opts.Estimator, out), OpShow, "what it points to is not in the request any more")
	}
}

// pointedAt returns the newest text of the file that result i of the history is about, "" if there is none, and whether
// the request shows it.
func (d *draft) pointedAt(i int) (text string, isShown bool) {
	facts, files := d.ledger.index.facts, []workfiles.Use(nil)
	var work workfiles.Work
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
			case result > i || result >= len(d.history) || d.history[result].Role != RoleTool:
			case files == nil && n == nth-1:
				files = s.files
				work.PointedAt(files, true)
			case files != nil && !d.history[result].IsError && facts[result].tokens >= fewestOfFile:
				if work.PointedAt(s.files, false) {
					return joinedText(&d.history[result]), d.showsWhole(result)
				}
			case files != nil && workfiles.Share(files, s.files) && d.isShownAgain(result):
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

// mayGo reports whether m is a text that the host inserted and lets go: it is transient, or later texts replace all
// that it said. held is what is known of the message.
func mayGo(m *Message, held hold) bool {
	isOver := m.Transient || isLaterResult(m) || len(m.InForce) > 0 && held == holdNothing
	return isOver && mayFoldInjected(m)
}

// changesFiles reports whether a call of the newest turn changes a file. It looks at the history, because a summary may
// stand for most of the turn.
func (d *draft) changesFiles() bool {
	facts := d.ledger.index.facts
	for i := len(d.history) - 1; i >= max(0, d.compactedAt) && !beginsTurn(&d.history[i]); i-- {
		for _, s := range facts[i].subjectsOf(&d.history[i], d.minifier.files) {
			if workfiles.Modifies(s.files) {
				return true
			}
		}
	}
	return false
}

// subject is what a call is about.
type subject struct {
	files []workfiles.Use
	state string // what it sets anew or loads, see toolcall.Files.State; "": nothing
}

// noSubjects is the list of a message without calls. Nobody writes to it.
var noSubjects []subject

// subjectsOf returns what the calls of m, the message of f, are about, in their order.
func (f *fact) subjectsOf(m *Message, tools *toolcall.Files) []subject {
	if f.subjects == nil {
		f.subjects = &noSubjects
		if hasCalls(m) {
			list := make([]subject, 0, 1)
			for p := range callsOf(m) {
				list = append(list,
					subject{workfiles.Of(tools, p.Name, p.Arguments), tools.State(p.Name, p.Arguments)})
			}
			f.subjects = &list
		}
	}
	return *f.subjects
}
