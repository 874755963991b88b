package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

// The catalog of a directory is a file beside the logs, derived from them:
//
//	{"catalog":"<random>","store":"<id>","boot":"<id>","crc":"…"}
//	{"key":"a","log":"…","file":"…","bytes":1,"disk":1,…,"status":{…},"crc":"…"}   its state
//	{"begin":0,"crc":"…"}                                                         changes follow
//	{"whole":true,"crc":"…"}                                                      nothing of the old one is missing
//	{"look":"b","crc":"…"}                                                        is about to be written to
//	{"key":"b",…,"open":true,"status":{…},"crc":"…"}                              was looked into
//	{"key":"b",…,"status":{…},"crc":"…"}                                          was closed
//	{"deleted":"a","crc":"…"}
//
// The newest line of a session counts. While it says that the session is open, readers look into the log.

// catalogLine is one line of the catalog.
type catalogLine struct {
	// The header.
	Catalog  string `json:"catalog,omitempty"`  // id of this catalog; positions are valid only in it
	Store    string `json:"store,omitempty"`    // the id of the store
	Boot     string `json:"boot,omitempty"`     // the boot of the system under which it is kept
	Written  string `json:"written,omitempty"`  // id of this file; a rewrite changes it, but not Catalog
	After    string `json:"after,omitempty"`    // the file that this one replaced
	Building bool   `json:"building,omitempty"` // some logs are still missing

	Begin   *int64 `json:"begin,omitempty"`   // position of the lines that follow
	Dropped int64  `json:"dropped,omitempty"` // with begin: deletions before this position are no longer in it
	Whole   bool   `json:"whole,omitempty"`   // everything from the previous file is in this one

	Look    string `json:"look,omitempty"`
	By      string `json:"by,omitempty"` // with look: signature of the writing store
	Deleted string `json:"deleted,omitempty"`

	// The state of a session. The order is that in which parseRow reads.
	Key      string     `json:"key,omitempty"`
	Log      string     `json:"log,omitempty"`
	File     string     `json:"file,omitempty"`  // of the log, or of its archive
	Bytes    int64      `json:"bytes,omitempty"` // counted bytes of the log
	Disk     int64      `json:"disk,omitempty"`  // length of the file
	Updated  *time.Time `json:"updated,omitempty"`
	Pinned   bool       `json:"pinned,omitempty"`
	Archived bool       `json:"archived,omitempty"`
	Open     bool       `json:"open,omitempty"` // with deleted: the deletion may be unfinished
	At       int64      `json:"at,omitempty"`   // position of the line that this one stands for

	// position up to which the writer had read the catalog when it looked
	Seen   int64           `json:"seen,omitempty"`
	Status json.RawMessage `json:"status,omitempty"`
}

// statusLine returns the line for the status of a session.
func statusLine(st *Status, file string, disk int64, open bool) (*catalogLine, error) {
	text, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	l := &catalogLine{Key: st.Key, Log: st.Log, File: file, Bytes: st.Bytes, Disk: disk, Open: open, Status: text}
	if !st.Updated.IsZero() {
		l.Updated = &st.Updated
	}
	l.Pinned, l.Archived = isSet(st.Info.Pinned), isSet(st.Info.Archived)
	return l, nil
}

func isSet(b *bool) bool { return b != nil && *b }

// append adds the line to text, with its checksum.
func (l *catalogLine) append(text []byte) ([]byte, error) {
	start := len(text)
	line, err := json.Marshal(l)
	if err != nil {
		return text, err
	}
	return appendSum(append(text, line[:len(line)-1]...), start), nil
}

// parseCatalogLine reads a line without its newline. The result shares memory with data.
func parseCatalogLine(data []byte) (l catalogLine, ok bool) {
	n := len(data) - crcTail
	if n <= 0 || !endsInSum(data) {
		return l, false
	}
	if sum, ok := sumAt(data[n:]); !ok || crc32.Checksum(data[:n], castagnoli) != sum {
		return l, false
	}
	if l.parseRow(data[:n]) {
		return l, true
	}
	l = catalogLine{}
	return l, json.Unmarshal(data, &l) == nil
}

// parseRow reads the line of a session in the form that append writes. text has no checksum.
func (l *catalogLine) parseRow(text []byte) bool {
	p := headParser{text: text}
	p.literal(`{"key":`)
	l.Key = string(p.quoted())
	p.literal(`,"log":`)
	l.Log = string(p.quoted())
	p.literal(`,"file":`)
	l.File = string(p.quoted())
	p.literal(`,"bytes":`)
	l.Bytes = p.number()
	p.literal(`,"disk":`)
	l.Disk = p.number()
	if p.has(`,"updated":`) {
		l.Updated = &time.Time{}
		p.bad = l.Updated.UnmarshalText(p.quoted()) != nil || p.bad
	}
	l.Pinned = p.has(`,"pinned":true`)
	l.Archived = p.has(`,"archived":true`)
	l.Open = p.has(`,"open":true`)
	if p.has(`,"at":`) {
		l.At = p.number()
	}
	if p.has(`,"seen":`) {
		l.Seen = p.number()
	}
	p.literal(`,"status":`)
	l.Status = p.text
	return !p.bad
}

// catalogRow is a session as the catalog knows it.
type catalogRow struct {
	listed
	log     string
	file    string
	bytes   int64
	disk    int64
	at      int64  // position after the newest line with its state
	status  []byte // as JSON: most are never needed
	look    bool   // the log has to be looked into
	said    int64  // position after the newest line in which a writer announced itself
	others  bool   // the writer is not this store
	gone    bool   // the session does not exist, or not yet
	changed time.Time
}

// take updates the row with a line.
func (r *catalogRow) take(l *catalogLine, at int64) {
	r.log, r.file, r.bytes, r.disk, r.status = l.Log, l.File, l.Bytes, l.Disk, l.Status
	r.at, r.look, r.gone = at, l.Open, false
	r.others = r.others && l.Open
	r.updated = time.Time{}
	if l.Updated != nil {
		r.updated = *l.Updated
	}
	r.pinned, r.archived = l.Pinned, l.Archived
}

// line returns the row as a line, for another catalog.
func (r *catalogRow) line() *catalogLine {
	l := &catalogLine{Key: r.key, Log: r.log, File: r.file, Bytes: r.bytes, Disk: r.disk, Open: r.look, At: r.at}
	l.Pinned, l.Archived, l.Status = r.pinned, r.archived, r.status
	if !r.updated.IsZero() {
		l.Updated = &r.updated
	}
	return l
}

func (r *catalogRow) decode() (Status, error) {
	var st Status
	if err := json.Unmarshal(r.status, &st); err != nil {
		return st, fmt.Errorf("session: the catalog has no status of %q: %w", r.key, err)
	}
	if st.Counts.Messages == nil {
		st.Counts = st.Counts.clone()
	}
	return st, nil
}

// rowList is a sorted list of rows.
type rowList struct {
	rows  []*catalogRow
	order Query // only its Order counts
}

func (l *rowList) compare(a, b *catalogRow) int { return l.order.compare(&a.listed, &b.listed) }

func (l *rowList) sort() { slices.SortFunc(l.rows, l.compare) }

func (l *rowList) add(r *catalogRow) {
	i, _ := slices.BinarySearchFunc(l.rows, r, l.compare)
	l.rows = slices.Insert(l.rows, i, r)
}

// remove removes r, which has not changed since it was added.
func (l *rowList) remove(r *catalogRow) {
	if i, ok := slices.BinarySearchFunc(l.rows, r, l.compare); ok {
		l.rows = slices.Delete(l.rows, i, i+1)
	}
}

// from returns the rows after a place, without those that the prefix excludes.
func (l *rowList) from(q *Query, at listed) []*catalogRow {
	rows := l.rows
	i, found := slices.BinarySearchFunc(rows, at, func(r *catalogRow, at listed) int {
		return q.compare(&r.listed, &at)
	})
	if q.After == "" {
		i = 0
	} else if found {
		i++
	}
	rows = rows[i:]
	if q.Order != ByKey || q.Prefix == "" {
		return rows
	}
	i, _ = slices.BinarySearchFunc(rows, q.Prefix, func(r *catalogRow, p string) int { return cmp.Compare(r.key, p) })
	rows = rows[i:]
	// Keys with the prefix stand together: the first key after all of them ends the list.
	i, _ = slices.BinarySearchFunc(rows, q.Prefix, func(r *catalogRow, p string) int {
		if cmp.Compare(r.key[:min(len(r.key), len(p))], p) > 0 {
			return 1
		}
		return -1
	})
	return rows[:i]
}
