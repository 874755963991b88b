package digest

import (
	"math"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// Shares that each kind of note may take of the room that an earlier summary leaves in a digest. What the notes leave
// over goes to the identifiers.
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

// Labels name the lists of identifiers.
var Labels = [identifier.Kinds]string{"Paths", "URLs", "Hashes and ids", "Numbers", "Error codes", "Symbols", "Names"}

// Limits of a digest, in tokens.
const (
	DefaultTokens = 4_000 // the limit if the caller sets no limit
	LeastTokens   = 24    // room for one line; less says nothing
	bytesPerToken = 4     // 16 000 tokens are 64 KB
)

// Write writes a digest of at most limit tokens, or of 4 000 if limit is not above 0.
func (n *Notes) Write(limit int) string {
	if limit <= 0 {
		limit = DefaultTokens
	}
	limit = max(LeastTokens, limit)
	w := writer{limit: limit, covered: new(identifier.Known)}
	previous := n.previous
	if n.last != "" {
		previous = previous.withoutLast()
	}
	previous = previous.fit(int(float64(limit) * previousShare))
	if limit < 200 { // no room for sections
		return w.short(n, previous)
	}
	w.update(previous, n, limit-previous.tokens())
	picked := n.IDs.Pick(limit-w.used-pickMargin, w.covered, w.b.String())
	for kind, list := range picked {
		if len(list) > 0 {
			w.line("- " + Labels[kind] + ": " + strings.Join(list, " "))
		}
	}
	return w.cut()
}

// update writes an earlier summary with new notes of at most room tokens: at the end of the sections that it has, and
// behind those in sections of their own. The last section is the one to which identifiers belong.
func (w *writer) update(previous outline, n *Notes, room int) {
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
	hasProgress := has[HeadProgress] || has[HeadDone] || has[HeadInProgress] || has[HeadBlocked]
	wrote := map[string]bool{"": true}
	write := func(of func(kind string) bool) { // the sections that previous does not have
		for _, heading := range headings {
			if has[heading] || !of(heading) || heading == HeadProgress && hasProgress {
				continue
			}
			w.section(heading, notes(heading))
		}
	}
	for i := range previous {
		s, kind := &previous[i], sectionOf(previous[i].heading)
		if kind == HeadContext {
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
			has[HeadDone], has[HeadInProgress], has[HeadBlocked] = true, true, true
		}
	}
	write(func(kind string) bool { return kind != HeadContext })
	for i := range previous {
		if sectionOf(previous[i].heading) == HeadContext {
			w.quote(&previous[i])
			w.gap(&previous[i])
		}
	}
	write(func(kind string) bool { return kind == HeadContext })
}

// section returns the notes for a heading, within the room that share returns for its share.
func (n *Notes) section(heading string, share func(float64) int) []string {
	switch heading {
	case HeadGoal:
		return newestFirst(n.requests, share(shareRequests), 3)
	case HeadConstraints:
		return whole(rankRules(n.rules), share(shareRules))
	case HeadDone:
		return append(whole(n.files.lines(), share(shareFiles)), // half a path is another path
			newestFirst(n.commands, share(shareCommands), 6)...)
	case HeadInProgress:
		if n.last != "" {
			return newestFirst([]string{lastSaid + n.last}, share(shareLast), 1)
		}
	case HeadBlocked:
		note := func(i int) string { return n.failures[i].note() }
		return newestOf(len(n.failures), note, share(shareFailures), 4)
	case HeadDecisions:
		return newestFirst(n.decisions, share(shareDecisions), 4)
	case HeadNext:
		return newestFirst(n.plans, share(sharePlans), 2)
	}
	return nil
}

// shareMissing is the share of a digest that all sections of WriteMissing may take together.
const shareMissing = shareRequests + shareFiles + shareCommands + shareLast + shareFailures + shareDecisions +
	sharePlans

// WriteMissing writes the sections that has does not know, those of an earlier summary first, in at most limit
// tokens. New rules and identifiers are not among them: a summary has sections of their own for these.
func (n *Notes) WriteMissing(has func(heading string) bool, limit int) string {
	w := writer{limit: limit, covered: new(identifier.Known)}
	missing := slices.DeleteFunc(slices.Clone(n.previous), func(s outlineSection) bool { return has(s.heading) })
	missing = missing.fit(int(float64(limit) * previousShare))
	for i := range missing {
		w.quote(&missing[i])
		w.gap(&missing[i])
	}
	limit -= w.used
	inText := has
	has = func(heading string) bool {
		return inText(heading) || slices.ContainsFunc(missing, func(s outlineSection) bool {
			return s.heading == heading
		})
	}
	share := func(s float64) int { return int(float64(limit) * s / shareMissing) }
	inProgress := false // below its heading
	for _, heading := range headings {
		part := strings.HasPrefix(heading, "### ")
		switch heading {
		case HeadConstraints, HeadProgress, HeadContext:
			continue
		}
		items := n.section(heading, share)
		if len(items) == 0 || has(heading) || part && has(HeadProgress) {
			continue
		}
		if part && !inProgress {
			w.line(HeadProgress)
			inProgress = true
		}
		w.section(heading, items)
	}
	if w.b.Len() == 0 {
		return ""
	}
	return w.cut()
}

func (w *writer) line(s string) {
	w.used += tokencount.Cautious(s) + 1
	w.b.WriteString(s)
	w.b.WriteByte('\n')
}

// item writes one note; its further lines are indented, so that they stay part of it.
func (w *writer) item(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r", ""), "\n", "\n  ")
	w.line("- " + s)
	identifier.Cover(w.covered, s)
}

func (w *writer) section(head string, items []string) {
	if len(items) == 0 && head != HeadProgress && head != HeadContext {
		return
	}
	w.line(head)
	w.items(items)
}

func (w *writer) items(items []string) {
	for _, s := range items {
		w.item(s)
	}
}

// gap writes the blank line that stood behind a section.
func (w *writer) gap(s *outlineSection) {
	if s.gap {
		w.line("")
	}
}

// quote writes a section of an earlier summary as it stands.
func (w *writer) quote(s *outlineSection) {
	if s.heading != "" {
		w.line(s.heading)
	}
	for _, line := range s.lines {
		w.line(line)
		identifier.Cover(w.covered, line)
	}
}

// withoutControls returns s without NUL and terminal codes, some of which providers refuse.
func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7F {
			return -1
		}
		return r
	}, s)
}

// cut returns the digest, cut at a line if it is too long after all.
func (w *writer) cut() string {
	s := strings.TrimSpace(withoutControls(strings.ToValidUTF8(w.b.String(), "\uFFFD")))
	for len(s) > ByteLimit(w.limit) || tokencount.Cautious(s) > w.limit {
		shorter := s[:len(s)*9/10]
		if k := strings.LastIndexAny(shorter, " \n"); k > 0 {
			shorter = shorter[:k]
		}
		if s = strings.TrimSpace(strings.ToValidUTF8(shorter, "")); len(s) < 16 {
			break
		}
	}
	if s == "" {
		return HeadGoal
	}
	return s
}

// short writes a digest that has room for little more than the request.
func (w *writer) short(n *Notes, previous outline) string {
	for i := range previous {
		w.quote(&previous[i])
	}
	if !slices.ContainsFunc(previous, func(s outlineSection) bool { return sectionOf(s.heading) == HeadGoal }) {
		w.line(HeadGoal)
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

// ByteLimit is the longest digest in bytes.
func ByteLimit(tokens int) int {
	if tokens > math.MaxInt/bytesPerToken {
		return math.MaxInt
	}
	return max(1_024, tokens*bytesPerToken)
}

type writer struct {
	b       strings.Builder
	limit   int
	used    int
	covered *identifier.Known
}
