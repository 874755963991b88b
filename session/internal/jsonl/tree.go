package jsonl

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Tree holds all path entries of a log. It can read any log, from its beginning.
type Tree struct {
	Lines   []Node
	indexes map[string]int // of lines, by id
	Header  int            // -1: none
	newest  Line
	Current int // leaf; -1: none
	Read    Window
	Scan    *Scanner
	Lost    []entry.Damage // parents that are missing
}

// Node is the place of an entry.
type Node struct {
	Head
	Offset, next int64
	Length       int
}

// NewTree scans a log. It decodes messages in our form only if s has to count them.
func NewTree(ctx context.Context, log io.ReaderAt, size int64, seal Sealer, s *Sides) (*Tree, error) {
	t := &Tree{Header: -1, Current: -1, indexes: map[string]int{}}
	t.Read, t.Scan = Window{Log: log, Size: size}, NewScanner(log, size, seal)
	t.Scan.skips = func(l *Line) bool { return l.summed && l.Kind == entry.TypeMessage }
	since := 0 // index of the newest entry with totals
	err := t.Scan.Scan(ctx, func(l *Line) error {
		var e *entry.Entry
		if !l.summed || l.Kind != entry.TypeMessage && l.Kind != entry.TypeState {
			var err error
			if e, err = l.DecodeClear(); err != nil {
				t.Scan.report(l.Offset, int64(len(l.Data)), l.ID, "the entry cannot be read")
				return nil
			}
		}
		if e != nil && t.Header < 0 {
			if err := CheckFormat(e); err != nil {
				return err
			}
		}
		if reason := t.add(l, e); reason != "" {
			t.Scan.report(l.Offset, int64(len(l.Data)), l.ID, reason)
			return nil
		}
		if l.full {
			since = len(t.Lines) - 1
		}
		return nil
	})
	if err != nil || s == nil {
		return t, err
	}
	for i := since; i < len(t.Lines); i++ {
		l, err := t.Line(i)
		if err != nil {
			return nil, err
		}
		e, err := l.Decode()
		if errors.Is(err, errs.ErrSealed) && l.seal == nil {
			e, err = l.DecodeClear() // count it, at least
		}
		if errors.Is(err, errs.ErrSealed) {
			return nil, err
		}
		if err != nil {
			t.Scan.report(l.Offset, int64(len(l.Data)), l.ID, "the entry cannot be read")
			continue
		}
		s.Take(e, l.Offset)
	}
	return t, nil
}

// add takes an entry, or returns why it does not. e is decoded unless its type is message or state.
func (t *Tree) add(l *Line, e *entry.Entry) (reason string) {
	if _, twice := t.IndexOf(l.ID); twice {
		return "another entry has this id"
	}
	if l.Kind == entry.TypeSession && t.Header >= 0 {
		return "a second header"
	}
	i := len(t.Lines)
	t.Lines = append(t.Lines, Node{Head: l.Head, Offset: l.Offset, next: l.Next, Length: len(l.Data)})
	t.indexes[l.ID] = i
	t.newest = Line{Head: l.Head, Offset: l.Offset, Next: l.Next}
	switch {
	case l.Kind == entry.TypeSession:
		t.Header, t.Current = i, i
	case l.Kind == entry.TypeLeaf:
		if target, ok := t.IndexOf(e.Target); ok {
			t.Current = target
		} else {
			lost := entry.Damage{Offset: l.Offset, ID: l.ID, Reason: "the target " + e.Target + " is missing"}
			t.Lost = append(t.Lost, lost)
		}
	case l.IsPath():
		t.Current = i
	}
	return ""
}

// IndexOf returns the index of an entry's line.
func (t *Tree) IndexOf(id string) (int, bool) {
	i, ok := t.indexes[id]
	return i, ok
}

func (t *Tree) Line(i int) (Line, error) {
	n := t.Lines[i]
	text, err := t.Read.Bytes(n.Offset, n.Offset+int64(n.Length))
	if err != nil {
		return Line{}, err
	}
	l, _ := ParseLine(text)
	l.Offset, l.Next, l.seal = n.Offset, n.next, t.Scan.seal
	return l, nil
}

func (t *Tree) leaf() (Line, error) {
	if t.Current < 0 {
		return Line{}, errs.ErrNotFound
	}
	return t.Line(t.Current)
}

// parent returns the parent of an entry, or the nearest path entry before it if the parent is missing.
func (t *Tree) parent(l Line) (Line, bool, error) {
	at, _ := t.IndexOf(l.ID)
	i, whole := t.ParentOf(at)
	if i < 0 {
		return Line{}, false, errs.ErrNotFound
	}
	p, err := t.Line(i)
	return p, whole, err
}

// ParentOf returns the index of the parent of entry i, or -1.
func (t *Tree) ParentOf(i int) (parent int, whole bool) {
	if p, ok := t.IndexOf(t.Lines[i].Parent); ok && p < i {
		return p, true
	}
	for p := i - 1; p >= 0; p-- {
		if t.Lines[p].IsPath() || t.Lines[p].Kind == entry.TypeSession {
			return p, false
		}
	}
	return -1, false
}

func (t *Tree) find(r entry.Ref) (Line, error) {
	i, ok := t.IndexOf(r.ID)
	if !ok {
		return Line{}, errs.ErrNotFound
	}
	return t.Line(i)
}

func (t *Tree) Entry(l Line) (*entry.Entry, error) {
	l.seal = t.Scan.seal
	return l.Decode()
}

// Copied is an entry of a fork.
type Copied struct {
	*entry.Entry
	Original
}

// Copied reads the entries of a fork one by one: a session may be too large to be held in memory twice.
func (t *Tree) Copied(indexes []int) iter.Seq2[Copied, error] {
	return func(yield func(Copied, error) bool) {
		for _, i := range indexes {
			l, err := t.Line(i)
			var c Copied
			if err == nil {
				c.Entry, err = t.Entry(l)
			}
			if err == nil {
				c.Original, err = originalOf(c.Entry, &l)
			}
			if err == nil && c.FirstKept != nil {
				c.FirstKept = t.firstCopied(c.FirstKept, indexes)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// CopiedHead is by how many bytes a line may grow in a copy: its parent, an offset and a checksum change.
const CopiedHead = 64

// firstCopied returns the first copied entry that does not lie before the first message that a compaction kept: an edit
// may have left out that message, which is then not copied.
func (t *Tree) firstCopied(kept *entry.Ref, indexes []int) *entry.Ref {
	at, ok := t.IndexOf(kept.ID)
	if !ok {
		return kept
	}
	n, _ := slices.BinarySearch(indexes, at)
	if n == len(indexes) {
		return kept
	}
	return &entry.Ref{ID: t.Lines[indexes[n]].ID}
}

// InUse returns the entries that make up the history of a branch, and those between them.
func (t *Tree) InUse(active *Loaded) ([]int, error) {
	needed := map[int]bool{}
	low := t.Current
	for _, p := range active.Places {
		i, _ := t.IndexOf(p.Ref.ID)
		needed[i] = true
		if p.Ref.By != nil {
			edit, _ := t.IndexOf(p.Ref.By.ID)
			needed[edit] = true
		}
	}
	if len(active.Places) > active.Prefix {
		low, _ = t.IndexOf(active.Places[active.Prefix].Ref.ID)
	}
	hasState := false
	for i := t.Current; i >= 0 && t.Lines[i].Kind != entry.TypeSession; {
		n := &t.Lines[i]
		if i >= low || !hasState && n.Kind == entry.TypeState {
			needed[i] = true
		}
		if n.Kind == entry.TypeState {
			l, err := t.Line(i)
			if err != nil {
				return nil, err
			}
			e, err := t.Entry(l)
			hasState = hasState || err == nil && e.Full != nil
		}
		if i < low && hasState {
			break
		}
		i, _ = t.ParentOf(i)
	}
	var indexes []int
	for i := range t.Lines {
		if needed[i] {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

// SeqAfter returns the seq of an entry that has an id already, in the line after the one with seq. It is not below the
// number in the id: a writer looks at the last line alone to find ids that nothing in the log has.
func SeqAfter(seq int64, e *entry.Entry) int64 {
	h := Head{ID: e.ID, Seq: max(seq+1, e.Seq)}
	return h.Number()
}

// Refer sets the offsets in the references of an entry to those of its copy. Entries that were not copied are not in
// use.
func Refer(e *entry.Entry, offsets map[string]int64) {
	e.Keep = moved(e.Keep, offsets)
	if e.FirstKept == nil {
		return
	}
	first := moved([]entry.Ref{*e.FirstKept}, offsets)
	if e.FirstKept = nil; len(first) > 0 {
		e.FirstKept = &first[0]
	}
}

func moved(refs []entry.Ref, offsets map[string]int64) (out []entry.Ref) {
	for _, r := range refs {
		at, ok := offsets[r.ID]
		if !ok {
			continue
		}
		n := entry.Ref{ID: r.ID, At: at}
		if r.By != nil {
			by, ok := offsets[r.By.ID]
			if !ok {
				continue
			}
			n.By = &entry.Ref{ID: r.By.ID, At: by}
		}
		out = append(out, n)
	}
	return out
}
