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

	"github.com/winnowgo/winnow/internal/jsontext"
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
	summed bool   // it ends in its checksum, so it was written as it is
	full   bool   // its entry has totals
	seal   Sealer // nil: sealed content cannot be read
}

// Head is what all entries have in common.
type Head struct {
	Seq    int64
	ID     string
	Parent string // "" in side entries
	Kind   entry.Type
	Time   time.Time
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
	const wrongSum = "wrong checksum"
	l.Data, l.at = data, -1
	sumAt := bytes.LastIndex(data, []byte(crcMember))
	if l.summed = endsInSum(data); l.summed {
		if !hasSum(data[:sumAt], string(data[sumAt+len(crcMember):len(data)-2])) {
			return l, wrongSum
		}
	} else if !json.Valid(data) {
		return l, "no JSON object"
	}
	var sum []byte
	readMembers := func(text []byte) {
		jsontext.Members(text, func(key string, value []byte) {
			if l.member(key, value); key == "crc" {
				sum = value
			}
		})
	}
	// What a store wrote has the head of a message in front of it, which is most of the line. In other lines, and in
	// those of others, the text that is looked for may stand anywhere.
	head, _, isCut := bytes.Cut(data, []byte(`,"message":`))
	if l.summed && isCut {
		readMembers(head)
	}
	if hasHead := l.isValid() && l.IsPath() && l.Kind == entry.TypeMessage; !hasHead {
		readMembers(data)
	}
	if !l.summed && sum != nil && (sumAt < 0 || !hasSum(data[:sumAt], jsontext.Text(sum))) {
		return l, wrongSum
	}
	if !l.isValid() {
		return l, "no entry: seq, id or type is missing, or the batch is wrong"
	}
	return l, ""
}

// endsInSum reports whether the last member of a line is a checksum.
func endsInSum(data []byte) bool {
	n := len(data) - crcTail
	return n > 0 && bytes.HasPrefix(data[n:], []byte(crcMember)) && bytes.HasSuffix(data, []byte(`"}`))
}

// hasSum reports whether sum is the checksum of a text.
func hasSum(text []byte, sum string) bool {
	want, err := strconv.ParseUint(sum, 16, 32)
	return err == nil && crc32.Checksum(text, Castagnoli) == uint32(want)
}

// headNames are the members that make up the head of a line, and its checksum.
var headNames = []string{"seq", "id", "parentId", "type", "time", "at", "batch", "sealed", "crc"}

// member takes what belongs to the head. A value of another type is missing.
func (l *Line) member(key string, value []byte) {
	switch key {
	case "seq":
		l.Seq = numberOf(value)
	case "id":
		l.ID = textOf(value)
	case "parentId":
		l.Parent = textOf(value)
	case "type":
		l.Kind = entry.Type(textOf(value))
	case "time":
		_ = l.Time.UnmarshalJSON(value)
	case "at":
		l.at = numberOf(value)
	case "batch":
		i := 0
		jsontext.Elements(value, func(n []byte) {
			l.Batch[min(i, 1)] = numberOf(n)
			i++
		})
	case "sealed":
		l.Sealed = textOf(value)
	case "full":
		l.full = string(value) != "null"
	}
}

// numberOf returns -1 for what is no whole number.
func numberOf(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// textOf returns the text of a string. It does not keep the line alive.
func textOf(value []byte) string { return strings.Clone(jsontext.Text(value)) }

func (h *Head) isValid() bool {
	hasBatch := h.Batch == [2]int64{} || h.Batch[0] >= 1 && h.Batch[0] <= h.Batch[1] && h.Batch[1] <= MaxBatch
	return h.Seq > 0 && h.Seq <= MaxSeq && h.ID != "" && h.Kind != "" && hasBatch
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
