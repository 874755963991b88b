package winnow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// fileNotes says what was done to files, in the order of the newest change.
type fileNotes struct {
	order []string
	does  map[string]*fileNote
}

type fileNote struct {
	action string
	times  int
	newest int
}

func (f *fileNotes) add(path, action string) {
	if f.does == nil {
		f.does = make(map[string]*fileNote)
	}
	n := f.does[path]
	if n == nil {
		n = &fileNote{}
		f.does[path] = n
		f.order = append(f.order, path)
	}
	if n.action != "wrote" || action == "deleted" { // a file that was written and then edited is a new one
		n.action = action
	}
	n.times++
	n.newest = len(f.order) + n.times
}

// lines are the notes of the files, the newest last.
func (f *fileNotes) lines() []string {
	out := make([]string, len(f.order))
	for i, path := range f.order {
		n := f.does[path]
		out[i] = n.action + " " + path
		if n.times > 1 {
			out[i] += fmt.Sprintf(" (%d×)", n.times)
		}
	}
	return out
}

// The headings are those that a summarizer is asked for.
const (
	headGoal        = "## Goal"
	headConstraints = "## Constraints & Preferences"
	headProgress    = "## Progress"
	headDone        = "### Done"
	headInProgress  = "### In Progress"
	headBlocked     = "### Blocked"
	headDecisions   = "## Key Decisions"
	headNext        = "## Next Steps"
	headContext     = "## Critical Context"
)

// Shares that each kind of note may take of what an earlier summary leaves of a digest. What one leaves over goes
// to the identifiers, which get the rest.
const (
	shareRequests  = 0.12
	shareRules     = 0.08
	shareDecisions = 0.03
	shareFiles     = 0.06
	shareCommands  = 0.05
	shareFailures  = 0.04
	shareLast      = 0.04
	sharePlans     = 0.02
)

// pickMargin is for spaces that join punctuation, which the sum over identifiers does not see.
const pickMargin = 8

// kindLabels name the lists of identifiers.
var kindLabels = [identifier.Kinds]string{"Paths", "URLs", "Hashes and ids", "Numbers", "Error codes", "Symbols", "Names"}

// write writes a digest of at most limit tokens.
func (n *notes) write(limit int) string {
	w := digestWriter{limit: limit, covered: make(map[string]bool)}
	previous := n.previous
	if n.last != "" {
		previous = previous.withoutLast()
	}
	previous = previous.fit(int(float64(limit) * previousShare))
	if limit < 200 { // no room for sections
		return w.short(n, previous)
	}
	w.update(previous, n, limit-previous.tokens())
	picked := n.ids.pick(limit-w.used-pickMargin, w.covered, w.b.String())
	for kind, list := range picked {
		if len(list) > 0 {
			w.line("- " + kindLabels[kind] + ": " + strings.Join(list, " "))
		}
	}
	return w.cut()
}

// update writes an earlier summary with notes of at most room tokens: these stand at the end of the sections that
// it has, and behind them in sections of their own. The last section is the one that identifiers belong to.
func (w *digestWriter) update(previous outline, n *notes, room int) {
	share := func(s float64) int { return int(float64(room) * s) }
	said := map[string]bool{}
	has := map[string]bool{}
	for i := range previous {
		has[sectionOf(previous[i].heading)] = true
		for _, line := range previous[i].lines {
			said[line] = true
		}
	}
	notes := func(heading string) []string {
		return slices.DeleteFunc(n.section(heading, share), func(s string) bool { return said["- "+s] })
	}
	hasProgress := has[headProgress] || has[headDone] || has[headInProgress] || has[headBlocked]
	wrote := map[string]bool{"": true}
	write := func(of func(kind string) bool) { // the sections that previous has not
		for _, heading := range digestHeadings {
			if has[heading] || !of(heading) || heading == headProgress && hasProgress {
				continue
			}
			w.section(heading, notes(heading))
		}
	}
	for i := range previous {
		s, kind := &previous[i], sectionOf(previous[i].heading)
		if kind == headContext {
			continue
		}
		w.quote(s)
		if !wrote[kind] {
			wrote[kind] = true
			w.items(notes(kind))
		}
		w.gap(s)
		if isOfProgress(kind) && (i+1 == len(previous) || !isOfProgress(sectionOf(previous[i+1].heading))) {
			write(isOfProgress)
			has[headDone], has[headInProgress], has[headBlocked] = true, true, true
		}
	}
	write(func(kind string) bool { return kind != headContext })
	for i := range previous {
		if sectionOf(previous[i].heading) == headContext {
			w.quote(&previous[i])
			w.gap(&previous[i])
		}
	}
	write(func(kind string) bool { return kind == headContext })
}

// digestHeadings are the sections of a digest, in order. Those of progress stand under a heading of their own,
// and identifiers follow the last one.
var digestHeadings = [...]string{headGoal, headConstraints, headProgress, headDone, headInProgress, headBlocked, headDecisions, headNext, headContext}

// section returns the notes for a heading, within the room that share returns for its share.
func (n *notes) section(heading string, share func(float64) int) []string {
	switch heading {
	case headGoal:
		return newestFirst(n.requests, share(shareRequests), 3)
	case headConstraints:
		return whole(rankRules(n.rules), share(shareRules))
	case headDone:
		return append(newestFirst(n.files.lines(), share(shareFiles), 8), newestFirst(n.commands, share(shareCommands), 6)...)
	case headInProgress:
		if n.last != "" {
			return newestFirst([]string{lastSaid + n.last}, share(shareLast), 1)
		}
	case headBlocked:
		return newestFirst(n.failures, share(shareFailures), 4)
	case headDecisions:
		return newestFirst(n.decisions, share(shareDecisions), 4)
	case headNext:
		return newestFirst(n.plans, share(sharePlans), 2)
	}
	return nil
}

// shareMissing is what the sections that writeMissing may write have of a digest together.
const shareMissing = shareRequests + shareFiles + shareCommands + shareLast + shareFailures + shareDecisions + sharePlans

// writeMissing writes the sections that has does not know, those of an earlier summary first, in at most limit
// tokens. New rules and identifiers are not among them: a summary has sections of their own for these.
func (n *notes) writeMissing(has func(heading string) bool, limit int) string {
	w := digestWriter{limit: limit, covered: make(map[string]bool)}
	missing := slices.DeleteFunc(slices.Clone(n.previous), func(s outlineSection) bool { return has(s.heading) })
	missing = missing.fit(int(float64(limit) * previousShare))
	for i := range missing {
		w.quote(&missing[i])
		w.gap(&missing[i])
	}
	limit -= w.used
	inText := has
	has = func(heading string) bool {
		return inText(heading) || slices.ContainsFunc(missing, func(s outlineSection) bool { return s.heading == heading })
	}
	share := func(s float64) int { return int(float64(limit) * s / shareMissing) }
	inProgress := false // below its heading
	for _, heading := range digestHeadings {
		part := strings.HasPrefix(heading, "### ")
		switch heading {
		case headConstraints, headProgress, headContext:
			continue
		}
		items := n.section(heading, share)
		if len(items) == 0 || has(heading) || part && has(headProgress) {
			continue
		}
		if part && !inProgress {
			w.line(headProgress)
			inProgress = true
		}
		w.section(heading, items)
	}
	if w.b.Len() == 0 {
		return ""
	}
	return w.cut()
}

// rankRules puts the rules that forbid or demand behind the others, where they are the last to go.
func rankRules(rules []string) []string {
	var weak, strong []string
	for _, r := range unique(rules) {
		if strongRules.in(r) {
			strong = append(strong, r)
		} else {
			weak = append(weak, r)
		}
	}
	return append(weak, strong...)
}

// unique keeps the newest of equal items, in order.
func unique(items []string) []string {
	seen := make(map[string]bool, len(items))
	out := make([]string, 0, len(items))
	for _, s := range slices.Backward(items) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// newestFirst fills room tokens with items, the last one first. The last few of them, full many, may take
// most of it; the older ones are clipped to a line.
func newestFirst(items []string, room, full int) []string {
	const line = 30 // tokens
	items = unique(items)
	var out []string
	for i := len(items) - 1; i >= 0 && room > 12; i-- {
		most := line
		if age := len(items) - 1 - i; age < full {
			most = max(line, room/(min(full, len(items))-age+1)*2)
		}
		s := tokencount.Clip(items[i], min(most, room-2))
		if s == "" {
			continue
		}
		room -= tokencount.Cautious(s) + 2
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// whole fills room tokens with items, the last one first, and clips none: half a rule is another rule.
func whole(items []string, room int) []string {
	var out []string
	for _, s := range slices.Backward(items) {
		if n := tokencount.Cautious(s) + 2; n <= room {
			room -= n
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

type digestWriter struct {
	b       strings.Builder
	limit   int
	used    int
	covered map[string]bool
}

func (w *digestWriter) line(s string) {
	w.used += tokencount.Cautious(s) + 1
	w.b.WriteString(s)
	w.b.WriteByte('\n')
}

// item writes one note; its further lines are indented, so that they stay part of it.
func (w *digestWriter) item(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r", ""), "\n", "\n  ")
	w.line("- " + s)
	identifier.Cover(w.covered, s)
}

func (w *digestWriter) section(head string, items []string) {
	if len(items) == 0 && head != headProgress && head != headContext {
		return
	}
	w.line(head)
	w.items(items)
}

func (w *digestWriter) items(items []string) {
	for _, s := range items {
		w.item(s)
	}
}

// gap writes the blank line that stood behind a section.
func (w *digestWriter) gap(s *outlineSection) {
	if s.gap {
		w.line("")
	}
}

// quote writes a section of an earlier summary as it stands.
func (w *digestWriter) quote(s *outlineSection) {
	if s.heading != "" {
		w.line(s.heading)
	}
	for _, line := range s.lines {
		w.line(line)
		identifier.Cover(w.covered, line)
	}
}

// withoutControls is s without NUL and terminal codes, which providers refuse some of.
func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7F {
			return -1
		}
		return r
	}, s)
}

// cut returns the digest, cut at a line if it is too long after all.
func (w *digestWriter) cut() string {
	s := strings.TrimSpace(withoutControls(strings.ToValidUTF8(w.b.String(), "\uFFFD")))
	for len(s) > byteLimit(w.limit) || tokencount.Cautious(s) > w.limit {
		shorter := s[:len(s)*9/10]
		if k := strings.LastIndexAny(shorter, " \n"); k > 0 {
			shorter = shorter[:k]
		}
		if s = strings.TrimSpace(strings.ToValidUTF8(shorter, "")); len(s) < 16 {
			break
		}
	}
	if s == "" {
		return headGoal
	}
	return s
}

// short writes a digest that has room for little more than the request.
func (w *digestWriter) short(n *notes, previous outline) string {
	for i := range previous {
		w.quote(&previous[i])
	}
	if !slices.ContainsFunc(previous, func(s outlineSection) bool { return sectionOf(s.heading) == headGoal }) {
		w.line(headGoal)
	}
	room := w.limit - 4 - previous.tokens()
	if len(n.requests) > 0 {
		w.item(tokencount.Clip(n.requests[len(n.requests)-1], room*2/3))
	}
	if room = w.limit - w.used; n.last != "" && room > 16 {
		w.item(lastSaid + tokencount.Clip(n.last, room-6))
	}
	return w.cut()
}
