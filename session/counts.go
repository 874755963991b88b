package session

import (
	"cmp"
	"maps"
	"time"

	"github.com/winnowgo/winnow"
)

// Counts counts what a log holds, on all branches.
type Counts struct {
	Entries     int                   `json:"entries,omitempty"` // without those of TypeStatus
	Messages    map[winnow.Role]int   `json:"messages,omitempty"`
	Turns       int                   `json:"turns,omitempty"` // user messages that a person wrote
	Compactions int                   `json:"compactions,omitempty"`
	Degraded    int                   `json:"degraded,omitempty"` // those of Compactions that were made without a model
	Flushes     int                   `json:"flushes,omitempty"`  // runs of CompactOptions.BeforeCompact
	Edits       int                   `json:"edits,omitempty"`
	Erased      int                   `json:"erased,omitempty"` // how often [Store.EraseEntries] rewrote the log
	Usage       winnow.Usage          `json:"usage,omitzero"`   // the sum of all calls
	LastUsage   *winnow.Usage         `json:"lastUsage,omitempty"`
	Models      map[string]ModelUsage `json:"models,omitempty"`  // Usage by model; "": unknown
	LastTurn    time.Time             `json:"lastTurn,omitzero"` // when a person wrote last

	// How full the window is: the tokens of the last request, or of what the last compaction left. Tokens is 0 where
	// that is not known: after an edit, a rewind, or an answer without usage. Window is that of the manager which made
	// the last request, and 0 before there is one.
	Tokens int `json:"tokens,omitempty"`
	Window int `json:"window,omitempty"`
}

// ModelUsage is what the calls of one model were billed.
type ModelUsage struct {
	Calls int          `json:"calls"`
	Sum   winnow.Usage `json:"sum"`
	Last  winnow.Usage `json:"last"`
}

// cloneCounts returns a copy that shares nothing with c.
func cloneCounts(c Counts) Counts {
	out := c
	out.Messages, out.Models = maps.Clone(c.Messages), maps.Clone(c.Models)
	if out.Messages == nil {
		out.Messages = map[winnow.Role]int{}
	}
	return out
}

// countEntry counts e in c.
func countEntry(c *Counts, e *Entry) {
	if e.Type == TypeStatus {
		return
	}
	c.Entries++
	switch countedAs(e) {
	case TypeMessage:
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
	case TypeCompaction:
		c.Compactions++
		c.Tokens = e.TokensAfter
		if e.Degraded {
			c.Degraded++
		}
	case TypeFlush:
		c.Flushes++
	case TypeEdit:
		c.Edits++
		c.Tokens = 0
	case TypeLeaf:
		c.Tokens = 0
	case TypeErased:
		c.Erased++
		c.Tokens = 0
	case TypeUsage:
		countUsage(c, e.Model, e.Usage)
		c.Window = cmp.Or(e.Window, c.Window)
	}
}

// countRequest takes in the tokens of the request that m answers. An answer may be several messages, of which one has the
// usage.
func countRequest(c *Counts, m *winnow.Message, batch [2]int64) {
	switch u := m.Usage; {
	case m.Role != winnow.RoleAssistant:
	case u != nil:
		c.Tokens = u.Prompt()
	case batch[0] <= 1:
		c.Tokens = 0
	}
}

func countUsage(c *Counts, model string, u *winnow.Usage) {
	if u == nil {
		return
	}
	c.LastUsage = u
	addTo(&c.Usage, u)
	if c.Models == nil {
		c.Models = make(map[string]ModelUsage, 1)
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
