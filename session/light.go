package session

import (
	"bytes"
	"encoding/json"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Counting needs only a few members of an entry. The texts of messages are most of a log, and parsing them takes most
// of the time of reading one, so this code skips them.

// decodeCounted returns the members of an entry that [Counts] and [sides] need.
func (l *line) decodeCounted() (*Entry, error) {
	if l.sealed != "" {
		return l.decodeClear()
	}
	if l.body == nil {
		return l.decode()
	}
	e := &Entry{}
	switch l.kind {
	case TypeMessage:
		e.Message = &winnow.Message{}
		if !e.takeCounted(l.data) {
			return l.decode()
		}
	case TypeState:
		if l.isFullState() {
			return l.decode()
		}
	case TypeEdit, TypeCustom, TypeCustomMessage, TypeBranchSummary, TypeFlush:
	default:
		return l.decode()
	}
	e.Seq, e.ID, e.Type, e.Batch = l.seq, l.id, l.kind, l.batch
	e.Time = l.time()
	return e, nil
}

// isFullState reports whether the entry is a state with totals, or may be one.
func (l *line) isFullState() bool {
	return l.kind == TypeState && !bytes.HasPrefix(l.body, []byte(`"delta":`))
}

// takeCounted reads the counted members from the line of a message. It reports whether it found all of them.
func (e *Entry) takeCounted(line []byte) bool {
	ok := true
	take := func(value []byte, to any) { ok = ok && json.Unmarshal(value, to) == nil }
	m := e.Message
	jsontext.Members(line, func(key string, value []byte) {
		switch key {
		case "model":
			take(value, &e.Model)
		case "message":
			jsontext.Members(value, func(key string, value []byte) {
				switch key {
				case "role":
					m.Role = roleOf(jsontext.Text(value))
				case "injected":
					m.Injected = string(value) == "true"
				case "summary":
					m.Summary = string(value) == "true"
				case "usage":
					take(value, &m.Usage)
				}
			})
		}
	})
	return ok && m.Role != ""
}

// roleOf returns s as a role, without keeping its memory.
func roleOf(s string) winnow.Role {
	for _, role := range []winnow.Role{winnow.RoleUser, winnow.RoleAssistant, winnow.RoleTool, winnow.RoleSystem} {
		if s == string(role) {
			return role
		}
	}
	return winnow.Role(bytes.Clone([]byte(s)))
}
