package session

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// catalogTable is what was read of a catalog. A position counts the bytes of its lines, also where the file was
// written anew meanwhile.
type catalogTable struct {
	by   string // the store that reads
	file files.File
	size int64 // of the file that was read

	id       string // of the catalog
	store    string
	boot     string
	building bool
	begun    bool  // the line was read that ends what was there at first
	begin    int64 // position behind that line
	shift    int64 // from an offset in the file to a position
	dropped  int64

	rows    map[string]*catalogRow
	looks   map[string]*catalogRow
	byKey   rowList
	newest  rowList
	ordered bool // byKey and newest are
	changes []catalogChange
}

// catalogChange is a change, and the position behind the line that tells of it.
type catalogChange struct {
	Change
	at int64
}

func newCatalogTable(file files.File, by string) *catalogTable {
	t := &catalogTable{by: by, file: file, rows: map[string]*catalogRow{}, looks: map[string]*catalogRow{}}
	t.newest.order.Order = Newest
	return t
}

// end returns the position behind all that was read.
func (t *catalogTable) end() int64 { return t.size + t.shift }

// read takes the lines that were written since the last time. It returns false if one is damaged.
func (t *catalogTable) read() (ok bool, err error) {
	size, err := t.file.Size()
	if err != nil || size == t.size {
		return true, err
	}
	if size < t.size {
		return false, nil
	}
	text := make([]byte, size-t.size)
	if n, err := t.file.ReadAt(text, t.size); n < len(text) {
		if err == io.EOF {
			return false, nil
		}
		return false, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1 // behind it somebody is writing
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
	t.size = offset
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

// take takes a line that ends at offset. It returns false for one that has no place here.
func (t *catalogTable) take(l *catalogLine, offset int64) bool {
	isFirst := t.id == ""
	switch {
	case l.Catalog != "":
		t.id, t.store, t.boot, t.building = l.Catalog, l.Store, l.Boot, l.Building
		return isFirst
	case isFirst:
		return false
	case l.Begin != nil:
		t.begun, t.begin, t.dropped = true, *l.Begin, l.Dropped
		t.shift = t.begin - offset
	case l.Look != "":
		r := t.row(l.Look)
		r.others = r.others || l.By != t.by || !t.begun
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

// update takes what a line says of a session.
func (t *catalogTable) update(l *catalogLine, at int64) {
	r := t.row(l.Key)
	isOld := l.Log < r.log || l.Log == r.log && l.Bytes < r.bytes
	if isOld && !r.gone { // somebody looked before others went on
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
		r.others = r.look // it is not known who said so
	}
	t.list(r)
	if delete(t.looks, r.key); r.look {
		t.looks[r.key] = r
	}
}

func (t *catalogTable) delete(l *catalogLine, at int64) {
	r := t.rows[l.Deleted]
	if r == nil {
		return
	}
	if !r.gone {
		t.unlist(r)
		r.gone = true
		t.changes = append(t.changes, catalogChange{Change{Key: r.key, Deleted: true}, at})
	}
	if !l.Open {
		delete(t.rows, r.key)
		delete(t.looks, r.key)
	}
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

// order puts the rows in order, once they were all read.
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

// cursor returns what names the position behind all that was read.
func (t *catalogTable) cursor() string {
	sum, _ := t.sumBefore(t.end())
	return fmt.Sprintf("%s:%d:%08x", t.id, t.end(), sum)
}

// sumBefore returns the checksum of the line that ends at a position.
func (t *catalogTable) sumBefore(at int64) (uint32, bool) {
	const tail = 8 + len("\"}\n")
	var text [tail]byte
	if _, err := t.file.ReadAt(text[:], at-t.shift-int64(tail)); err != nil || text[tail-1] != '\n' {
		return 0, false
	}
	b, err := hex.DecodeString(string(text[:8]))
	if err != nil {
		return 0, false
	}
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]), true
}

// positionOf returns the position that a cursor names. ok is false if the catalog cannot go on there.
func (t *catalogTable) positionOf(cursor string) (at int64, ok bool) {
	id, rest, _ := strings.Cut(cursor, ":")
	position, sum, _ := strings.Cut(rest, ":")
	at, err := strconv.ParseInt(position, 10, 64)
	if err != nil || id != t.id || at < t.dropped || at > t.end() {
		return 0, false
	}
	if at <= t.begin { // what stood there is not in the file any more
		return at, true
	}
	want, err := strconv.ParseUint(sum, 16, 32)
	has, whole := t.sumBefore(at)
	return at, err == nil && whole && uint32(want) == has
}

// since returns what changed behind a position, each session's changes in order and those that follow one another as
// one.
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

// sinceBefore is since for a position whose lines are not in the file any more: what they led to is.
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

// all returns every session as a change from nothing.
func (t *catalogTable) all() []Change {
	changes := make([]Change, len(t.byKey.rows))
	for i, r := range t.byKey.rows {
		changes[i] = Change{Key: r.key, Log: r.log, To: r.bytes}
	}
	return changes
}
