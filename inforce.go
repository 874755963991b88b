package winnow

import (
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
	held []hold          // by message; results are held with their calls
	said map[string]bool // the names under which something holds, as in [Message.InForce] or subject.state
	work workfiles.Work
}

// findInForce finds what is in force among the messages of v before end. Later ones count only where they say that a
// file is unchanged. isShown reports whether message i of v is in the request, and not only in a record.
func (d *draft) findInForce(v *view, end int, isShown func(i int) bool) *inForce {
	f := &inForce{
		held: make([]hold, len(v.messages)), said: map[string]bool{},
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
				f.takeCall(v, i, callResult(i+1+n, next), s, i >= turn && i < end, i < end, isShown)
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

// takeCall notes what a call of message i holds. result is the position of its result, -1 if it has none.
func (f *inForce) takeCall(v *view, i, result int, s subject, isOfTurn, counts bool, isShown func(i int) bool) {
	if result >= 0 && v.unedited[result].IsError {
		return
	}
	if s.state != "" && counts && f.isNews([]string{s.state}) {
		if f.hold(i, holdLoaded); s.isPlan() {
			f.hold(i, holdPlan)
		}
	}
	if len(s.files) == 0 {
		return
	}
	isShort := result >= 0 && v.facts[result].tokens < fewestOfFile
	if isOfTurn && f.work.Holds(s.files, isShort) {
		f.hold(i, holdFile)
	}
	if (!isShort || isShown(i)) && f.work.PointedAt(s.files, isShort) {
		f.hold(i, holdShown)
	}
}

func (f *inForce) hold(i int, h hold) { f.held[i] = max(f.held[i], h) }

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

func (s *subject) isPlan() bool { return toolcall.IsPlan(s.state) }

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
