package session

import (
	"encoding/json"
	"time"

	"github.com/winnowgo/winnow"
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

// isOnBranch reports whether entries of the type are on a branch.
func isOnBranch(t Type) bool {
	switch t {
	case TypeSession, TypeLeaf, TypeLabel, TypeInfo, TypeUsage, TypeErased, TypeFlush, TypeStatus:
		return false
	}
	return true
}

// typeOf returns the type that s names, without an allocation for the most frequent ones.
func typeOf(s []byte) Type {
	switch Type(s) { // the compiler compares without making a string
	case TypeMessage:
		return TypeMessage
	case TypeState:
		return TypeState
	}
	return Type(s)
}

const (
	formatVersion = 1

	// maxBatch is how many entries one append may have.
	maxBatch = 1 << 20
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

	Delta json.RawMessage `json:"delta,omitempty"` // state: of the manager; base64 in a string if it is not JSON
	Full  *FullState      `json:"full,omitempty"`  // state; status: without the manager's state

	Erased []string `json:"erased,omitempty"` // erased, beside the branch: whose content was erased
	Was    Type     `json:"was,omitempty"`    // erased, in the place of an entry: its former type

	Source  *Source         `json:"source,omitempty"`  // message: what the codec keeps
	Exact   []exactBytes    `json:"exact,omitempty"`   // message: bytes that JSON cannot hold
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

// mergeInfo takes in what next changes.
func mergeInfo(i, next *Info) {
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

// FullState is all that a reader needs to know about the entries before it: the manager's state, and what side entries
// said.
type FullState struct {
	State  json.RawMessage   `json:"state,omitempty"`
	Counts Counts            `json:"counters,omitzero"`
	Info   Info              `json:"info,omitzero"`
	Labels map[string]string `json:"labels,omitempty"` // by entry
}

// Source is what a [Codec] keeps of a message.
type Source struct {
	Codec string          `json:"codec"`
	Data  json.RawMessage `json:"data"`
}

// exactBytes are bytes of a message that JSON cannot hold: invalid UTF-8, and arguments that are not JSON or have line
// breaks.
type exactBytes struct {
	Part      int    `json:"part"`
	Text      []byte `json:"text,omitempty"`
	Arguments []byte `json:"arguments,omitempty"`
}
