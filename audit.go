package winnow

import (
	"maps"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/markup"
)

// What a summary must carry is looked for in the text as it will be stored, and what is missing is put in
// from where it stands in the history. Nothing is asked for again: a model that left it out once leaves it
// out twice, and a summary that is refused for it helps nobody.

// identifiersHeading opens the section of identifiers that the text left out.
const identifiersHeading = "## Identifiers"

// leastIdentifierTokens is room for a handful; with less the section is left out.
const leastIdentifierTokens = 24

// audit returns the text of cp with the sections behind it as it is stored, and names what it had to add.
func (c *compaction) audit(cp *checkpoint, behind layout) (stored string, repaired []string) {
	text := escapeText(cp.body)
	behind.userRules = cp.carried.userRulesSection(c.opts.Estimator, text, behind.userRulesRoom)
	if behind.userRules != "" {
		repaired = append(repaired, "rules")
	}
	stored = text + behind.String()
	add, ids := c.missingIdentifiers(stored, c.filled-c.tokens(stored))
	if add != "" {
		stored, repaired = stored+add, append(repaired, "identifiers")
	}
	for i := range ids {
		ids[i] = strings.ToValidUTF8(ids[i], "\uFFFD") // as a snapshot keeps it
	}
	cp.carried.Identifiers = ids
	return stored, repaired
}

// skeletonShare: a text with less than one part in so many of what was asked for says too little. Half of the
// compactions of one host were answered with empty headings.
const skeletonShare = 8

// fill adds to a text that says next to nothing what a digest says in its place, under the headings below which the
// text says nothing, in up to half of what is left of room tokens. The next summary updates that, too. It says whether
// there was anything to add.
func (c *compaction) fill(cp *checkpoint, room int) bool {
	const least = 100 // tokens: with less there is no more than a line
	body := withoutEmptySections(cp.body)
	room = (room - c.tokens(body)) / 2
	if room < least {
		return false
	}
	messages, _ := forSummary(c.older.join(c.prefix).messages)
	var n notes
	n.collect(&SummaryRequest{Messages: messages, Previous: c.previous})
	c.ids = &n.ids
	has := func(heading string) bool {
		return strings.Contains("\n"+body+"\n", "\n"+heading+"\n")
	}
	missing := clipToTokens(c.opts.Estimator, n.writeMissing(has, room), room)
	if missing == "" {
		return false
	}
	cp.body = strings.TrimSpace(body + "\n\n" + missing)
	return true
}

// withoutEmptySections returns s without the headings that have nothing below them, or no more than a word for that.
// A heading whose own text is empty stays for the sections below it.
func withoutEmptySections(s string) string {
	if turns, turn, isSplit := strings.Cut(s, splitHeading); isSplit {
		turns, turn = withoutEmptySections(turns), withoutEmptySections(turn)
		if turn == "" {
			return turns
		}
		return turns + splitHeading + turn
	}
	var kept []string
	below := 0 // the level of the section behind that is kept
	lines := strings.Split(s, "\n")
	for end := len(lines); end > 0; {
		start := end - 1
		for start > 0 && headingLevel(lines[start]) == 0 {
			start--
		}
		section := strings.TrimSpace(strings.Join(lines[start:end], "\n"))
		level := headingLevel(lines[start])
		_, content, _ := strings.Cut(section, "\n")
		if level == 0 || level < below || !saysNothing(content) {
			kept, below = append(kept, section), level
		}
		end = start
	}
	slices.Reverse(kept)
	return strings.TrimSpace(strings.Join(kept, "\n\n"))
}

// headingLevel is 1 to 6 for a heading of Markdown, and 0 for another line.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || !strings.HasPrefix(line[n:], " ") {
		return 0
	}
	return n
}

// noContent is what models write below a heading for which they have nothing.
var noContent = []string{"", "none", "n/a", "na", "nothing", "none yet", "unknown", "not specified", "not available", "tbd", "无"}

func saysNothing(text string) bool {
	for line := range strings.Lines(text) {
		word := strings.ToLower(strings.Trim(line, " \t\r\n-*•_.…()[]<>`"))
		if !slices.Contains(noContent, word) {
			return false
		}
	}
	return true
}

// missingIdentifiers lists paths, URLs, hashes, ids, numbers and names of the summarized history that the
// text does not have, the likeliest to be used again first, within so many tokens.
func (c *compaction) missingIdentifiers(text string, room int) (section string, ids []string) {
	room -= c.tokens("\n\n" + identifiersHeading + "\n")
	if room < leastIdentifierTokens {
		return "", nil
	}
	t := c.ids
	if t == nil {
		t = &idTable{at: make(map[string]int)}
		t.scan(c.previous, fromPrevious)
		t.collect(c.older.messages)
		t.collect(c.prefix.messages)
	}
	t.recall(c.carried.Identifiers)
	for _, path := range c.carried.Modified {
		t.mark(path)
	}
	t.again(c.recent)
	covered := map[string]bool{}
	identifier.Cover(covered, text)
	for ; room >= leastIdentifierTokens; room = room * 3 / 4 { // the table counts tokens in its own way
		var b strings.Builder
		ids = nil
		for kind, list := range t.pick(room, maps.Clone(covered), text) {
			if len(list) > 0 {
				ids = append(ids, list...)
				b.WriteString("\n- " + kindLabels[kind] + ": " + markup.Escape(strings.Join(list, " ")))
			}
		}
		if b.Len() == 0 {
			return "", nil
		}
		section := "\n\n" + identifiersHeading + b.String()
		if c.tokens(text+section) <= c.filled {
			return section, ids
		}
	}
	return "", nil
}

// recall adds what an earlier summary listed.
func (t *idTable) recall(ids []string) {
	now := t.now
	t.now = 0
	for _, id := range ids {
		t.scan(id, fromPrevious)
	}
	t.now = now
}

// collect scans messages, each for where it comes from.
func (t *idTable) collect(messages []Message) {
	for i := range messages {
		t.next()
		eachText(&messages[i], t.scan)
	}
}

// again counts the mentions of known identifiers in messages that are kept: what they use is in use.
func (t *idTable) again(recent []Message) {
	for i := range recent {
		t.next()
		eachText(&recent[i], func(s string, from idSource) {
			identifier.Scan(s[:min(len(s), scanBytes)], func(id string, kind identifier.Kind) {
				if _, known := t.at[id]; known {
					t.add(id, kind, from)
				}
			})
		})
	}
}

// eachText calls f for the texts and the arguments of m.
func eachText(m *Message, f func(s string, from idSource)) {
	from := fromHost
	switch {
	case m.Summary:
		from = fromPrevious
	case m.Role == RoleUser && !m.Injected:
		from = fromUser
	case m.Role == RoleAssistant:
		from = fromAssistant
	case m.Role == RoleTool:
		from = fromResult
	}
	for k := range m.Parts {
		switch p := &m.Parts[k]; p.Kind {
		case KindText:
			f(p.Text, from)
		case KindThinking:
			f(p.Text, fromThinking)
		case KindToolCall:
			f(string(p.Arguments), fromArguments)
		}
	}
}
