// Package jsonl reads and writes logs: lines, the entries in them, and the history that a branch of entries makes.
package jsonl

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/entry"
)

// A log is lines of JSON, each with a checksum as its last member:
//
//	{"seq":17,"id":"e17","parentId":"e16","type":"message","time":"…",…,"crc":"1f2e3d4c"}
//
// Lines are written in one form and read in any: lines that a person edited by hand count too.

const (
	FormatVersion = 1

	MaxBatch = 1 << 20  // how many entries one append may have
	MaxKey   = 1024     // bytes
	maxLine  = 64 << 20 // bytes of a line
	MaxSeq   = 1 << 53  // the largest integer that every JSON reader holds exactly

	crcMember = `,"crc":"`
	crcTail   = len(crcMember) + 8 + len(`"}`)
)

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Line is one line of a log.
type Line struct {
	Head
	Offset int64  // in the log
	Next   int64  // offset after its newline
	Data   []byte // trimmed, without line end; valid until the next line is read
	body   []byte // the members in data between head and checksum; nil: the line is not in our form
	seal   Sealer // nil: sealed content cannot be read
}

// Head is what all entries have in common.
type Head struct {
	Seq    int64
	ID     string
	Parent string // "" in side entries
	Kind   entry.Type
	at     int64    // offset of the parent; -1: the previous line
	Batch  [2]int64 // position in the batch and its length; 0, 0: no batch
	Sealed string   // id of the key that seals the rest; "": not sealed
}

func (h *Head) IsPath() bool { return h.Parent != "" }

// Number returns the highest number that h uses up; new entries get higher ones. Ids contain the numbers of entries,
// and an id from elsewhere may look like one of ours.
func (h *Head) Number() int64 {
	digits, ok := strings.CutPrefix(h.ID, "e")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n > MaxSeq || n < h.Seq {
		return h.Seq
	}
	return n
}

// ParseLine reads the head of a line and checks its checksum. If the line does not count, reason says why. data has no
// line end.
func ParseLine(data []byte) (l Line, reason string) {
	l.Data = data
	if n := len(data) - crcTail; n > 0 && endsInSum(data) {
		if !hasSum(data[:n], string(data[n+len(crcMember):len(data)-2])) {
			return l, "wrong checksum"
		}
		if l.Head.parse(&l, data[:n]) {
			return l, ""
		}
	}
	return l, l.parseAny()
}

// endsInSum reports whether the last member of a line is a checksum.
func endsInSum(data []byte) bool {
	tail := data[len(data)-crcTail:]
	return string(tail[:len(crcMember)]) == crcMember && string(tail[crcTail-2:]) == `"}`
}

// hasSum reports whether sum is the checksum of a text.
func hasSum(text []byte, sum string) bool {
	want, err := strconv.ParseUint(sum, 16, 32)
	return err == nil && crc32.Checksum(text, Castagnoli) == uint32(want)
}

// parse reads a head in the form that appendHead writes. text is the line up to its checksum.
func (h *Head) parse(l *Line, text []byte) bool {
	p := headParser{text: text}
	p.literal(`{"seq":`)
	h.Seq = p.number()
	p.literal(`,"id":`)
	h.ID = string(p.quoted())
	if p.has(`,"parentId":`) {
		h.Parent = string(p.quoted())
	}
	p.literal(`,"type":`)
	h.Kind = entry.Type(p.quoted())
	p.literal(`,"time":`)
	p.quoted()
	if h.at = -1; p.has(`,"at":`) {
		h.at = p.number()
	}
	if p.has(`,"batch":[`) {
		h.Batch[0] = p.number()
		p.literal(`,`)
		h.Batch[1] = p.number()
		p.literal(`]`)
	}
	if p.has(`,"sealed":`) {
		h.Sealed = string(p.quoted())
	}
	members, isMore := bytes.CutPrefix(p.text, []byte(","))
	if p.bad || !h.isValid() || !isMore && len(members) > 0 {
		*h = Head{}
		return false
	}
	l.body = members
	return true
}

func (h *Head) isValid() bool {
	hasBatch := h.Batch == [2]int64{} || h.Batch[0] >= 1 && h.Batch[0] <= h.Batch[1] && h.Batch[1] <= MaxBatch
	return h.Seq > 0 && h.Seq <= MaxSeq && h.ID != "" && h.Kind != "" && hasBatch
}

// headParser consumes text piece by piece. The first piece that is missing makes it bad.
type headParser struct {
	text []byte
	bad  bool
}

func (p *headParser) has(s string) bool {
	if p.bad || len(p.text) < len(s) || string(p.text[:len(s)]) != s {
		return false
	}
	p.text = p.text[len(s):]
	return true
}

func (p *headParser) literal(s string) { p.bad = !p.has(s) }

func (p *headParser) number() int64 {
	n, i := int64(0), 0
	for i < len(p.text) && i < 18 && '0' <= p.text[i] && p.text[i] <= '9' {
		n = n*10 + int64(p.text[i]-'0')
		i++
	}
	p.bad = p.bad || i == 0
	p.text = p.text[i:]
	return n
}

// quoted consumes a string without escapes and returns it as a slice of the text.
func (p *headParser) quoted() []byte {
	p.literal(`"`)
	s, rest, ok := bytes.Cut(p.text, []byte(`"`))
	p.bad = p.bad || !ok || bytes.IndexByte(s, '\\') >= 0
	p.text = rest
	return s
}

// parseAny reads the head of any line of JSON.
func (l *Line) parseAny() (reason string) {
	var h struct {
		Seq      int64      `json:"seq"`
		ID       string     `json:"id"`
		ParentID string     `json:"parentId"`
		Type     entry.Type `json:"type"`
		At       *int64     `json:"at"`
		Batch    []int64    `json:"batch"`
		Sealed   string     `json:"sealed"`
		CRC      *string    `json:"crc"`
	}
	if err := json.Unmarshal(l.Data, &h); err != nil {
		return "no JSON object"
	}
	if n := bytes.LastIndex(l.Data, []byte(crcMember)); h.CRC != nil && (n < 0 || !hasSum(l.Data[:n], *h.CRC)) {
		return "wrong checksum"
	}
	l.Head = Head{Seq: h.Seq, ID: h.ID, Parent: h.ParentID, Kind: h.Type, at: -1, Sealed: h.Sealed}
	if h.At != nil {
		l.at = *h.At
	}
	if len(h.Batch) == 2 {
		l.Batch = [2]int64(h.Batch)
	}
	if !l.isValid() {
		return "no entry: seq, id or type is missing, or the batch is wrong"
	}
	return ""
}

// appendHead appends the head of an entry, without the closing brace.
func appendHead(b []byte, e *entry.Entry) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = appendString(append(b, `,"id":`...), e.ID)
	if e.ParentID != "" {
		b = appendString(append(b, `,"parentId":`...), e.ParentID)
	}
	b = appendString(append(b, `,"type":`...), string(e.Type))
	if !e.Time.IsZero() { // a line that a person wrote may have none
		b = e.Time.UTC().AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano)
		b = append(b, '"')
	}
	if e.At != nil {
		b = strconv.AppendInt(append(b, `,"at":`...), *e.At, 10)
	}
	if e.Batch != [2]int64{} {
		b = strconv.AppendInt(append(b, `,"batch":[`...), e.Batch[0], 10)
		b = strconv.AppendInt(append(b, ','), e.Batch[1], 10)
		b = append(b, ']')
	}
	return b
}

// appendKey completes the head of a sealed entry.
func appendKey(b []byte, key string) []byte { return appendString(append(b, `,"sealed":`...), key) }

// appendString appends s as JSON. Most strings of heads need no escape.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			q, _ := json.Marshal(s) // a string always encodes
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendSum closes the line that begins at b[start].
func appendSum(b []byte, start int) []byte {
	sum := binary.BigEndian.AppendUint32(make([]byte, 0, 4), crc32.Checksum(b[start:], Castagnoli))
	b = hex.AppendEncode(append(b, crcMember...), sum)
	return append(b, '"', '}', '\n')
}

// TrimLine removes what readers skip around a line: NULs (a hole that a power loss left), a byte order mark, the CR of
// CRLF. It returns how many bytes it removed at the front.
func TrimLine(data []byte) (trimmed []byte, front int, hasNUL bool) {
	trimmed = bytes.TrimPrefix(bytes.TrimLeft(data, "\x00"), []byte("\ufeff"))
	front = len(data) - len(trimmed)
	trimmed = bytes.TrimRight(trimmed, "\x00\r")
	hasNUL = len(data) > 0 && data[0] == 0 || bytes.IndexByte(data[front+len(trimmed):], 0) >= 0
	return trimmed, front, hasNUL
}

// IsOnBranch reports whether entries of the type are on a branch.
func IsOnBranch(t entry.Type) bool {
	switch t {
	case entry.TypeSession, entry.TypeLeaf, entry.TypeLabel, entry.TypeInfo, entry.TypeUsage, entry.TypeErased,
		entry.TypeFlush, entry.TypeStatus:
		return false
	}
	return true
}
