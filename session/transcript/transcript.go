// Package transcript reads the session files of other agents, and writes files of one of them, pi.
//
//	data, err := os.ReadFile(home + "/.claude/projects/…/….jsonl")
//	t, err := transcript.Parse(data)
//	err = store.Import(ctx, key, t.Entries)  // continues where the other agent stopped
//	history := t.Messages()                  // or only look at it
//
// It knows the files of pi and OpenClaw (versions 1 to 3), Claude Code and Codex, and the logs of package session
// itself. The programs do not specify their forms and change them without notice. So nothing in a file is an error:
// lines that are not understood are counted and kept as entries of [entry.TypeCustom], which no model sees.
package transcript

import (
	"bytes"
	"errors"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
)

// Format names the form of a file.
type Format string

const (
	Pi         Format = "pi"          // pi and OpenClaw
	ClaudeCode Format = "claude-code" // one file per session, and one per sub-agent
	Codex      Format = "codex"       // rollout files
	Winnow     Format = "winnow"      // a log of package session
)

// ErrFormat: this package does not know the form of the file.
var ErrFormat = errors.New("transcript: not a session of pi, OpenClaw, Claude Code, Codex or winnow")

// Transcript is a session as another program left it.
type Transcript struct {
	Format  Format
	Session Origin
	Entries []*entry.Entry // for [upkeep.Import]; the first is the header
	Report  Report
}

// Origin identifies a session in the program that wrote it. Members that were not recorded are "".
type Origin struct {
	Program string `json:"program,omitempty"` // a [Format]
	ID      string `json:"id,omitempty"`
	CWD     string `json:"cwd,omitempty"`     // working directory
	Version string `json:"version,omitempty"` // of the program; for pi, of the form
}

// Parse reads a file. The only error is [ErrFormat]; the report counts lines that cannot be read. data must not be
// changed afterwards.
func Parse(data []byte) (*Transcript, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	f := Detect(data)
	b := newBuilder(f)
	switch f {
	case Pi:
		readPi(b, data)
	case ClaudeCode:
		readClaude(b, data)
	case Codex:
		readCodex(b, data)
	case Winnow:
		readWinnow(b, data)
	default:
		return nil, ErrFormat
	}
	return b.finish(), nil
}

// Messages returns the whole current branch of the session, including messages that the program had summarized, as if
// it had never compacted. A summary is left out unless the file lacks everything that it stands for.
// [session.View.History] of the imported session holds what a model sees next.
func (t *Transcript) Messages() []winnow.Message {
	byID := make(map[string]*entry.Entry, len(t.Entries))
	leaf := ""
	for _, e := range t.Entries {
		if e.ID != "" {
			byID[e.ID] = e
		}
		switch {
		case e.Type == entry.TypeLeaf:
			leaf = e.Target
		case e.ParentID != "":
			leaf = e.ID
		}
	}
	var out []winnow.Message
	edits := map[string]*entry.Entry{}
	for e := byID[leaf]; e != nil; e = byID[e.ParentID] {
		if e.Type == entry.TypeEdit && edits[e.Target] == nil {
			edits[e.Target] = e
		}
		if m, ok := messageOf(e, edits[e.ID]); ok {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return withoutSummaries(out)
}

// messageOf returns the message that an entry adds to the conversation, with the content that an edit gives it.
func messageOf(e, edit *entry.Entry) (m winnow.Message, ok bool) {
	switch {
	case edit != nil && edit.Omit:
		return m, false
	case edit != nil && edit.Message != nil:
		return *edit.Message, true
	case e.Type == entry.TypeMessage || e.Type == entry.TypeCustomMessage:
		if e.Message == nil {
			return m, false
		}
		return *e.Message, true
	case e.Type == entry.TypeCompaction && !e.Degraded:
		parts := []winnow.Part{{Text: e.Summary}}
		return winnow.Message{Role: winnow.RoleUser, Parts: parts, Summary: true, Time: e.Time}, true
	case e.Type == entry.TypeBranchSummary:
		parts := []winnow.Part{{Text: e.Summary}}
		return winnow.Message{Role: winnow.RoleUser, Parts: parts, Injected: true, Time: e.Time}, true
	}
	return m, false
}

// withoutSummaries leaves out the summaries that are not the first message.
func withoutSummaries(history []winnow.Message) []winnow.Message {
	first := slices.IndexFunc(history, func(m winnow.Message) bool { return m.Role != winnow.RoleSystem })
	out := history[:0]
	for i := range history {
		if !history[i].Summary || i == first {
			out = append(out, history[i])
		}
	}
	return out
}
