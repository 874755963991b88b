package session

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// catalogTable is the part of a catalog that was read. A position counts the bytes of its lines, across all rewrites of
// the file.
type catalogTable struct {
	by   string // signature of the reading store
	file files.File
	size int64 // of the file that was read

	id       string // of the catalog
	written  string // of the file
	after    string // of the previous file, if it has the same id
	store    string
	boot     string
	building bool
	whole    bool   // it has everything from the previous file
	verified bool   // it was compared with the files, or made from them
	last     string // the checksum of the last line that was read
	begun    bool   // the line that ends the first part was read
	begin    int64  // position after that line
	shift    int64  // position minus offset in the file
	dropped  int64

	rows    map[string]*catalogRow
	looks   map[string]*catalogRow
	byKey   rowList
	newest  rowList
	ordered bool // byKey and newest are sorted
	changes []catalogChange

	outdated bool // an outdated line was read: a look has to find the current state
}

// catalogChange is a change, and the position after its line.
type catalogChange struct {
	Change
	at int64
}

func newCatalogTable(file files.File, by string) *catalogTable {
	t := &catalogTable{by: by, file: file, rows: map[string]*catalogRow{}, looks: map[string]*catalogRow{}}
	t.newest.order.Order = Newest
	return t
}

// end returns the position after everything that was read.
func (t *catalogTable) end() int64 { return t.size + t.shift }

// read takes the lines that were written since the last call. It returns false if one is damaged.
func (t *catalogTable) read() (ok bool, err error) {
	size, err := t.file.Size()
	if err != nil || size == t.size {
		return true, err
	}
	if size < t.size {
		return false, nil
	}
	before := int64(len(t.last)) // the former last line must still be there
	text := make([]byte, before+size-t.size)
	if n, err := t.file.ReadAt(text, t.size-before); n < len(text) {
		if err == io.EOF {
			return false, nil
		}
		return false, err
	}
	if string(text[:before]) != t.last {
		return false, nil
	}
	text = text[before:]
	whole := bytes.LastIndexByte(text, '\n') + 1 // somebody is writing what follows
	if whole == 0 {
		return true, nil
	}
	offset := t.size
	for _, piece := range parseCatalog(text[:whole]) {
		for i := range piece {
			p := &piece[i]
			offset += int64(p.length)
			if !p.ok || !t.take(&p.line, offset) {
				return false, nil
			}
		}
	}
	t.size, t.last = offset, string(text[whole-min(whole, sumLength):whole])
	return true, nil
}

type parsedLine struct {
	line   catalogLine
	length int
	ok     bool
}

// parseCatalog parses lines: many of them on all processors.
func parseCatalog(text []byte) [][]parsedLine {
	n := 1
	if len(text) > 1<<20 {
		n = runtime.GOMAXPROCS(0)
	}
	pieces := make([][]parsedLine, n)
	var wg sync.WaitGroup
	for i := range n {
		if len(text) == 0 {
			break
		}
		end := len(text) / (n - i)
		end += bytes.IndexByte(text[max(end-1, 0):], '\n')
		piece := text[:min(end, len(text))]
		text = text[len(piece):]
		wg.Go(func() {
			lines := make([]parsedLine, 0, len(piece)/256)
			for len(piece) > 0 {
				n := bytes.IndexByte(piece, '\n') + 1
				l, ok := parseCatalogLine(piece[:n-1])
				lines = append(lines, parsedLine{l, n, ok})
				piece = piece[n:]
			}
			pieces[i] = lines
		})
	}
	wg.Wait()
	return pieces
}

// take takes a line that ends at offset. It returns false for a line that does not belong here.
func (t *catalogTable) take(l *catalogLine, offset int64) bool {
	isFirst := t.id == ""
	switch {
	case l.Catalog != "":
		t.id, t.store, t.boot, t.building = l.Catalog, l.Store, l.Boot, l.Building
		t.written, t.after = l.Written, l.After
		return isFirst
	case isFirst:
		return false
	case l.Begin != nil:
		t.begun, t.begin, t.dropped = true, *l.Begin, l.Dropped
		t.shift = t.begin - offset
	case l.Whole:
		t.whole = true
	case l.Look != "":
		r := t.row(l.Look)
		r.others = r.others || l.By != t.by || !t.begun
		r.said = offset + t.shift
		t.lookAt(r)
	case l.Deleted != "":
		t.delete(l, offset+t.shift)
	case l.Key != "":
		t.update(l, offset+t.shift)
	}
	return true
}

func (t *catalogTable) row(key string) *catalogRow {
	r := t.rows[key]
	if r == nil {
		r = &catalogRow{listed: listed{key: key}, gone: true}
		t.rows[key] = r
	}
	return r
}

func (t *catalogTable) lookAt(r *catalogRow) {
	r.look = true
	t.looks[r.key] = r
}

// update updates the row of a session.
func (t *catalogTable) update(l *catalogLine, at int64) {
	r := t.row(l.Key)
	isOlder := r.gone || l.Log < r.log || l.Log == r.log && l.Bytes < r.bytes
	if isOlder && t.isOutdated(r, l) {
		t.outdated = true
		t.lookAt(r)
		return
	}
	c := Change{Key: r.key, Log: l.Log, To: l.Bytes}
	if !r.gone && r.log == l.Log {
		c.From = r.bytes
	}
	isSame := !r.gone && r.log == l.Log && r.bytes == l.Bytes
	t.unlist(r)
	if t.begun {
		r.take(l, at)
		if !isSame {
			t.changes = append(t.changes, catalogChange{c, at})
		}
	} else {
		r.take(l, l.At)
		r.others = r.look // the writer is unknown
	}
	t.list(r)
	if delete(t.looks, r.key); r.look {
		t.looks[r.key] = r
	}
}

// isOutdated reports whether somebody else wrote about the session between the look behind a line and the line itself.
func (t *catalogTable) isOutdated(r *catalogRow, l *catalogLine) bool {
	return t.begun && l.Open && r.at > l.Seen
}

func (t *catalogTable) delete(l *catalogLine, at int64) {
	r := t.row(l.Deleted)
	if t.isOutdated(r, l) {
		t.outdated = true
		t.lookAt(r)
		return
	}
	if !r.gone {
		t.unlist(r)
		r.gone = true
		t.changes = append(t.changes, catalogChange{Change{Key: r.key, Deleted: true}, at})
	}
	r.at = at
	if l.Open || l.Seen > 0 && r.said > l.Seen { // the session may exist again by now
		t.lookAt(r)
		return
	}
	r.look, r.others = false, false
	delete(t.looks, r.key)
}

func (t *catalogTable) unlist(r *catalogRow) {
	if t.ordered && !r.gone {
		t.byKey.remove(r)
		t.newest.remove(r)
	}
}

func (t *catalogTable) list(r *catalogRow) {
	if t.ordered {
		t.byKey.add(r)
		t.newest.add(r)
	}
}

// order sorts the rows once they have all been read.
func (t *catalogTable) order() {
	if t.ordered {
		return
	}
	for _, r := range t.rows {
		if !r.gone {
			t.byKey.rows = append(t.byKey.rows, r)
		}
	}
	t.newest.rows = append(t.newest.rows, t.byKey.rows...)
	var wg sync.WaitGroup
	wg.Go(t.byKey.sort)
	t.newest.sort()
	wg.Wait()
	t.ordered = true
}

// cursor returns the cursor for the position after everything that was read.
func (t *catalogTable) cursor() string {
	return fmt.Sprintf("%s:%d:%.8s", t.id, t.end(), t.last)
}

// sumLength is the length of the end of a line: its checksum, `"}` and a newline.
const sumLength = 8 + len("\"}\n")

// hasSum reports whether the line that ends at a position has a checksum.
func (t *catalogTable) hasSum(at int64, sum string) bool {
	var text [sumLength]byte
	_, err := t.file.ReadAt(text[:], at-t.shift-int64(sumLength))
	return err == nil && text[sumLength-1] == '\n' && string(text[:8]) == sum
}

// positionOf returns the position of a cursor. ok is false if the catalog cannot continue there.
func (t *catalogTable) positionOf(cursor string) (at int64, ok bool) {
	id, rest, _ := strings.Cut(cursor, ":")
	position, sum, _ := strings.Cut(rest, ":")
	at, err := strconv.ParseInt(position, 10, 64)
	if err != nil || id != t.id || at < t.dropped || at > t.end() {
		return 0, false
	}
	if at <= t.begin { // the line is no longer in the file
		return at, true
	}
	return at, t.hasSum(at, sum)
}

// since returns the changes after a position, in order for each session. Adjoining changes are merged.
func (t *catalogTable) since(at int64) []Change {
	if at < t.begin {
		return t.sinceBefore(at)
	}
	var changes []Change
	last := map[string]int{}
	for i := t.firstBehind(at); i < len(t.changes); i++ {
		c := t.changes[i].Change
		n, ok := last[c.Key]
		if ok && changes[n].Log == c.Log && changes[n].To == c.From && !c.Deleted {
			changes[n].To = c.To
			continue
		}
		last[c.Key] = len(changes)
		changes = append(changes, c)
	}
	return changes
}

// sinceBefore is since for a position whose lines are no longer in the file: only their result is.
func (t *catalogTable) sinceBefore(at int64) []Change {
	var changes []Change
	for _, r := range t.byKey.rows {
		if r.at > at {
			changes = append(changes, Change{Key: r.key, Log: r.log, To: r.bytes})
		}
	}
	for _, c := range t.changes {
		if r := t.rows[c.Key]; c.Deleted && (r == nil || r.gone) {
			changes = append(changes, c.Change)
		}
	}
	return changes
}

func (t *catalogTable) firstBehind(at int64) int {
	low, high := 0, len(t.changes)
	for low < high {
		if middle := (low + high) / 2; t.changes[middle].at <= at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// all returns every session as a change from offset 0.
func (t *catalogTable) all() []Change {
	changes := make([]Change, len(t.byKey.rows))
	for i, r := range t.byKey.rows {
		changes[i] = Change{Key: r.key, Log: r.log, To: r.bytes}
	}
	return changes
}
