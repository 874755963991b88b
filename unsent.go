package winnow

import (
	"fmt"
	"iter"
	"strings"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
)

// minifyUnsent is the first half of pass 6. It only touches results that were never sent, so that the prompt cache
// stays valid.
func (d *draft) minifyUnsent(wasSent func(int) bool) {
	for i, x := range d.items {
		if x.own.Role != RoleTool || x.edit != nil || wasSent(i) {
			continue
		}
		if p := d.minified(i); p != nil {
			d.put(i, p)
		}
	}
}

// minified returns an edit of result i, as it is in the history, that has fewer tokens, or nil. The answer to a recall
// stays as it is.
func (d *draft) minified(i int) *edit {
	m, f := *d.items[i].own, d.items[i].fact
	forms := d.minifier.formsFor(d.own(), i, f.redundant)
	if forms == 0 || d.isRecalled(i) {
		return nil
	}
	parts, forms, ok := minifiedParts(m.Parts, forms, d.recallNote(i))
	if !ok {
		return nil
	}
	m.Parts, m.Source = parts, nil
	p := newEdit(parts)
	if p.tokens = estimateWith(d.opts.Estimator, m); p.tokens >= f.tokens {
		return nil
	}
	p.op, p.reason, p.forms = OpMinify, "redundant in a new result: "+forms.String(), forms
	if forms&minify.Data != 0 {
		p.forms = 0 // a snapshot has its text: a handle of the recall tool stands in it
	}
	p.key = d.index.hasher.key(&m)
	return p
}

// squeezedChars is how many characters of a result may remain when nothing else makes the request fit.
const squeezedChars = 400

// squeeze returns the truncation for results that are cut to limit tokens because nothing else makes the request fit.
func (d *draft) squeeze(limit int) *truncation {
	o := *d.opts.Truncate
	o.MinKeepChars = min(o.MinKeepChars, squeezedChars) // the host's own could keep the request from fitting
	return &truncation{TruncateOptions: o, cutsAgain: true, bothEnds: true, limit: limit}
}

// cut truncates message i with t.
func (d *draft) cut(i int, t *truncation, reason string) {
	if m := d.items[i].sent; !returnsContent(m) || m.Pinned || t.isWithin(m, d.items[i].tokens()) {
		return
	}
	m, tokens := d.toCut(i, t)
	t.note = d.recallNote(i)
	out, after, ok := t.cut(m, tokens)
	if ok && d.truncateHasEstimator {
		after = estimateWith(d.opts.Estimator, out)
	}
	if ok && (after < d.items[i].tokens() || !t.cutsAgain) {
		d.edit(i, out, after, OpTruncate, reason)
	}
}

// beforeCut returns message i as it is before any cut, and its tokens.
func (d *draft) beforeCut(i int) (*Message, int) {
	m, tokens := *d.items[i].own, d.items[i].fact.tokens
	if p := d.minified(i); p != nil {
		m.Parts, m.Source, tokens = p.sent(), nil, p.tokens
	}
	return &m, tokens
}

// toCut returns the message that t cuts in the place of message i, and its tokens. A result that was cut before is cut
// anew from the whole text, because the end of what is left says only that it was cut. A result that leaves out lines
// of an earlier one is cut from the whole text too: it is not made whole again when the earlier one is dropped.
func (d *draft) toCut(i int, t *truncation) (*Message, int) {
	if p := d.items[i].edit; p.isRepeat() || t.cutsAgain && p.isCut() {
		return d.beforeCut(i)
	}
	return d.items[i].sent, d.items[i].tokens()
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
func (d *draft) showsLines(i int) bool {
	m, own := d.items[i].own, &d.history[d.items[i].index]
	if !mayShow(m) || d.isRecalled(i) {
		return false
	}
	if !mayShow(own) || argumentBytes(own) != argumentBytes(m) {
		return false // the repair changed it
	}
	if m.Role == RoleAssistant {
		return argumentBytes(d.items[i].sent) == argumentBytes(m)
	}
	p := d.items[i].edit
	return p == nil || p.op == OpMinify && !p.isRepeat()
}

// leaveOutRepeats leaves lines that earlier messages show out of the results that were never sent.
func (d *draft) leaveOutRepeats(wasSent func(int) bool) {
	if d.minifier.off {
		return
	}
	first := firstCompared(d.history)
	isCompared := func(i int) bool { return d.items[i].index >= first && d.showsLines(i) }
	isNew := func(i int) bool { return d.items[i].sent.Role == RoleTool && isCompared(i) && !wasSent(i) }
	newest := len(d.items) - 1
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
		m := d.items[i].own
		// After a rewind a result may come again, together with a later one that leaves out the lines it shows.
		isFree := isNew(i) && !d.repeated[d.items[i].key()] && !staysAsItCame(m)
		for k := range m.Parts {
			for text := range shownTexts(m, k) {
				marks := minify.Marks(text)
				if isFree && d.leaveOutShown(i, mostShared(marks, shown)) {
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
func (d *draft) leaveOutShown(i int, s source) bool {
	tool, _ := callOf(d.own(), i)
	if s == noSource || len(d.items[i].sent.Parts) > 1 || !d.minifier.mayShorten(d.items[i].sent, tool) {
		return false
	}
	name := ""
	note := func(r minify.Run) string {
		if name == "" {
			name = d.nameOfSource(s)
		}
		return repeatsNote(r, name)
	}
	text, ok := minify.Without(d.numberedText(i), d.textOfSource(s), note)
	if !ok {
		return false
	}
	if p := d.items[i].edit; p != nil {
		text, _ = minify.Text(text, p.forms&minify.LineNumbers)
	}
	m := *d.items[i].sent
	m.Parts, m.Source = []Part{{Text: text}}, nil
	p := newEdit(m.Parts)
	if p.tokens = estimateWith(d.opts.Estimator, m); p.tokens >= d.items[i].tokens() {
		return false
	}
	shows := d.items[s.message].key()
	p.op, p.reason, p.repeats, p.key = OpMinify, repeatsReason, &shows, d.index.hasher.key(&m)
	d.put(i, p)
	d.repeated[shows] = true
	return true
}

// numberedText returns the text of result i with all numbers of its lines, of which minifying leaves most out.
func (d *draft) numberedText(i int) string {
	if p := d.items[i].edit; p != nil && p.forms == minify.LineNumbers {
		return d.items[i].own.Parts[0].Text
	}
	return d.items[i].sent.Parts[0].Text
}

// textOfSource returns the text of s, of a result with all numbers of its lines.
func (d *draft) textOfSource(s source) string {
	if d.items[s.message].sent.Role == RoleTool {
		return d.numberedText(s.message)
	}
	for text := range shownTexts(d.items[s.message].own, s.part) {
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
func (d *draft) nameOfSource(s source) string {
	kind := "result of "
	tool, arguments := callOf(d.own(), s.message)
	if m := d.items[s.message].own; m.Role == RoleAssistant {
		kind, tool, arguments = "call of ", m.Parts[s.part].Name, m.Parts[s.part].Arguments
	}
	a := d.minifier.files.Arguments(arguments)
	name := a.File
	if name == "" {
		command := runes.OneLine(secret.Mask(a.Command))
		if name = runes.Clip(command, mostNamed); len(name) < min(len(command), mostNamed/2) {
			name = runes.Clip(command, mostNamedPath)
		}
	}
	return kind + markup.Escape(markup.Line(strings.TrimSpace(tool+" "+name)))
}

// settleRepeats sends a result whole again if no earlier message still shows the lines that it leaves out.
func (d *draft) settleRepeats() {
	if len(d.repeated) == 0 {
		return
	}
	isShown := map[key]bool{}
	for i, x := range d.items {
		if p := x.edit; p.isRepeat() && !isShown[*p.repeats] {
			d.showWhole(i)
		}
		if k := x.key(); d.repeated[k] {
			isShown[k] = true
		}
	}
}

// showRepeats sends all results whole again that leave out lines of earlier messages. It is for a request that does not
// fit: otherwise, dropping a result could make a later one longer, and what the drops save could not be added up.
func (d *draft) showRepeats() {
	clear(d.repeated)
	for i, x := range d.items {
		if x.edit.isRepeat() {
			d.showWhole(i)
		}
	}
}

// showWhole sends result i as it would be if no lines of an earlier message were left out of it. It may be above the
// limit of one result, which may be lower by now than when the result was new.
func (d *draft) showWhole(i int) {
	k := d.items[i].fact.key
	delete(d.newEdits, k)
	d.unchangedPrefix = min(d.unchangedPrefix, i)
	if p := d.minified(i); p != nil {
		d.put(i, p)
	} else {
		d.show(i, nil)
		d.wholeAgain = append(d.wholeAgain, k)
	}
	d.cut(i, newTruncation(*d.opts.Truncate, d.windowEstimate()), oversizedReason)
}
