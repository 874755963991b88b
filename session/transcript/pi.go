package transcript

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

// A file of pi is a tree, like a log of package session:
//
//	{"type":"session","version":3,"id":"…","timestamp":"…","cwd":"…"}
//	{"type":"message","id":"1a2b3c4d","parentId":null,"timestamp":"…","message":{"role":"user","content":…}}
//
// Version 2 has another name for the role of a host's messages. Version 1 has no ids: its lines follow one another, and
// a compaction counts lines. Labels and names are part of the tree in pi, and beside it here.

const (
	piMessage       = "message"
	piCustom        = "custom"
	piCustomMessage = "custom_message"
	piCompaction    = "compaction"
	piBranchSummary = "branch_summary"
	piLabel         = "label"
	piInfo          = "session_info"
	piEdit          = "context_edit"
	piUsage         = "usage"

	// winnowPrefix begins the names of custom entries that hold an entry which pi has no form for.
	winnowPrefix = "winnow."
	// winnowMember is the member for everything that a line of pi cannot say about an entry.
	winnowMember = "winnow"
)

// piHead are the members that all lines have.
var piHead = []string{"type", "id", "parentId", "timestamp", winnowMember}

type piReader struct {
	*builder
	line  members
	first bool     // the header is still to come
	v1    bool     // lines have no ids
	ids   []string // version 1: of all lines
}

func readPi(b *builder, data []byte) {
	r := &piReader{builder: b, first: true}
	b.lines(data, r.read)
}

func (r *piReader) read(raw []byte) {
	r.line.read(raw)
	typ := r.line.text("type")
	if typ == "session" && r.first {
		r.header()
		r.ids = append(r.ids, "")
		return
	}
	r.first = false
	x := readPiLine(r.line)
	switch {
	case !x.known:
		r.t.Report.Unknown[kindName(typ)]++
	case x.entry.Type == entry.TypeCustom:
		r.t.Report.Carried[kindName(typ)]++
	}
	parent := r.line.text("parentId")
	if r.v1 || x.entry.ID == "" && !r.line.has("parentId") {
		if parent = r.leaf; parent == rootID {
			parent = ""
		}
		r.firstKeptIndex(x.entry)
	}
	if x.entry.ID != "" && r.taken[x.entry.ID] && r.resolve(x.entry.ID) != "" {
		r.t.Report.Double++
	}
	before := len(r.t.Entries)
	r.add(x, r.parent(parent))
	id := ""
	if e := r.t.Entries[len(r.t.Entries)-1]; len(r.t.Entries) > before && e.ParentID != "" {
		id = e.ID
	}
	r.ids = append(r.ids, id)
}

// header reads what the file says about itself. Old headers also name a model.
func (r *piReader) header() {
	r.first = false
	o := &r.t.Session
	o.ID, o.CWD, o.Version = r.line.text("id"), r.line.text("cwd"), string(r.line.get("version"))
	r.v1 = o.Version == "" || o.Version == "1"
	at := r.line.text("timestamp")
	h := r.t.Entries[0]
	h.Time = parseTime(at)
	own := r.line.object(winnowMember)
	if t := parseTime(own.text("time")); !t.IsZero() {
		h.Time = t
	}
	if own.has("key") { // the note of an exported winnow session, if any, is an entry
		o.Program = string(Winnow)
		if raw := own.get("from"); raw != nil {
			_ = json.Unmarshal(raw, &h.From) // unreadable content is left out
		}
		return
	}
	r.note(at, r.line.without("type", "version", "id", "timestamp", "cwd", "program"))
}

// add adds the content of a line in its place. Entries that stand beside the branch here may be on it in pi.
func (r *piReader) add(x piLine, parent string) {
	e := x.entry
	switch {
	case e.Type == entry.TypeLeaf:
		r.standIn(e.ID, parent)
		e.Target, r.leaf = parent, parent
		r.beside(e)
	case x.beside:
		r.standIn(e.ID, parent)
		r.beside(e)
	default:
		r.refer(e)
		r.path(e, parent)
	}
}

// refer resolves references to entries.
func (r *piReader) refer(e *entry.Entry) {
	if e.FirstKept != nil {
		e.FirstKept = r.firstKept(e.FirstKept.ID)
	}
	keep := e.Keep
	e.Keep = nil
	for _, ref := range keep {
		if id := r.resolve(ref.ID); id != "" && id != rootID {
			ref.ID = id
			e.Keep = append(e.Keep, ref)
		}
	}
}

// firstKeptIndex reads the first line that a compaction of version 1 keeps: an index that counts all lines, including
// the header.
func (r *piReader) firstKeptIndex(e *entry.Entry) {
	raw := r.line.get("firstKeptEntryIndex")
	n, err := strconv.Atoi(string(raw))
	if e.Type != entry.TypeCompaction || err != nil || n < 0 {
		return
	}
	for _, id := range r.ids[min(n, len(r.ids)):] {
		if id != "" {
			e.FirstKept = &entry.Ref{ID: id}
			return
		}
	}
}

// piLine is the content of a line.
type piLine struct {
	entry  *entry.Entry // its references are not resolved
	beside bool         // it is not on the branch
	known  bool
}

// readPiLine reads any line except the header. An unknown line becomes a custom entry.
func readPiLine(line members) piLine {
	x := piLine{entry: &entry.Entry{ID: line.text("id"), Time: parseTime(line.text("timestamp"))}, known: true}
	own := line.object(winnowMember)
	x.read(line)
	x.beside = x.beside || own.isTrue("beside")
	patch(x.entry, own)
	return x
}

func (x *piLine) read(line members) {
	e := x.entry
	switch typ := line.text("type"); typ {
	case piMessage:
		x.message(line)
	case piCustomMessage:
		e.Type = entry.TypeCustomMessage
		customMessage(e, line, line.without(slices.Concat(piHead, []string{"customType", "content", "display"})...))
	case piCustom:
		x.custom(line)
	case piCompaction:
		e.Type, e.Summary, e.TokensBefore = entry.TypeCompaction, line.text("summary"), line.number("tokensBefore")
		if id := line.text("firstKeptEntryId"); id != "" && id != e.ID {
			e.FirstKept = &entry.Ref{ID: id}
		}
		keepLine(e, line, "summary", "tokensBefore", "firstKeptEntryId", "firstKeptEntryIndex")
	case piBranchSummary:
		e.Type, e.Summary, e.Target = entry.TypeBranchSummary, line.text("summary"), line.text("fromId")
		keepLine(e, line, "summary", "fromId")
	case piLabel:
		e.Type, e.Target, e.Label, x.beside = entry.TypeLabel, line.text("targetId"), line.text("label"), true
		keepLine(e, line, "targetId", "label")
	case piInfo:
		title := line.text("name")
		e.Type, e.Info, x.beside = entry.TypeInfo, &session.Info{Title: &title}, true
		keepLine(e, line, "name")
	case piEdit:
		e.Type, e.Target = entry.TypeEdit, line.text("targetId")
		if replacement := line.object("replacement"); len(replacement) > 0 {
			var extra extras
			m := readPiMessage(replacement, &extra)
			e.Message = &m
		}
		e.Omit = e.Message == nil
		keepLine(e, line, "targetId", "replacement")
	case piUsage:
		e.Type, e.Usage, x.beside = entry.TypeUsage, readPiUsage(line.object("usage")), true
		keepLine(e, line)
	default:
		x.known = typ == "model_change" || typ == "thinking_level_change"
		e.Type, e.Name = entry.TypeCustom, "pi."+kindName(typ)
		if e.Data = line.without(piHead...).append(nil); kindName(typ) != typ {
			e.Data = line.without("id", "parentId", "timestamp", winnowMember).append(nil)
		}
	}
}

// keepLine keeps the unknown members of a line.
func keepLine(e *entry.Entry, line members, known ...string) {
	x := extras{line: line.without(slices.Concat(piHead, known)...)}
	e.Source = x.source()
}

// custom reads data of a host, or an entry that pi has no form for.
func (x *piLine) custom(line members) {
	e := x.entry
	name := line.text("customType")
	if typ, ok := strings.CutPrefix(name, winnowPrefix); ok && isWritten(entry.Type(typ)) {
		var own entry.Entry
		if json.Unmarshal(line.get("data"), &own) == nil && string(own.Type) == typ {
			own.ID, own.Time = e.ID, e.Time
			*e = own
			x.beside = isBeside(e.Type)
			return
		}
	}
	e.Type, e.Name, e.Data = entry.TypeCustom, name, slices.Clone(line.get("data"))
	keepLine(e, line, "customType", "data")
}

// isWritten reports whether a [PiWriter] writes entries of a type in pi's own form.
func isWritten(t entry.Type) bool {
	switch t {
	case "", entry.TypeSession, entry.TypeState, entry.TypeStatus:
		return false
	}
	return true
}

// isBeside reports whether entries of a type are never on a branch.
func isBeside(t entry.Type) bool {
	switch t {
	case entry.TypeLabel, entry.TypeInfo, entry.TypeUsage, entry.TypeFlush:
		return true
	}
	return false
}

// patch sets the members of e that a line of pi cannot hold. The member message of own has members of a message.
func patch(e *entry.Entry, own members) {
	own = own.withoutKeys("beside", "seq", "id", "parentId", "type", "at", "batch")
	if len(own) == 0 {
		return
	}
	text, err := json.Marshal(e)
	if err != nil {
		return
	}
	var now members
	now.read(text)
	if m := own.get("message"); m != nil && now.has("message") {
		message, change := now.object("message"), own.object("message")
		own = append(own.withoutKeys("message"), member{"message", message.with(change).append(nil)})
	}
	var changed entry.Entry
	if json.Unmarshal(now.with(own).append(nil), &changed) == nil {
		*e = changed
	}
}
