package session

import (
	"bytes"
	"encoding/json"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// What counts of an entry is read without the rest of it: the texts of a message are most of a log, and parsing them
// is most of reading one.

// decodeCounted returns of an entry what [Counts] and [sides] ask for.
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
		if !bytes.HasPrefix(l.body, []byte(`"delta":`)) {
			return l.decode()
		}
	case TypeEdit, TypeCustom, TypeCustomMessage, TypeBranchSummary, TypeFlush:
	default:
		return l.decode()
	}
	e.Seq, e.ID, e.Type = l.seq, l.id, l.kind
	e.Time = l.time()
	return e, nil
}

// takeCounted takes what counts from the line of a message. It reports whether that was all there.
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

// roleOf returns a role that does not share memory with s.
func roleOf(s string) winnow.Role {
	for _, role := range []winnow.Role{winnow.RoleUser, winnow.RoleAssistant, winnow.RoleTool, winnow.RoleSystem} {
		if s == string(role) {
			return role
		}
	}
	return winnow.Role(bytes.Clone([]byte(s)))
}
