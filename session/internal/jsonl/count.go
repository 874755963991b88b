package jsonl

import (
	"cmp"
	"maps"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
)

// MergeInfo takes in what next changes.
func MergeInfo(i, next *entry.Info) {
	if next == nil {
		return
	}
	if next.Title != nil {
		i.Title = next.Title
	}
	if next.Pinned != nil {
		i.Pinned = next.Pinned
	}
	if next.Archived != nil {
		i.Archived = next.Archived
	}
}

// CloneCounts returns a copy that shares nothing with c.
func CloneCounts(c entry.Counts) entry.Counts {
	out := c
	out.Messages, out.Models = maps.Clone(c.Messages), maps.Clone(c.Models)
	if out.Messages == nil {
		out.Messages = map[winnow.Role]int{}
	}
	return out
}

// CountEntry counts e in c.
func CountEntry(c *entry.Counts, e *entry.Entry) {
	if e.Type == entry.TypeStatus {
		return
	}
	c.Entries++
	switch countedAs(e) {
	case entry.TypeMessage:
		m := e.Message
		if m == nil {
			return
		}
		if c.Messages == nil {
			c.Messages = make(map[winnow.Role]int, 4)
		}
		c.Messages[m.Role]++
		if beginsTurn(m) {
			c.Turns++
			c.LastTurn = e.Time.UTC().Round(0)
		}
		countUsage(c, e.Model, m.Usage)
		countRequest(c, m, e.Batch)
	case entry.TypeCompaction:
		c.Compactions++
		c.Tokens = e.TokensAfter
		if e.Degraded {
			c.Degraded++
		}
	case entry.TypeFlush:
		c.Flushes++
	case entry.TypeEdit:
		c.Edits++
		c.Tokens = 0
	case entry.TypeLeaf:
		c.Tokens = 0
	case entry.TypeErased:
		c.Erased++
		c.Tokens = 0
	case entry.TypeUsage:
		countUsage(c, e.Model, e.Usage)
		c.Window = cmp.Or(e.Window, c.Window)
	}
}

// countRequest takes in the tokens of the request that m answers. An answer may be several messages, of which one has
// the usage.
func countRequest(c *entry.Counts, m *winnow.Message, batch [2]int64) {
	switch u := m.Usage; {
	case m.Role != winnow.RoleAssistant:
	case u != nil:
		c.Tokens = u.Prompt()
	case batch[0] <= 1:
		c.Tokens = 0
	}
}

func countUsage(c *entry.Counts, model string, u *winnow.Usage) {
	if u == nil {
		return
	}
	c.LastUsage = u
	addTo(&c.Usage, u)
	if c.Models == nil {
		c.Models = make(map[string]entry.ModelUsage, 1)
	}
	of := c.Models[model]
	of.Calls++
	of.Last = *u
	addTo(&of.Sum, u)
	c.Models[model] = of
}

func addTo(sum, u *winnow.Usage) {
	sum.Input += u.Input
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.Output += u.Output
}

// beginsTurn reports whether a person wrote m.
func beginsTurn(m *winnow.Message) bool {
	return m.Role == winnow.RoleUser && !m.Injected && !m.Summary
}

// countedAs returns the type that an entry counts as.
func countedAs(e *entry.Entry) entry.Type {
	switch {
	case e.Type != entry.TypeErased:
		return e.Type
	case e.Was != "":
		return e.Was
	case e.Target != "":
		return entry.TypeEdit
	case e.Message != nil && e.Name == "":
		return entry.TypeMessage
	}
	return entry.TypeErased
}
