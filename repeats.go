package winnow

import (
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/repeats"
	"github.com/winnowgo/winnow/internal/runes"
)

// A new result may have lines that an earlier result already shows: a file is read again, or a command is run again.
// The new result is then sent without these lines, and says which result shows them. As soon as the earlier result is
// no longer sent as it was, the new one is sent whole again. That costs nothing more: everything behind the earlier
// result has to be written to the prompt cache again anyway.

// repeatsReason is the [Edit.Reason] of results without such lines.
const repeatsReason = "redundant in a new result: lines that an earlier result shows"

// mayRepeat reports whether m may be compared with other results. Less text than repeats.LeastSaved cannot save enough.
func mayRepeat(m *Message) bool {
	return m.Role == RoleTool && len(m.Parts) == 1 && holdsOnlyText(m) && len(m.Parts[0].Text) >= repeats.LeastSaved
}

// mostCompared is how many of the newest results are compared with each other. The bound keeps the first request of a
// long history from reading all of it twice, and a manager from remembering the lines of all results. In the recorded
// sessions, comparing 32 saves as much as comparing all, and comparing 16 saves 0.05 % less.
const mostCompared = 32

// firstCompared returns the position in a history of the first message that is compared.
func firstCompared(history []Message) int {
	i := len(history)
	for n := 0; i > 0 && n < mostCompared; i-- {
		if mayRepeat(&history[i-1]) {
			n++
		}
	}
	return i
}

// linesOfResults has the marks of all results that a new one is compared with, and perhaps of older ones: these are
// forgotten only when the marks are collected anew.
type linesOfResults struct {
	marks   map[uint32]struct{} // see repeats.Marks; nil: not collected yet
	results int                 // how many results the marks are from
}

// linesOfNewest returns the lines of the newest results of a history.
func linesOfNewest(history []Message) linesOfResults {
	l := linesOfResults{marks: map[uint32]struct{}{}}
	for i := firstCompared(history); i < len(history); i++ {
		if mayRepeat(&history[i]) {
			l.add(repeats.Marks(history[i].Parts[0].Text))
		}
	}
	return l
}

func (l *linesOfResults) add(marks []uint32) {
	for _, mark := range marks {
		l.marks[mark] = struct{}{}
	}
	l.results++
}

// addUnlessShown adds the marks of text and returns true, unless l already has one of them.
func (l *linesOfResults) addUnlessShown(text string) bool {
	marks := repeats.Marks(text)
	for _, mark := range marks {
		if _, isShown := l.marks[mark]; isShown {
			return false
		}
	}
	l.add(marks)
	return true
}

// showsLines reports whether later results may leave out what message i of the view shows: it is a result that is sent
// whole, or that only lacks what was redundant in itself.
func (d *draft) showsLines(i int) bool {
	if !mayRepeat(&d.view.unedited[i]) || d.isRecalled(i) {
		return false
	}
	p := d.view.edited[i]
	return p == nil || p.op == OpMinify && !p.isRepeat()
}

// leaveOutRepeats leaves lines that earlier results show out of the results that were never sent.
func (d *draft) leaveOutRepeats(wasSent func(int) bool) {
	if d.minifier.keepsShown {
		return
	}
	v := d.view
	first := firstCompared(d.history)
	isCompared := func(i int) bool { return v.index[i] >= first && d.showsLines(i) }
	isNew := func(i int) bool { return isCompared(i) && !wasSent(i) }
	newest := len(v.messages) - 1
	for newest >= 0 && !isNew(newest) {
		newest--
	}
	if newest < 0 {
		return
	}
	shown := map[uint32]int{} // the newest result that has each mark
	for i := range v.messages[:newest+1] {
		if !isCompared(i) {
			continue
		}
		marks := repeats.Marks(v.unedited[i].Parts[0].Text)
		// After a rewind a result may come again, together with a later one that leaves out the lines it shows.
		isFree := isNew(i) && !d.repeated[v.sentKey(i)]
		if isFree && !staysAsItCame(&v.unedited[i]) && d.leaveOutShown(i, mostShared(marks, shown)) {
			continue
		}
		for _, mark := range marks {
			shown[mark] = i
		}
	}
}

// leaveOutShown leaves the lines that the earlier result source shows out of new result i. It returns false if source
// is negative, if that saves too little, or if the options say that result i stays as it is.
func (d *draft) leaveOutShown(i, source int) bool {
	v := d.view
	tool, _ := callOf(v.unedited, i)
	if source < 0 || len(v.messages[i].Parts) > 1 || !d.minifier.match.Matches(tool) {
		return false
	}
	name := ""
	note := func(r repeats.Run) string {
		if name == "" {
			name = d.nameOfResult(source)
		}
		return repeatsNote(r, name)
	}
	text, ok := d.finder.Without(d.numberedText(i), d.numberedText(source), note)
	if !ok {
		return false
	}
	if p := v.edited[i]; p != nil {
		text, _ = minify.Text(text, p.forms&minify.LineNumbers)
	}
	m := v.messages[i]
	m.Parts, m.Source = []Part{{Text: text}}, nil
	p := newProjection(m.Parts)
	if p.tokens = estimateWith(d.opts.Estimator, m); p.tokens >= v.tokens[i] {
		return false
	}
	shows := v.sentKey(source)
	p.op, p.reason, p.repeats, p.key = OpMinify, repeatsReason, &shows, d.ledger.index.hasher.key(&m)
	d.put(i, p)
	d.noteRepeat(p)
	return true
}

// numberedText returns the text of result i with all numbers of its lines, of which minifying leaves most out.
func (d *draft) numberedText(i int) string {
	if p := d.view.edited[i]; p != nil && p.forms == minify.LineNumbers {
		return d.view.unedited[i].Parts[0].Text
	}
	return d.view.messages[i].Parts[0].Text
}

// repeatsNote returns the line in the place of a run of lines that the earlier result called name shows.
func repeatsNote(r repeats.Run, name string) string {
	differs := ""
	switch r.Numbers {
	case repeats.Renumbered:
		differs = fmt.Sprintf("; here they are lines %d-%d", r.First, r.First+r.Lines-1)
	case repeats.Unnumbered:
		differs = " behind line numbers"
	}
	return fmt.Sprintf("[%d lines left out: the earlier result of %s has the same%s]", r.Lines, name, differs)
}

// mostShared returns the result in shown that has most of the marks, or -1 if no result has any. Of several that have
// equally many it returns the newest.
func mostShared(marks []uint32, shown map[uint32]int) int {
	shared := map[int]int{}
	last, times := -1, 0 // marks side by side are mostly from one result, so the map is written once for all of them
	for _, mark := range marks {
		k, isShown := shown[mark]
		if !isShown {
			continue
		}
		if k != last {
			shared[last] += times
			last, times = k, 0
		}
		times++
	}
	shared[last] += times
	source := -1
	for k, n := range shared {
		if n > shared[source] || n == shared[source] && k > source {
			source = k
		}
	}
	return source
}

// mostNamed is how many bytes of a command are used to name a result: the note in the place of at least 200 bytes stays
// a short line. A path is named whole, because half a path is another path. Where a path of the command leaves no room
// for it, mostNamedPath bytes are used.
const (
	mostNamed     = 60
	mostNamedPath = 320
)

// nameOfResult names result i so that a model can tell it from others: by its tool, and by the file or the command of
// its call.
func (d *draft) nameOfResult(i int) string {
	tool, arguments := callOf(d.view.unedited, i)
	a := d.minifier.files.Arguments(arguments)
	name := a.File
	if name == "" {
		command := runes.OneLine(a.Command)
		if name = runes.Clip(command, mostNamed); len(name) < min(len(command), mostNamed/2) {
			name = runes.Clip(command, mostNamedPath)
		}
	}
	return markup.Escape(markup.Line(strings.TrimSpace(tool + " " + name)))
}

// noteRepeat records which earlier result shows the lines that p leaves out, for settleRepeats.
func (d *draft) noteRepeat(p *projection) {
	if d.repeated == nil {
		d.repeated = map[key]bool{}
	}
	d.repeated[*p.repeats] = true
}

// settleRepeats sends a result whole again if no earlier result still shows the lines that it leaves out.
func (d *draft) settleRepeats() {
	if len(d.repeated) == 0 {
		return
	}
	isShown := map[key]bool{}
	for i := range d.view.facts {
		if p := d.view.edited[i]; p.isRepeat() && !isShown[*p.repeats] {
			d.showWhole(i)
		}
		if k := d.view.sentKey(i); d.repeated[k] {
			isShown[k] = true
		}
	}
}

// showRepeats sends all results whole again that leave out lines of earlier ones. It is for a request that does not
// fit: otherwise, dropping a result could make a later one longer, and what the drops save could not be added up.
func (d *draft) showRepeats() {
	d.repeated = nil
	for i, p := range d.view.edited {
		if p.isRepeat() {
			d.showWhole(i)
		}
	}
}

// showWhole sends result i as it would be if no lines of an earlier result were left out of it.
func (d *draft) showWhole(i int) {
	v := d.view
	f := v.facts[i]
	delete(d.newEdits, f.key)
	d.unchangedPrefix = min(d.unchangedPrefix, i)
	note := func() string { return d.recallNote(i) }
	if p := d.minifiedOnce(v.unedited, i, f, note); p != nil {
		d.put(i, p)
		return
	}
	v.unproject(i)
	d.wholeAgain = append(d.wholeAgain, f.key)
}
