package winnow

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Pass 6: what was not sent yet is sent shorter.

// maxBatchShare is how much of the room the newest batch of results may take. Several results that are each within
// their limit must leave something for the conversation that they belong to. In the recorded sessions, 0.5 cuts files
// that are then read again: in a window of 64 000 tokens it costs .0016 more (BENCHMARKS.md says of what).
const maxBatchShare = 0.7

// fresh is pass 6: results that no request had so far are sent shorter.
type fresh struct {
	shortening
	wasSent func(i int) bool // see sentBefore
}

func newFresh(d *draft) *fresh { return &fresh{shortening{d}, sentBefore(d)} }

// shortenNew shortens results that were not sent yet and, after a refusal, those that were: what is in no cache costs
// nothing to cut.
func (f *fresh) shortenNew() {
	t := newTruncation(*f.opts.Truncate, f.windowEstimate())
	f.minifyUnsent()
	f.showUnchanged()
	wasRefused := f.ledger.tries.Refusals > 0
	// The newest results that were not sent yet stand together at the end: those of one step.
	batch := len(f.items)
	for i := len(f.items) - 1; i >= 0 && returnsContent(f.items[i].sent) && !f.wasSent(i); i-- {
		batch = i
	}
	f.capResults(batch, t.limit, count.Share(f.room(), maxBatchShare))
	for i := range f.items {
		if wasRefused || !f.wasSent(i) && !f.isRecalled(i) {
			f.cut(i, t, oversizedReason)
		}
	}
	f.showRepeats(false)
	f.leaveOutRepeats()
}

// sentBefore returns a function that says whether the last request held message i as it stands now.
func sentBefore(d *draft) func(i int) bool {
	same := d.firstChanged()
	rest := make(map[key]bool, len(d.ledger.Sent)-same)
	for _, k := range d.ledger.Sent[same:] {
		rest[k] = true
	}
	return func(i int) bool { return i < same || rest[d.items[i].key()] }
}

// capResults cuts the largest results from message `from` on, none of which may have more than limit tokens, so
// that together they take at most budget tokens. Each keeps its head and its tail: the model asked for all of
// them, and nobody knows which end it wants.
func (f *fresh) capResults(from, limit, budget int) {
	var sizes []int
	for i := from; i < len(f.items); i++ {
		if m := f.items[i].sent; returnsContent(m) && !m.Pinned && !f.isRecalled(i) {
			sizes = append(sizes, min(f.items[i].tokens(), limit))
		}
	}
	if count.Sum(sizes) <= budget {
		return
	}
	t := &truncation{TruncateOptions: *f.opts.Truncate, limit: count.Fair(sizes, budget), bothEnds: true}
	for i := from; i < len(f.items); i++ {
		if !f.isRecalled(i) {
			f.cut(i, t, "the results of one step are larger together than they may be")
		}
	}
}

// minifyUnsent is the first step of pass 6. It only touches results that were never sent, so that the prompt cache
// stays valid.
func (f *fresh) minifyUnsent() {
	for i, x := range f.items {
		if x.own.Role != RoleTool || x.edit != nil || f.wasSent(i) {
			continue
		}
		if p := f.minified(i); p != nil {
			f.put(i, p)
		}
	}
}

// A new result may have lines that the request already shows: a file is read again, or after the model wrote it, or a
// command is run again. The new result is then sent without these lines, and says which earlier result shows them, or
// which call in its arguments. As soon as that message is no longer sent as it was, the new result is sent whole again.
// That costs nothing more: everything behind the earlier message has to be written to the prompt cache again anyway.

// repeatsReason is the [Edit.Reason] of results without such lines.
const repeatsReason = "redundant in a new result: lines that an earlier result or call shows"

// mayRepeat reports whether lines of m may be left out. Less text than minify.LeastSaved cannot save enough.
func mayRepeat(m *Message) bool {
	return m.Role == RoleTool && len(m.Parts) == 1 && holdsOnlyText(m) && len(m.Parts[0].Text) >= minify.LeastSaved
}

// mayShow reports whether a later result may leave out lines that m shows.
func mayShow(m *Message) bool {
	return mayRepeat(m) || m.Role == RoleAssistant && argumentBytes(m) >= minify.LeastSaved
}

// mostCompared is how many of the newest messages with lines are compared with each other. The bound keeps the first
// request of a long history from reading all of it twice, and a manager from remembering the lines of all messages. In
// the recorded sessions, comparing 32 costs up to 0.1 % more, and comparing 64 saves less than 0.01 %.
const mostCompared = 48

// firstCompared returns the position in a history of the first message that is compared.
func firstCompared(history []Message) int {
	i := len(history)
	for n := 0; i > 0 && n < mostCompared; i-- {
		if mayShow(&history[i-1]) {
			n++
		}
	}
	return i
}

// source is what shows lines: a result, or a call in its arguments.
type source struct {
	message int // in a request
	part    int // of the message: its text or its call
}

// shownTexts yields the texts of part k of m whose lines later results may leave out: the text itself, or the long
// text in the arguments of the call, if there is one alone.
func shownTexts(m *Message, k int) iter.Seq[string] {
	p := &m.Parts[k]
	return func(yield func(string) bool) {
		if p.Kind == KindText && m.Role == RoleTool {
			yield(p.Text)
		}
		if p.Kind != KindToolCall || len(p.Arguments) < minify.LeastSaved {
			return
		}
		var long []byte
		for from, to := range jsontext.Strings(p.Arguments) {
			if to-from < minify.LeastSaved {
				continue
			}
			if long != nil {
				return // old and new text of an edit: a note would not say which of them the file has
			}
			long = p.Arguments[from:to]
		}
		if text, ok := jsontext.Decode(long); ok {
			yield(text)
		}
	}
}

// showsLines reports whether later results may leave out what message i shows: it is a result that is sent
// whole, or that only lacks what was redundant in itself, or an answer whose calls are sent whole.
func (f *fresh) showsLines(i int) bool {
	m, own := f.items[i].own, &f.history[f.items[i].index]
	if !mayShow(m) || f.isRecalled(i) {
		return false
	}
	if !mayShow(own) || argumentBytes(own) != argumentBytes(m) {
		return false // the repair changed it
	}
	if m.Role == RoleAssistant {
		return argumentBytes(f.items[i].sent) == argumentBytes(m)
	}
	p := f.items[i].edit
	return p == nil || p.op == OpMinify && !p.isRepeat()
}

// leaveOutRepeats leaves lines that earlier messages show out of the results that were never sent.
func (f *fresh) leaveOutRepeats() {
	if f.minifier.off {
		return
	}
	first := firstCompared(f.history)
	isCompared := func(i int) bool { return f.items[i].index >= first && f.showsLines(i) }
	isNew := func(i int) bool { return f.items[i].sent.Role == RoleTool && isCompared(i) && !f.wasSent(i) }
	newest := len(f.items) - 1
	for newest >= 0 && !isNew(newest) {
		newest--
	}
	if newest < 0 {
		return
	}
	shown := map[uint32]source{} // the newest one that has each mark
	for i := range newest + 1 {
		if !isCompared(i) {
			continue
		}
		m := f.items[i].own
		// After a rewind a result may come again, together with a later one that leaves out the lines it shows.
		isFree := isNew(i) && !f.repeated[f.items[i].key()] && !staysAsItCame(m)
		for k := range m.Parts {
			for text := range shownTexts(m, k) {
				marks := minify.Marks(text)
				if isFree && f.leaveOutShown(i, mostShared(marks, shown)) {
					continue
				}
				for _, mark := range marks {
					shown[mark] = source{i, k}
				}
			}
		}
	}
}

// leaveOutShown leaves the lines that s shows out of new result i. It returns false if s is no source, if that saves
// too little, or if the options say that result i stays as it is.
func (f *fresh) leaveOutShown(i int, s source) bool {
	tool := (&answered{messages: f.own()}).tool(i)
	if s == noSource || len(f.items[i].sent.Parts) > 1 || !f.minifier.mayShorten(f.items[i].sent, tool) {
		return false
	}
	name := ""
	note := func(r minify.Run) string {
		if name == "" {
			name = f.nameOfSource(s)
		}
		return repeatsNote(r, name)
	}
	text, ok := minify.Without(f.numberedText(i), f.textOfSource(s), note)
	if !ok {
		return false
	}
	if p := f.items[i].edit; p != nil {
		text, _ = minify.Text(text, p.forms&minify.LineNumbers)
	}
	parts := []Part{{Text: text}}
	tokens := f.tokensWith(i, parts)
	if tokens >= f.items[i].tokens() {
		return false
	}
	p := f.editOf(i, parts, tokens, OpMinify, repeatsReason)
	p.repeats = f.items[s.message].key()
	f.put(i, p)
	f.repeated[p.repeats] = true
	return true
}

// numberedText returns the text of result i with all numbers of its lines, of which minifying leaves most out.
func (f *fresh) numberedText(i int) string {
	if p := f.items[i].edit; p != nil && p.forms == minify.LineNumbers {
		return f.items[i].own.Parts[0].Text
	}
	return f.items[i].sent.Parts[0].Text
}

// textOfSource returns the text of s, of a result with all numbers of its lines.
func (f *fresh) textOfSource(s source) string {
	if f.items[s.message].sent.Role == RoleTool {
		return f.numberedText(s.message)
	}
	for text := range shownTexts(f.items[s.message].own, s.part) {
		return text
	}
	return ""
}

// repeatsNote returns the line in the place of a run of lines that the earlier source called name shows.
func repeatsNote(r minify.Run, name string) string {
	differs := ""
	if r.Earlier > 0 {
		differs = fmt.Sprintf(" in its lines %d-%d", r.Earlier, r.Earlier+r.Lines-1)
	}
	return fmt.Sprintf("[%d lines left out: the earlier %s has the same%s]", r.Lines, name, differs)
}

// noSource stands for no source.
var noSource = source{-1, -1}

// mostShared returns the source in shown that has most of the marks, or noSource if none has any. Of several that have
// equally many it returns the newest.
func mostShared(marks []uint32, shown map[uint32]source) source {
	shared := map[source]int{}
	last, times := noSource, 0 // marks side by side are mostly of one text, so the map is written once for all of them
	for _, mark := range marks {
		s, isShown := shown[mark]
		if !isShown {
			continue
		}
		if s != last {
			shared[last] += times
			last, times = s, 0
		}
		times++
	}
	shared[last] += times
	most := noSource
	for s, n := range shared {
		isNewer := s.message > most.message || s.message == most.message && s.part > most.part
		if n > shared[most] || n == shared[most] && isNewer {
			most = s
		}
	}
	return most
}

// mostNamed is how many bytes of a command are used to name a result: the note in the place of at least 200 bytes stays
// a short line. A path is named whole, because half a path is another path. If a long path in the command leaves less
// than half of mostNamed, mostNamedPath bytes are used.
const (
	mostNamed     = 60
	mostNamedPath = 320
)

// nameOfSource names s so that a model can tell it from others: by its tool, and by the file or the command of its
// call.
func (f *fresh) nameOfSource(s source) string {
	calls := answered{messages: f.own()}
	kind, tool, arguments := "result of ", calls.tool(s.message), calls.of(s.message).arguments()
	if m := f.items[s.message].own; m.Role == RoleAssistant {
		kind, tool, arguments = "call of ", m.Parts[s.part].Name, m.Parts[s.part].Arguments
	}
	a := f.minifier.files.Arguments(arguments)
	name := a.File
	if name == "" {
		command := runes.OneLine(secret.Mask(a.Command))
		if name = runes.Clip(command, mostNamed); len(name) < min(len(command), mostNamed/2) {
			name = runes.Clip(command, mostNamedPath)
		}
	}
	return kind + markup.Escape(markup.Line(strings.TrimSpace(tool+" "+name)))
}

// saysUnchanged reports whether m is a result that may only say that a file is as it was shown before.
func saysUnchanged(m *Message) bool {
	if m.Role != RoleTool || m.Pinned || m.IsError {
		return false
	}
	return holdsOnlyText(m) && toolcall.SaysUnchanged(resultText(m))
}

const shownAgain = "\n[What this points to is no longer shown, so here it is:]\n"

// showUnchanged puts the text of a file behind a new result that only says that the file is unchanged, if the request
// has that text no more. A tool that remembers what it showed would say the same again and again.
func (f *fresh) showUnchanged() {
	for i, x := range f.items {
		m := x.own
		isNew := x.index >= 0 && x.edit == nil && !f.wasSent(i)
		if !isNew || !saysUnchanged(m) {
			continue
		}
		text, isShown := f.pointedAt(x.index)
		if text == "" || isShown {
			continue
		}
		text = strings.ToValidUTF8(text, "\uFFFD") // it outlives the message that it comes from
		parts := []Part{{Text: joinedText(m) + shownAgain + text}}
		f.edit(i, parts, f.tokensWith(i, parts), OpShow, "what it points to is no longer in the request")
	}
}

// pointedAt returns the newest text of the file that result i of the history is about, "" if there is none, and whether
// the request shows it.
func (f *fresh) pointedAt(i int) (text string, isShown bool) {
	facts, files := f.index.facts, toolcall.WorkFiles(nil)
	var work toolcall.Work
	nth := 0
	for k := i; k >= 0; k-- {
		m := &f.history[k]
		if m.Role == RoleTool {
			nth++
			continue
		}
		for n, s := range facts[k].subjectsOf(m, f.minifier.files) {
			result := k + 1 + n
			switch {
			case result > i || f.history[result].Role != RoleTool:
			case files == nil && n == nth-1:
				files = s.files
				work.PointedAt(files, true)
			case files != nil && !f.history[result].IsError && facts[result].tokens >= fewestOfFile:
				if work.PointedAt(s.files, false) {
					return joinedText(&f.history[result]), f.showsWhole(result)
				}
			case files != nil && files.Overlap(s.files) && f.isShownAgain(result):
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
func (f *fresh) shownNow(i int) *item {
	p := slices.IndexFunc(f.items, func(x *item) bool { return x.index == i })
	if p < 0 {
		return nil
	}
	return f.items[p]
}

// showsWhole reports whether the request has message i of the history with all that it says.
func (f *fresh) showsWhole(i int) bool {
	x := f.shownNow(i)
	return x != nil && (x.edit == nil || x.edit.op == OpMinify || x.edit.op == OpTruncate)
}

// isShownAgain reports whether the request has message i of the history with what it points to.
func (f *fresh) isShownAgain(i int) bool {
	x := f.shownNow(i)
	return x != nil && x.edit != nil && x.edit.op == OpShow
}
