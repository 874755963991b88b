package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"
)

// tree holds all path entries of a log. It can read any log, from its beginning.
type tree struct {
	lines   []node
	foreign map[string]int // lines whose id does not match their number
	header  int            // -1: none
	newest  line
	current int // leaf; -1: none
	read    window
	scan    *scanner
	lost    []Damage // parents that are missing
}

// node is the place of an entry.
type node struct {
	head
	offset, next int64
	length       int
}

// newTree scans a log. It decodes messages in our form only if s has to count them.
func newTree(ctx context.Context, log Log, size int64, s *sides) (*tree, error) {
	t := &tree{header: -1, current: -1}
	t.read, t.scan = window{log: log, size: size}, newScanner(log, size)
	t.scan.skips = func(l *line) bool { return l.body != nil && l.kind == TypeMessage }
	since := 0 // index of the newest entry with totals
	err := t.scan.scan(ctx, func(l *line) error {
		var e *Entry
		if l.body == nil || l.kind != TypeMessage && l.kind != TypeState {
			var err error
			if e, err = l.decodeShown(); err != nil {
				t.scan.report(l.offset, int64(len(l.data)), l.id, "the entry cannot be read")
				return nil
			}
		}
		if e != nil && t.header < 0 {
			if err := checkFormat(e); err != nil {
				return err
			}
		}
		if reason := t.add(l, e); reason != "" {
			t.scan.report(l.offset, int64(len(l.data)), l.id, reason)
			return nil
		}
		if e != nil && e.Full != nil || l.kind == TypeState && bytes.HasPrefix(l.body, []byte(`"full":`)) {
			since = len(t.lines) - 1
		}
		return nil
	})
	if err != nil || s == nil {
		return t, err
	}
	for i := len(t.lines) - 1; i >= since; i-- {
		l, err := t.line(i)
		if err != nil {
			return nil, err
		}
		e, err := l.decode()
		if errors.Is(err, ErrSealed) && l.seal == nil {
			e, err = l.decodeClear() // count it, at least
		}
		if errors.Is(err, ErrSealed) {
			return nil, err
		}
		if err != nil {
			t.scan.report(l.offset, int64(len(l.data)), l.id, "the entry cannot be read")
			continue
		}
		if s.add(e) {
			s.at = l.offset
		}
	}
	return t, nil
}

// add takes an entry, or returns why it does not. e is decoded unless its type is message or state.
func (t *tree) add(l *line, e *Entry) (reason string) {
	if _, twice := t.indexOf(l.id); twice {
		return "another entry has this id"
	}
	if l.kind == TypeSession && t.header >= 0 {
		return "a second header"
	}
	i := len(t.lines)
	if i == cap(t.lines) {
		t.grow(l.offset)
	}
	t.lines = append(t.lines, node{head: l.head, offset: l.offset, next: l.next, length: len(l.data)})
	if ownNumber(l.id) != l.seq {
		if t.foreign == nil {
			t.foreign = map[string]int{}
		}
		t.foreign[l.id] = i
	}
	t.newest = line{head: l.head, offset: l.offset, next: l.next}
	switch {
	case l.kind == TypeSession:
		t.header, t.current = i, i
	case l.kind == TypeLeaf:
		if target, ok := t.indexOf(e.Target); ok {
			t.current = target
		} else {
			lost := Damage{Offset: l.offset, ID: l.id, Reason: "the target " + e.Target + " is missing"}
			t.lost = append(t.lost, lost)
		}
	case l.isPath():
		t.current = i
	}
	return ""
}

// grow makes room for more lines than those before offset. It assumes that the remaining lines are as long, but at most
// triples the room, because they may be longer.
func (t *tree) grow(offset int64) {
	n := int64(len(t.lines))
	ahead := (t.read.size - offset) / (offset/max(n, 1) + 1)
	t.lines = slices.Grow(t.lines, int(min(max(ahead, n/4, 16), max(3*n, 16))))
}

// indexOf returns the index of an entry's line. Lines are in the order of their numbers, and most ids match the number.
func (t *tree) indexOf(id string) (int, bool) {
	n := ownNumber(id)
	if last := len(t.lines) - 1; n > 0 && last >= 0 && n <= t.lines[last].seq {
		i := sort.Search(last, func(i int) bool { return t.lines[i].seq >= n })
		if t.lines[i].id == id {
			return i, true
		}
	}
	i, ok := t.foreign[id]
	return i, ok
}

// ownNumber returns the number in an id of our form, 0 for other ids.
func ownNumber(id string) int64 {
	if len(id) < 2 || len(id) > 17 || id[0] != 'e' || id[1] == '0' {
		return 0
	}
	n := int64(0)
	for _, c := range []byte(id[1:]) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

func (t *tree) line(i int) (line, error) {
	n := t.lines[i]
	text, err := t.read.bytes(n.offset, n.offset+int64(n.length))
	if err != nil {
		return line{}, err
	}
	l, _ := parseLine(text)
	l.offset, l.next, l.seal = n.offset, n.next, t.scan.seal
	return l, nil
}

func (t *tree) leaf() (line, error) {
	if t.current < 0 {
		return line{}, ErrNotFound
	}
	return t.line(t.current)
}

// parent returns the parent of an entry, or the nearest path entry before it if the parent is missing.
func (t *tree) parent(l line) (line, bool, error) {
	at, _ := t.indexOf(l.id)
	i, whole := t.parentOf(at)
	if i < 0 {
		return line{}, false, ErrNotFound
	}
	p, err := t.line(i)
	return p, whole, err
}

// parentOf returns the index of the parent of entry i, or -1.
func (t *tree) parentOf(i int) (parent int, whole bool) {
	if p, ok := t.indexOf(t.lines[i].parent); ok && p < i {
		return p, true
	}
	for p := i - 1; p >= 0; p-- {
		if t.lines[p].isPath() || t.lines[p].kind == TypeSession {
			return p, false
		}
	}
	return -1, false
}

func (t *tree) find(r Ref) (line, error) {
	i, ok := t.indexOf(r.ID)
	if !ok {
		return line{}, ErrNotFound
	}
	return t.line(i)
}

func (t *tree) entry(l line) (*Entry, error) {
	l.seal = t.scan.seal
	return l.decode()
}
