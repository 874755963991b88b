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
//	{"key":"a","log":"…","file":"…","bytes":1,"disk":1,…,"status":{…},"crc":"…"}   as it is
//	{"begin":0,"crc":"…"}                                                         what follows happened since
//	{"whole":true,"crc":"…"}                                                      nothing of the one before is missing
//	{"look":"b","crc":"…"}                                                        is about to be written to
//	{"key":"b",…,"open":true,"status":{…},"crc":"…"}                              was looked into meanwhile
//	{"key":"b",…,"status":{…},"crc":"…"}                                          was closed
//	{"deleted":"a","crc":"…"}
//
// The newest line of a session counts. While that says that the session is open, who wants to know looks into its log.

// catalogLine is one line of the catalog.
type catalogLine struct {
	// The header.
	Catalog  string `json:"catalog,omitempty"`  // this catalog: another one knows nothing of its positions
	Store    string `json:"store,omitempty"`    // the id of the store
	Boot     string `json:"boot,omitempty"`     // the start of the system since which it is kept
	Written  string `json:"written,omitempty"`  // this file: when it is written anew the catalog stays the same
	After    string `json:"after,omitempty"`    // the file that was written anew
	Building bool   `json:"building,omitempty"` // the logs are not all in it yet

	Begin   *int64 `json:"begin,omitempty"`   // position of what follows
	Dropped int64  `json:"dropped,omitempty"` // with begin: deletions before this position are not in it any more
	Whole   bool   `json:"whole,omitempty"`   // all that was said in the catalog before is in this one

	Look    string `json:"look,omitempty"`
	By      string `json:"by,omitempty"` // with look: the store, opened once, that writes
	Deleted string `json:"deleted,omitempty"`

	// A session as it is. The order is that in which parseRow reads.
	Key      string     `json:"key,omitempty"`
	Log      string     `json:"log,omitempty"`
	File     string     `json:"file,omitempty"`  // of the log, or of its archive
	Bytes    int64      `json:"bytes,omitempty"` // of the log that are counted
	Disk     int64      `json:"disk,omitempty"`  // length of the file
	Updated  *time.Time `json:"updated,omitempty"`
	Pinned   bool       `json:"pinned,omitempty"`
	Archived bool       `json:"archived,omitempty"`
	Open     bool       `json:"open,omitempty"` // deleted: the deletion may not have ended
	At       int64      `json:"at,omitempty"`   // position of the line that this one stands for

	// position up to which who says this knew the catalog when he looked
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

// parseCatalogLine reads a line without its newline. What it returns shares memory with data.
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

// parseRow reads the line of a session in the form in which it is written. text has no checksum.
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
	at      int64  // position behind the newest line that says how it is
	status  []byte // as JSON: most are never asked for
	look    bool   // the log has to be looked into
	said    int64  // position behind the newest line that says so for somebody who writes
	others  bool   // because of somebody who does not tell this store when
	gone    bool   // there is no such session, or not yet
	changed time.Time
}

// take makes the row what a line says.
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

// line returns the line that says what the row is, for another catalog.
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

// rowList is rows in an order.
type rowList struct {
	rows  []*catalogRow
	order Query // of which only Order counts
}

func (l *rowList) compare(a, b *catalogRow) int { return l.order.compare(&a.listed, &b.listed) }

func (l *rowList) sort() { slices.SortFunc(l.rows, l.compare) }

func (l *rowList) add(r *catalogRow) {
	i, _ := slices.BinarySearchFunc(l.rows, r, l.compare)
	l.rows = slices.Insert(l.rows, i, r)
}

// remove takes r out, which has not changed since it was added.
func (l *rowList) remove(r *catalogRow) {
	if i, ok := slices.BinarySearchFunc(l.rows, r, l.compare); ok {
		l.rows = slices.Delete(l.rows, i, i+1)
	}
}

// from returns the rows behind a place, but for those that prefix excludes.
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
	// Keys with the prefix stand together: the first that is behind all of them ends the list.
	i, _ = slices.BinarySearchFunc(rows, q.Prefix, func(r *catalogRow, p string) int {
		if cmp.Compare(r.key[:min(len(r.key), len(p))], p) > 0 {
			return 1
		}
		return -1
	})
	return rows[:i]
}
