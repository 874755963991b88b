// Package entry has the entries of a log, as Store.Entries of package session reads them and Import of package upkeep
// takes them. The page on-disk.md says more about each type.
package entry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/exact"
)

// Type is the type of an [Entry].
type Type string

const (
	TypeSession       Type = "session"        // the header: the first line of a log
	TypeMessage       Type = "message"        // a message of the conversation
	TypeCustomMessage Type = "custom_message" // a message of the host, in the context
	TypeCustom        Type = "custom"         // data of the host, not in the context
	TypeCompaction    Type = "compaction"     // a summary stands for what lies before its first kept entry
	TypeEdit          Type = "edit"           // new content for an earlier entry
	TypeBranchSummary Type = "branch_summary" // what happened on an abandoned branch
	TypeReset         Type = "reset"          // the end of a log: the conversation begins anew in the next one
	TypeState         Type = "state"          // state of the winnow.Manager
	TypeLeaf          Type = "leaf"           // the branch continues at another entry
	TypeLabel         Type = "label"          // a name for an entry
	TypeInfo          Type = "info"           // title, pinned, archived
	TypeUsage         Type = "usage"          // what a call without a message was billed
	TypeErased        Type = "erased"         // an erased entry; beside the branch: which entries were erased
	TypeFlush         Type = "flush"          // the host saved what a summary may lose
	TypeStatus        Type = "status"         // totals of the entries before it
)

// Entry is one line of a log. Which members count depends on Type.
//
// Path entries have a ParentID and make up the tree; the others stand beside it.
type Entry struct {
	Seq      int64     `json:"seq"`                // grows strictly
	ID       string    `json:"id"`                 // "e" and Seq, or what an import brought
	ParentID string    `json:"parentId,omitempty"` // path entries: the previous entry on the branch
	Type     Type      `json:"type"`
	Time     time.Time `json:"time,omitzero"`

	// offset of the parent or leaf target, if not the previous line
	At    *int64   `json:"at,omitempty"`
	Batch [2]int64 `json:"batch,omitzero"` // position, from 1, and length; a batch counts whole or not at all

	Format int    `json:"format,omitempty"` // session: format of the log
	Key    string `json:"key,omitempty"`    // session
	From   *From  `json:"from,omitempty"`   // session: origin of a fork

	Name   string          `json:"name,omitempty"`   // custom, custom_message
	Hidden bool            `json:"hidden,omitempty"` // custom_message: not shown to people
	Data   json.RawMessage `json:"data,omitempty"`   // custom; reset: data of the host

	Summary      string   `json:"summary,omitempty"`      // compaction, branch_summary
	FirstKept    *Ref     `json:"firstKept,omitempty"`    // compaction; nil: nothing before it
	Keep         []Ref    `json:"keep,omitempty"`         // compaction: system messages, pins, the open request
	Front        *int     `json:"front,omitempty"`        // compaction: how many of Keep stand in front of the summary
	TokensBefore int      `json:"tokensBefore,omitempty"` // compaction
	TokensAfter  int      `json:"tokensAfter,omitempty"`  // compaction
	Degraded     bool     `json:"degraded,omitempty"`     // compaction: made without a model; messages stay
	Repaired     []string `json:"repaired,omitempty"`     // compaction
	Calls        int      `json:"calls,omitempty"`        // compaction: calls of the summarizer

	Target string `json:"target,omitempty"` // edit, leaf, label, branch_summary
	Omit   bool   `json:"omit,omitempty"`   // edit: the message is left out
	Reason string `json:"reason,omitempty"` // edit, reset
	Label  string `json:"label,omitempty"`  // label; "" removes it
	Info   *Info  `json:"info,omitempty"`   // info; reset: the title that is carried over

	Usage  *winnow.Usage `json:"usage,omitempty"`  // usage
	Model  string        `json:"model,omitempty"`  // usage, message: the model that answered
	Window int           `json:"window,omitempty"` // usage: the manager's, from here on

	Delta json.RawMessage `json:"delta,omitempty"` // state: of the manager
	Full  *FullState      `json:"full,omitempty"`  // state; status: without the manager's state

	Erased []string `json:"erased,omitempty"` // erased, beside the branch: whose content was erased
	Was    Type     `json:"was,omitempty"`    // erased, in the place of an entry: its former type

	Source  *Source         `json:"source,omitempty"`  // message: what the codec keeps
	Exact   []exact.Bytes   `json:"exact,omitempty"`   // message: bytes that JSON cannot hold
	Message *winnow.Message `json:"message,omitempty"` // message, custom_message, edit
}

// From says where a fork comes from.
type From struct {
	Session string `json:"session"` // key
	Entry   string `json:"entry"`
}

// Ref is an entry and its place in the log.
type Ref struct {
	ID string `json:"id"`
	At int64  `json:"at"`             // offset in the log
	By *Ref   `json:"edit,omitempty"` // the edit that replaced its content
}

// Info is the title of a session, and whether it is pinned or archived. In an entry, a nil field means no change.
type Info struct {
	Title    *string `json:"title,omitempty"`
	Pinned   *bool   `json:"pinned,omitempty"`
	Archived *bool   `json:"archived,omitempty"`
}

// FullState is all that a reader needs to know about the entries before it: the manager's state, and what side entries
// said.
type FullState struct {
	State  json.RawMessage   `json:"state,omitempty"`
	Counts Counts            `json:"counters,omitzero"`
	Info   Info              `json:"info,omitzero"`
	Labels map[string]string `json:"labels,omitempty"` // by entry
}

// Source is what a codec keeps of a message.
type Source struct {
	Codec string          `json:"codec"`
	Data  json.RawMessage `json:"data"`
}

// Damage is a part of a log that is ignored.
type Damage struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"` // 0: the line counts, but not the way it says
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason"`
}

func (d Damage) String() string {
	if d.ID != "" {
		return fmt.Sprintf("offset %d, entry %s: %s", d.Offset, d.ID, d.Reason)
	}
	return fmt.Sprintf("offset %d, %d bytes: %s", d.Offset, d.Length, d.Reason)
}

// SealedError says which key an entry was sealed with, and why it could not be opened.
type SealedError struct {
	Entry string // id
	Key   string // id of the key
	Cause error  // error of the [Sealer]; nil: the store has none
}

func (e *SealedError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("session: entry %s is sealed with key %q, and the store has no Sealer", e.Entry, e.Key)
	}
	return fmt.Sprintf("session: entry %s, sealed with key %q: %v", e.Entry, e.Key, e.Cause)
}

// Unwrap returns ErrSealed and the cause.
func (e *SealedError) Unwrap() []error { return []error{errs.ErrSealed, e.Cause} }

// members is Entry without its methods.
type members Entry

// MarshalJSON writes e in the form of a log, without its checksum.
func (e *Entry) MarshalJSON() ([]byte, error) {
	body := members(*e)
	body.Time = e.Time.UTC()
	if e.Message != nil {
		body.Message, body.Exact = exact.Of(e.Message)
	}
	var b bytes.Buffer
	x := json.NewEncoder(&b)
	x.SetEscapeHTML(false)
	err := x.Encode(&body)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON writes, or a line of a log, whose checksum it does not check.
func (e *Entry) UnmarshalJSON(data []byte) error {
	*e = Entry{}
	err := json.Unmarshal(data, (*members)(e))
	if err == nil {
		err = exact.Restore(e.Message, e.Exact)
	}
	e.Exact = nil
	return err
}

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
