package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

const (
	rootID = "root" // of the header

	// originName names the entry beside the branch that keeps what a file says about itself: an [Origin] and other
	// members.
	originName = "transcript.session"

	maxID   = 128      // bytes; all programs use shorter ids
	maxLine = 48 << 20 // bytes of a carried line; with its head it has to fit into a line of a log
)

// builder makes entries from lines.
type builder struct {
	t     *Transcript
	paths map[string]*entry.Entry // entries on a branch
	alias map[string]string       // by id of a line that is not a path entry: the path entry that stands in for it
	after map[string]int          // by the same ids: number of entries at that point
	taken map[string]bool
	leaf  string // the path entry after which the conversation continues
	made  int    // number of ids that were generated
}

func newBuilder(f Format) *builder {
	b := &builder{
		t: &Transcript{Format: f}, paths: map[string]*entry.Entry{}, alias: map[string]string{"": rootID},
		after: map[string]int{}, taken: map[string]bool{"": true, rootID: true}, leaf: rootID,
	}
	b.t.Session.Program = string(f)
	b.t.Report.Carried, b.t.Report.Unknown = map[string]int{}, map[string]int{}
	b.t.Entries = []*entry.Entry{{Type: entry.TypeSession, ID: rootID}}
	return b
}

// lines calls f with each line that is a JSON object; it carries the others.
func (b *builder) lines(data []byte, f func(raw []byte)) {
	r := &b.t.Report
	r.Bytes = int64(len(data))
	for raw := range bytes.Lines(data) {
		if raw = trimLine(raw); len(raw) == 0 {
			continue
		}
		r.Lines++
		switch {
		case raw[0] != '{' || !json.Valid(raw):
			r.Damaged++
			b.carry("damaged", "", raw)
		case len(raw) > maxLine:
			r.Damaged++
		default:
			f(raw)
		}
	}
}

// known carries a line of a known kind that is not part of the conversation.
func (b *builder) known(kind, at string, raw []byte) {
	b.t.Report.Carried[kind]++
	b.carry(kind, at, raw)
}

// unknown carries a line of an unknown kind.
func (b *builder) unknown(kind, at string, raw []byte) {
	b.t.Report.Unknown[kindName(kind)]++
	b.carry(kind, at, raw)
}

// kindName returns a kind in a form that can be shown.
func kindName(kind string) string {
	const most = 40
	kind = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, kind)
	if kind == "" {
		return "?"
	}
	return kind[:min(len(kind), most)]
}

// carry keeps a line beside the branch. A line that is not JSON is kept as a string, in base64 if it is not text.
func (b *builder) carry(kind, at string, raw []byte) {
	if len(raw) > maxLine {
		return
	}
	data := json.RawMessage(raw)
	if !json.Valid(raw) {
		text := string(raw)
		if !utf8.Valid(raw) {
			text = "base64:" + base64.StdEncoding.EncodeToString(raw)
		}
		data = jsontext.Quote(text)
	}
	name := string(b.t.Format) + "." + kindName(kind)
	b.beside(&entry.Entry{Type: entry.TypeCustom, Time: parseTime(at), Name: name, Data: data})
}

// beside adds an entry beside the branch.
func (b *builder) beside(e *entry.Entry) {
	e.ParentID = ""
	if e.ID != "" && !b.claim(&e.ID) {
		e.ID = ""
	}
	b.t.Entries = append(b.t.Entries, e)
}

// standIn lets the children of a line that is not a path entry follow that line's own parent.
func (b *builder) standIn(id, parent string) {
	if id == "" || b.paths[id] != nil {
		return
	}
	b.alias[id], b.after[id] = b.resolve(parent), len(b.t.Entries)
}

// resolve returns the path entry that an id stands for, or "".
func (b *builder) resolve(id string) string {
	if b.paths[id] != nil {
		return id
	}
	return b.alias[id]
}

// parent returns the path entry that a line follows. If its parent is missing, that is the newest one.
func (b *builder) parent(id string) string {
	if p := b.resolve(id); p != "" {
		return p
	}
	b.t.Report.Orphans++
	return b.leaf
}

// path adds an entry after parent, which is a path entry. If the entry has no usable id, it gets one.
func (b *builder) path(e *entry.Entry, parent string) {
	id := e.ID
	if !b.claim(&e.ID) {
		e.ID = b.newID()
	}
	if id != "" && id != e.ID && b.paths[id] == nil {
		b.alias[id] = e.ID
	}
	e.ParentID = parent
	b.paths[e.ID] = e
	b.leaf = e.ID
	b.t.Entries = append(b.t.Entries, e)
}

// claim reserves an id. It returns false if the id cannot be used.
func (b *builder) claim(id *string) bool {
	if b.taken[*id] || len(*id) > maxID || !utf8.ValidString(*id) || looksNumbered(*id) {
		return false
	}
	b.taken[*id] = true
	return true
}

// looksNumbered reports whether id has the store's own form and is so high that the store could not number entries
// after it.
func looksNumbered(id string) bool {
	digits, ok := strings.CutPrefix(id, "e")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err == nil {
		return ok && n > 1<<40
	}
	return len(digits) > 12 && strings.Trim(digits, "0123456789") == ""
}

func (b *builder) newID() string {
	for {
		b.made++
		if id := fmt.Sprintf("%08x", b.made); !b.taken[id] {
			b.taken[id] = true
			return id
		}
	}
}

// firstKept returns the first path entry that a compaction keeps, nil if the id is unknown. If the id names a line that
// is not a path entry, the result is the next one.
func (b *builder) firstKept(id string) *entry.Ref {
	if b.paths[id] != nil {
		return &entry.Ref{ID: id}
	}
	at, ok := b.after[id]
	if !ok {
		if resolved := b.alias[id]; resolved != "" && resolved != rootID {
			return &entry.Ref{ID: resolved}
		}
		return nil
	}
	for _, e := range b.t.Entries[at:] {
		if e.ParentID != "" {
			return &entry.Ref{ID: e.ID}
		}
	}
	return nil
}

// name sets the title.
func (b *builder) name(title, at string) {
	if title = strings.TrimSpace(title); title != "" {
		b.beside(&entry.Entry{Type: entry.TypeInfo, Time: parseTime(at), Info: &session.Info{Title: &title}})
	}
}

// finish returns the transcript.
func (b *builder) finish() *Transcript {
	newest := rootID
	var first time.Time
	for _, e := range b.t.Entries {
		if e.ParentID != "" {
			newest = e.ID
		}
		if e.Type == entry.TypeLeaf {
			newest = e.Target
		}
		if first.IsZero() {
			first = e.Time
		}
	}
	if header := b.t.Entries[0]; header.Time.IsZero() {
		header.Time = first
	}
	if b.leaf != newest {
		b.t.Entries = append(b.t.Entries, b.leafEntry())
	}
	return b.t
}

// leafEntry returns an entry that makes the conversation continue after the leaf.
func (b *builder) leafEntry() *entry.Entry {
	e := &entry.Entry{Type: entry.TypeLeaf, Target: b.leaf}
	if at := b.paths[b.leaf]; at != nil {
		e.Time = at.Time
	}
	return e
}

// note keeps what a file says about itself.
func (b *builder) note(at string, more members) {
	o := b.t.Session
	data, _ := json.Marshal(o) // strings always encode
	var m members
	m.read(data)
	data = append(m, more...).append(nil)
	b.beside(&entry.Entry{Type: entry.TypeCustom, Time: parseTime(at), Name: originName, Data: data})
}

// parseTime parses a time. It returns zero if it cannot.
func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}
