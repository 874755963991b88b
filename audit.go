package winnow

import (
	"maps"
	"strings"
)

// What a summary must carry is looked for in the text as it will be stored, and what is missing is put in
// from where it stands in the history. Nothing is asked for again: a model that left it out once leaves it
// out twice, and a summary that is refused for it helps nobody.

// identifiersHeading opens the section of identifiers that the text left out.
const identifiersHeading = "\n\n## Identifiers\n"

// leastIdentifierTokens is room for a handful; with less the section is left out.
const leastIdentifierTokens = 24

// audit returns the text with the sections behind it, and names what it had to add.
func (c *compaction) audit(text string, sections []string) (stored string, repaired []string) {
	stored = text + strings.Join(sections, "")
	if add := c.missingIdentifiers(stored, c.cap-c.tokens(stored)); add != "" {
		stored, repaired = stored+add, append(repaired, "identifiers")
	}
	return stored, repaired
}

// missingIdentifiers lists paths, URLs, hashes, ids, numbers and names of the summarized history that the
// text does not have, the likeliest to be used again first, within so many tokens.
func (c *compaction) missingIdentifiers(text string, room int) string {
	room -= c.tokens(identifiersHeading)
	if room < leastIdentifierTokens {
		return ""
	}
	var n notes
	n.collect(&SummaryRequest{Messages: append(c.older[:len(c.older):len(c.older)], c.prefix...), Previous: c.previous})
	n.ids.again(c.recent)
	covered := map[string]bool{}
	scanIdentifiers(text, func(id string, _ identifierKind) { cover(covered, id) })
	for ; room >= leastIdentifierTokens; room = room * 3 / 4 { // the table counts tokens in its own way
		var b strings.Builder
		for kind, list := range n.ids.pick(room, maps.Clone(covered)) {
			if len(list) > 0 {
				b.WriteString("- " + kindLabels[kind] + ": " + escapeSummary(strings.Join(list, " ")) + "\n")
			}
		}
		if b.Len() == 0 {
			return ""
		}
		section := identifiersHeading + strings.TrimSuffix(b.String(), "\n")
		if c.tokens(text+section) <= c.cap {
			return section
		}
	}
	return ""
}

// again counts the mentions of known identifiers in messages that are kept: what they use is in use.
func (t *idTable) again(recent []Message) {
	for i := range recent {
		t.next()
		m := &recent[i]
		from := fromAssistant
		switch m.Role {
		case RoleUser:
			from = fromUser
		case RoleTool:
			from = fromResult
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			for _, s := range [2]string{p.Text, string(p.Arguments)} {
				if len(s) > scanBytes {
					s = s[:scanBytes]
				}
				scanIdentifiers(s, func(id string, kind identifierKind) {
					if _, known := t.at[id]; known {
						t.add(id, kind, from)
					}
				})
			}
		}
	}
}
