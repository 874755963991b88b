package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/entry"
)

// PiWriter writes a session as a file of pi, version 3, which OpenClaw reads too. Content that pi has no form for goes
// into members and entries that pi ignores, so that reading the file gives the same session again, except for the
// manager's state and the store's counts, which are not written.
type PiWriter struct {
	w       *bufio.Writer
	err     error
	header  *entry.Entry      // nil once it is written
	parents map[string]string // parents of entries that are not written, and of those beside the branch
	root    string
	leaf    string
}

// NewPiWriter returns a writer to w.
func NewPiWriter(w io.Writer) *PiWriter {
	return &PiWriter{w: bufio.NewWriter(w), parents: map[string]string{}}
}

// Write writes an entry. Entries come in the order of [session.Store.Entries], the header first.
func (p *PiWriter) Write(e *entry.Entry) error {
	switch {
	case e.Type == entry.TypeSession:
		p.header, p.root = e, e.ID
		p.leaf = e.ID
	case e.Type == entry.TypeState, e.Type == entry.TypeStatus:
		p.parents[e.ID] = p.written(e.ParentID)
	default:
		p.writeHeader(e)
		p.entry(e)
	}
	return p.err
}

// Close writes the rest. It does not close the underlying writer.
func (p *PiWriter) Close() error {
	p.writeHeader(&entry.Entry{})
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}

// written returns the id that stands for id in the file.
func (p *PiWriter) written(id string) string {
	if parent, ok := p.parents[id]; ok {
		return parent
	}
	return id
}

// piHeader is the first line.
type piHeader struct {
	Type      string    `json:"type"`
	Version   int       `json:"version"`
	ID        string    `json:"id"`
	Timestamp string    `json:"timestamp"`
	CWD       string    `json:"cwd"`
	Winnow    piSession `json:"winnow"`
}

// piSession is what pi does not know about a session.
type piSession struct {
	Key  string      `json:"key"`
	Time time.Time   `json:"time,omitzero"`
	From *entry.From `json:"from,omitempty"`
}

// writeHeader writes the first line. What the session's original program said about itself may be in the next entry.
func (p *PiWriter) writeHeader(next *entry.Entry) {
	if p.header == nil {
		return
	}
	h := piHeader{Type: "session", Version: 3, Timestamp: piTime(p.header.Time)}
	h.Winnow = piSession{Key: p.header.Key, Time: p.header.Time.UTC(), From: p.header.From}
	var o Origin
	if next.Type == entry.TypeCustom && next.Name == originName {
		_ = json.Unmarshal(next.Data, &o) // unreadable content is not used
	}
	if h.ID, h.CWD = o.ID, o.CWD; h.ID == "" {
		sum := sha256.Sum256([]byte(p.header.Key))
		h.ID = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	}
	p.header = nil
	text, err := marshal(h)
	p.line(text, err)
}

// piTime writes a time as pi does, in milliseconds.
func piTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func (p *PiWriter) line(text []byte, err error) {
	if p.err == nil {
		p.err = err
	}
	if p.err == nil {
		_, p.err = p.w.Write(append(text, '\n'))
	}
}

// entry writes a line. If the line says less than e, an extra member holds the rest.
func (p *PiWriter) entry(e *entry.Entry) {
	parent := p.written(e.ParentID)
	switch {
	case e.Type == entry.TypeLeaf:
		parent = p.written(e.Target)
		p.leaf, p.parents[e.ID] = parent, parent
	case e.ParentID == "":
		parent = p.leaf
		p.parents[e.ID] = parent
	default:
		p.leaf = e.ID
	}
	line, own, err := p.lineOf(e, parent)
	if err != nil {
		p.line(nil, fmt.Errorf("transcript: entry %s: %w", e.ID, err))
		return
	}
	if len(own) > 0 {
		line = append(line, member{winnowMember, own.append(nil)})
	}
	p.line(line.append(nil), nil)
}

// lineOf returns the members of a line, and what they do not say about e.
func (p *PiWriter) lineOf(e *entry.Entry, parent string) (line, own members, err error) {
	for _, typ := range []string{piTypeOf(e), piCustom} {
		line = members{quoted("type", typ), quoted("id", e.ID)}
		if parent == p.root || parent == "" {
			line = append(line, member{"parentId", []byte("null")})
		} else {
			line = append(line, quoted("parentId", parent))
		}
		line = append(line, quoted("timestamp", piTime(e.Time)))
		body, err := piBody(e, typ)
		if err != nil {
			return nil, nil, err
		}
		line = line.and(body)
		if back := readPiLine(line); back.entry.Type == e.Type {
			own, err = difference(back, e)
			return line, own, err
		} // it would be read as another entry: a host may choose any name for its data
	}
	return nil, nil, errors.New("it cannot be written")
}

// piTypeOf returns the type of an entry in pi.
func piTypeOf(e *entry.Entry) string {
	switch e.Type {
	case entry.TypeMessage:
		if e.Message != nil {
			return piMessage
		}
	case entry.TypeCustomMessage:
		if e.Message != nil {
			return piCustomMessage
		}
	case entry.TypeCompaction:
		if !e.Degraded {
			return piCompaction
		}
	case entry.TypeBranchSummary:
		return piBranchSummary
	case entry.TypeLabel:
		return piLabel
	case entry.TypeEdit:
		return piEdit
	case entry.TypeUsage:
		return piUsage
	case entry.TypeInfo:
		if e.Info != nil && e.Info.Title != nil {
			return piInfo
		}
	case entry.TypeCustom:
		if typ, ok := strings.CutPrefix(e.Name, string(Pi)+"."); ok && isPiObject(e) {
			return typ
		}
	}
	return piCustom
}

// isPiObject reports whether e is a line of pi that was carried.
func isPiObject(e *entry.Entry) bool {
	return e.ParentID != "" && len(e.Data) > 0 && e.Data[0] == '{'
}

// piBody returns the members of a line after its head.
func piBody(e *entry.Entry, typ string) (members, error) {
	x := extrasOf(e.Source)
	var body members
	switch {
	case typ == piMessage && e.Type == entry.TypeMessage:
		if e.Model != "" {
			x.message = append(x.message, quoted("model", e.Model))
		}
		m, err := piMessageOf(e.Message, &x)
		body = members{{"message", m.append(nil)}}
		if err != nil {
			return nil, err
		}
	case typ == piCustomMessage:
		content, err := piContent(e.Message.Parts, x)
		if err != nil {
			return nil, err
		}
		display := []byte(strconv.FormatBool(!e.Hidden))
		body = members{quoted("customType", e.Name), {"content", content}, {"display", display}}
	case typ == piCompaction:
		kept := e.ID // nothing
		if e.FirstKept != nil {
			kept = e.FirstKept.ID
		}
		tokens := strconv.AppendInt(nil, int64(e.TokensBefore), 10)
		body = members{quoted("summary", e.Summary), quoted("firstKeptEntryId", kept), {"tokensBefore", tokens}}
	case typ == piBranchSummary:
		body = members{quoted("fromId", e.Target), quoted("summary", e.Summary)}
	case typ == piLabel:
		body = members{quoted("targetId", e.Target)}
		if e.Label != "" {
			body = append(body, quoted("label", e.Label))
		}
	case typ == piInfo:
		body = members{quoted("name", *e.Info.Title)}
	case typ == piEdit:
		return piEditBody(e)
	case typ == piUsage:
		body = members{quoted("kind", "other"), {"usage", piUsageOf(e.Usage, nil)}}
	case typ == piCustom:
		return piCustomBody(e)
	default:
		body.read(e.Data)
		return body.without(piHead...), nil
	}
	return body.and(x.line), nil
}

func piEditBody(e *entry.Entry) (members, error) {
	body := members{quoted("targetId", e.Target), {"replacement", []byte("null")}}
	if e.Message == nil || e.Omit {
		return body, nil
	}
	var x extras
	m, err := piMessageOf(e.Message, &x)
	body[1].value = m.append(nil)
	return body, err
}

// piCustomBody returns the members for data of a host, or for an entry that pi has no form for.
func piCustomBody(e *entry.Entry) (members, error) {
	if e.Type == entry.TypeCustom && !strings.HasPrefix(e.Name, winnowPrefix) {
		body := members{quoted("customType", e.Name)}
		if e.Data != nil {
			body = append(body, member{"data", e.Data})
		}
		x := extrasOf(e.Source)
		return body.and(x.line), nil
	}
	rest := *e
	rest.Seq, rest.ID, rest.ParentID, rest.Time, rest.At, rest.Batch = 0, "", "", time.Time{}, nil, [2]int64{}
	data, err := marshal(&rest)
	return members{quoted("customType", winnowPrefix+string(e.Type)), {"data", data}}, err
}

// difference returns what a line that was read back does not say about e.
func difference(back piLine, e *entry.Entry) (members, error) {
	var own members
	if beside := e.ParentID == ""; beside && !back.beside && e.Type != entry.TypeLeaf {
		own = append(own, member{"beside", []byte("true")})
	}
	want, err := brought(e)
	if err != nil {
		return nil, err
	}
	got, err := brought(back.entry)
	if err != nil {
		return nil, err
	}
	wantMessage, gotMessage := want.get("message"), got.get("message")
	if wantMessage != nil && gotMessage != nil {
		var a, b members
		a.read(wantMessage)
		b.read(gotMessage)
		if change := changes(b, a); len(change) > 0 {
			own = append(own, member{"message", change.append(nil)})
		}
		want, got = want.withoutKeys("message"), got.withoutKeys("message")
	}
	return append(own, changes(got, want)...), nil
}

// brought returns the members of e that a file of pi has to preserve. Numbers and offsets belong to one log.
func brought(e *entry.Entry) (members, error) {
	c := *e
	c.Keep, c.FirstKept = nil, bare(e.FirstKept)
	for i := range e.Keep {
		c.Keep = append(c.Keep, *bare(&e.Keep[i]))
	}
	text, err := marshal(&c)
	var m members
	m.read(text)
	return m.withoutKeys("seq", "parentId", "at", "batch"), err
}

// bare returns a reference without offsets.
func bare(r *entry.Ref) *entry.Ref {
	if r == nil {
		return nil
	}
	return &entry.Ref{ID: r.ID, By: bare(r.By)}
}

// changes returns the members of want that differ in got, and a null for those that want lacks.
func changes(got, want members) (out members) {
	for _, x := range want {
		if !bytes.Equal(got.get(x.key), want.get(x.key)) {
			out = append(out, x)
		}
	}
	for _, x := range got {
		if got.has(x.key) && !want.has(x.key) {
			out = append(out, member{x.key, []byte("null")})
		}
	}
	return out
}

// marshal returns v as JSON without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
