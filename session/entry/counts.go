package entry

import (
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
	Erased      int                   `json:"erased,omitempty"` // how often upkeep.EraseEntries rewrote the log
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
