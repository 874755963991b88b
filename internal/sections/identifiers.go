package sections

import (
	"strings"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/markup"
)

// leastIdentifiers is room for a handful of identifiers, in tokens. With less room their section is left out.
const leastIdentifiers = 24

// Identifiers returns the identifiers of t that text lacks, as a section of at most room tokens and as a list. Those
// that are likeliest to be used again have precedence. With the section, text has at most `most` tokens.
func Identifiers(t *digest.Table, text string, room, most int, tokens func(string) int) (section string, ids []string) {
	var covered identifier.Known
	identifier.Cover(&covered, text)
	room -= tokens("\n\n" + digest.IdentifiersHeading + "\n")
	for ; room >= leastIdentifiers; room = room * 3 / 4 { // the table's own count of tokens may be too low
		var b strings.Builder
		ids = nil
		for kind, list := range t.Pick(room, covered.Clone()) {
			if len(list) > 0 {
				ids = append(ids, list...)
				b.WriteString("\n- " + digest.Labels[kind] + ": " + markup.Escape(strings.Join(list, " ")))
			}
		}
		if b.Len() == 0 {
			return "", nil
		}
		section := "\n\n" + digest.IdentifiersHeading + b.String()
		if tokens(text+section) <= most {
			return section, ids
		}
	}
	return "", nil
}
