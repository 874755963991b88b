package transcript

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Listed is a session in OpenClaw's sessions.json.
type Listed struct {
	Key     string    `json:"key"`
	ID      string    `json:"id"`              // id of the session, after which its file is named
	File    string    `json:"file,omitempty"`  // name of the file of the transcript, if the entry names one
	Label   string    `json:"label,omitempty"` // what people know it by
	Updated time.Time `json:"updated,omitzero"`

	Usage         winnow.Usage `json:"usage,omitzero"`          // usage of the last run, without cached tokens
	Total         int          `json:"total,omitempty"`         // tokens in the context, as far as known
	ContextTokens int          `json:"contextTokens,omitempty"` // the window
	Compactions   int          `json:"compactions,omitempty"`
	FlushedAt     int          `json:"flushedAt,omitempty"` // compactions before the last memory flush

	Entry []byte `json:"-"` // the whole entry, as it stands there
}

// ErrIndex: a file is not a sessions.json.
var ErrIndex = errors.New("transcript: not a sessions.json of OpenClaw: want an object of sessions by key")

// ParseIndex reads a sessions.json: a list of sessions with their counts. An entry without a session is left out. data
// must not be changed afterwards.
func ParseIndex(data []byte) ([]Listed, error) {
	if data = trimLine(data); len(data) == 0 || data[0] != '{' || !json.Valid(data) {
		return nil, ErrIndex
	}
	var out []Listed
	ok := true
	jsontext.Members(data, func(key string, value []byte) {
		var m members
		m.read(value)
		if value[0] != '{' {
			ok = false
			return
		}
		if l := listed(jsontext.Text([]byte(`"`+key+`"`)), m); l.ID != "" {
			l.Entry = value
			out = append(out, l)
		}
	})
	if !ok {
		return nil, ErrIndex
	}
	return out, nil
}

func listed(key string, m members) Listed {
	l := Listed{
		Key: key, ID: m.text("sessionId"), File: m.text("sessionFile"), Updated: readMillis(m.get("updatedAt")),
		Total: m.number("totalTokens"), ContextTokens: m.number("contextTokens"),
		Compactions: m.number("compactionCount"),
		FlushedAt:   m.number("memoryFlushCompactionCount"),
	}
	l.Usage = winnow.Usage{Input: m.number("inputTokens"), Output: m.number("outputTokens")}
	origin := m.object("origin")
	for _, label := range []string{m.text("label"), m.text("displayName"), m.text("subject"), origin.text("label")} {
		if l.Label == "" {
			l.Label = label
		}
	}
	return l
}

// Path returns the path of the transcript, beside the index in dir. It ignores other directories that the index may
// name.
func (l *Listed) Path(dir string) string {
	name := l.File[strings.LastIndexAny(l.File, `/\`)+1:]
	if name == "" || name == "." || name == ".." {
		name = l.ID[strings.LastIndexAny(l.ID, `/\`)+1:] + ".jsonl"
	}
	return filepath.Join(dir, name)
}
