package winnow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/sections"
)

// The audit of a summary. Code checks whether the text, as it will be stored, has everything that a summary must carry.
// What is missing it takes from the history. The model is not asked again: what it left out once, it would leave out
// twice, and refusing the summary for that would help nobody.

// audit returns the text of cp, with the sections behind it, as it is stored. repaired names what audit had to add. It
// also sets the identifiers of cp.
func (c *compaction) audit(cp *checkpoint, behind sections.Layout) (stored string, repaired []string) {
	text := sections.Escape(cp.body)
	behind.UserRules = cp.carried.UserRules(c.tokens, text, behind.UserRulesRoom)
	if behind.UserRules != "" { // the summarizer left some out
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

// skeletonShare: a text with less than an eighth of the tokens that were asked for says too little. For one host, half
// of all compactions were answered with empty headings.
const skeletonShare = 8

// fill completes the text of cp, which says next to nothing, with a digest in at most half of the room tokens that the
// text leaves. The next summary updates it like the rest of the text. fill reports whether it added anything.
func (c *compaction) fill(cp *checkpoint, room int) bool {
	const least = 100 // tokens: less has room for no more than a line
	body := sections.WithoutEmpty(cp.body)
	room = (room - c.tokens(body)) / 2
	if room < least {
		return false
	}
	n := c.notes(c.previous)
	c.ids = n.IDs
	cp.body = strings.TrimSpace(body + "\n\n" + cut.ToTokens(c.tokens, n.Text(room), room))
	return true
}

// missingIdentifiers returns the paths, URLs, hashes, ids, numbers and names of the summarized history that text lacks:
// as a section of at most room tokens, and as a list. Those that are likeliest to be used again have precedence.
func (c *compaction) missingIdentifiers(text string, room int) (section string, ids []string) {
	t := c.ids
	if t == nil {
		t = digest.NewTable()
		t.Scan(c.previous, digest.FromPrevious)
		eachMention(t, c.older, t.Scan)
	}
	// Earlier compactions found these in messages that are gone.
	t.Recall(c.carried.Identifiers)
	for _, path := range c.carried.Modified {
		t.Mark(path)
	}
	// A name in the kept messages is still in use, so it counts more. The summary needs it too, for when they are gone.
	eachMention(t, c.recent, t.Again)
	return sections.Identifiers(t, text, room, c.filled, c.tokens)
}

// eachMention calls f for the texts and the arguments of messages, and tells t where each message begins.
func eachMention(t *digest.Table, messages []Message, f func(s string, from digest.Source)) {
	for i := range messages {
		t.Next()
		from := sourceOf(&messages[i])
		for k := range messages[i].Parts {
			switch p := &messages[i].Parts[k]; p.Kind {
			case KindText:
				f(p.Text, from)
			case KindThinking:
				f(p.Text, digest.FromThinking)
			case KindToolCall:
				f(string(p.Arguments), digest.FromArguments)
			}
		}
	}
}
