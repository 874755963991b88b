package jsonl

import (
	"errors"
	"io"
	"slices"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// branch reads a history from a log: entries from a leaf towards the root.
type branch interface {
	// leaf returns the newest entry of the branch: the header if the branch is empty.
	leaf() (Line, error)
	// parent returns the path entry before l, which is not a header. whole is false if an entry between them is
	// missing.
	parent(l Line) (p Line, whole bool, err error)
	// find returns the entry that r names.
	find(r entry.Ref) (Line, error)
	// entry decodes a line.
	Entry(l Line) (*entry.Entry, error)
}

// ErrSlow: the log is damaged. It has to be read from the beginning.
var ErrSlow = errors.New("session: the log has to be read whole")

// Tail reads a log from its end, so that the cost depends on the part in use and not on the length of the log. It knows
// only what it has read, and gives up with [ErrSlow] if that is not in order.
type Tail struct {
	W       Window
	ahead   Window // for lines elsewhere
	seal    Sealer
	decoded map[int64]*entry.Entry
	newest  Line     // the last line of the log
	highest int64    // highest number of the lines read
	start   Line     // leaf
	checked [2]int64 // batches between these offsets are known to be whole

	extent extent // beyond everything: decode less, and ignore the leaf
}

func NewTail(log io.ReaderAt, size int64, seal Sealer) *Tail {
	return &Tail{W: Window{Log: log, Size: size}, ahead: Window{Log: log, Size: size, Step: SmallStep},
		seal: seal, decoded: map[int64]*entry.Entry{}}
}

// Before returns the line before the one at offset.
func (t *Tail) Before(offset int64) (Line, error) {
	for offset > 0 {
		text, start, err := t.W.LineBefore(offset)
		if err != nil {
			return Line{}, err
		}
		if len(text) == 0 {
			offset = start
			continue
		}
		return ParseAt(text, start, offset)
	}
	return Line{}, ErrSlow
}

// ParseAt parses the text of a line. It gives up if the line is not in order.
func ParseAt(text []byte, start, next int64) (Line, error) {
	trimmed, front, hasNUL := TrimLine(text)
	if hasNUL {
		return Line{}, ErrSlow
	}
	l, reason := ParseLine(trimmed)
	if reason != "" {
		return Line{}, ErrSlow
	}
	l.Offset, l.Next = start+int64(front), next
	return l, nil
}

// LineAt returns the line at offset. It has its own window.
func (t *Tail) LineAt(offset int64) (Line, error) {
	if offset < 0 || offset >= t.W.Size {
		return Line{}, ErrSlow
	}
	w := &t.ahead
	if offset >= t.W.from && offset < t.W.from+int64(len(t.W.buf)) {
		w = &t.W
	}
	text, next, ended, err := w.LineAt(offset)
	if err != nil || !ended {
		return Line{}, errors.Join(err, ErrSlow)
	}
	return ParseAt(text, offset, next)
}

// Header returns the first entry of the log.
func (t *Tail) Header() (*entry.Entry, error) {
	l, err := t.LineAt(0)
	var e *entry.Entry
	if err == nil {
		e, err = l.Decode()
	}
	if err != nil || l.Kind != entry.TypeSession {
		return nil, errors.Join(err, ErrSlow)
	}
	return e, nil
}

// wholeBatch gives up if l belongs to a batch that is not whole. It returns l, read again if a window moved.
func (t *Tail) wholeBatch(l Line) (Line, error) {
	if l.Batch[1] < 2 || t.checked[0] <= l.Offset && l.Offset < t.checked[1] {
		return l, nil
	}
	first, last, windows := l, l, [2]int64{t.W.from, t.ahead.from} // l lies in one of them
	for first.Batch[0] > 1 {
		p, err := t.Before(first.Offset)
		if err != nil || !follows(&p, &first) {
			return l, errors.Join(err, ErrSlow)
		}
		first = p
	}
	for last.Batch[0] < last.Batch[1] {
		n, err := t.LineAt(last.Next)
		if err != nil || !follows(&last, &n) {
			return l, errors.Join(err, ErrSlow)
		}
		last = n
	}
	t.checked = [2]int64{first.Offset, last.Next}
	if windows == [2]int64{t.W.from, t.ahead.from} {
		return l, nil
	}
	return t.LineAt(l.Offset)
}

// follows reports whether b is the line after a in its batch.
func follows(a, b *Line) bool {
	return a.Batch[1] == b.Batch[1] && a.Batch[0]+1 == b.Batch[0] && a.Seq+1 == b.Seq
}

// sides reads the leaf and the side entries, back to the newest entry with totals.
func (t *Tail) sides() (s Sides, err error) {
	last, err := t.W.Load(t.W.Size-1, t.W.Size, t.W.Size-t.W.firstStep(), t.W.Size)
	if err != nil || last[0] != '\n' {
		return s, errors.Join(err, ErrSlow)
	}
	found, complete := t.extent != everything, false
	var entries []*entry.Entry // the newest first
	newer, at := int64(MaxSeq+1), t.W.Size
	for !found || !complete {
		l, err := t.Before(at)
		if err != nil {
			return s, err
		}
		if l.Seq >= newer {
			return s, ErrSlow
		}
		newer, at, t.highest = l.Seq, l.Offset, max(t.highest, l.Number())
		if t.newest.ID == "" {
			t.newest = l
		}
		if l, err = t.wholeBatch(l); err != nil {
			return s, err
		}
		if !found && (l.IsPath() || l.Kind == entry.TypeLeaf || l.Kind == entry.TypeSession) {
			found = true
			if err := t.startAt(l); err != nil {
				return s, err
			}
		}
		if !complete && (t.extent != infoOnly || l.Kind == entry.TypeInfo || l.full) {
			e, err := t.counted(l)
			if err != nil {
				return s, err
			}
			entries = append(entries, e)
			if complete = e.Full != nil; complete {
				s.Summed = at
			}
		}
		if l.Kind == entry.TypeSession {
			if l.Offset > 3 || l.Seq != 1 { // at most a byte order mark precedes it
				return s, ErrSlow
			}
			break
		}
	}
	for _, e := range slices.Backward(entries) {
		s.Take(e, s.Summed)
	}
	return s, nil
}

// counted returns an entry that sides are made of.
func (t *Tail) counted(l Line) (e *entry.Entry, err error) {
	if t.extent != everything && t.seal == nil {
		e, err = l.DecodeClear()
	} else if e, err = t.Entry(l); err == nil && (l.Kind == entry.TypeMessage || l.Kind == entry.TypeState) {
		t.decoded[l.Offset] = e
	}
	if err != nil && !errors.Is(err, errs.ErrSealed) {
		err = ErrSlow
	}
	return e, err
}

// startAt begins the branch at a line or, if that is a leaf, at its target.
func (t *Tail) startAt(l Line) error {
	if t.start = l; l.Kind != entry.TypeLeaf {
		return nil
	}
	e, err := l.Decode()
	if err != nil {
		return ErrSlow
	}
	t.start, err = t.LineAt(l.at)
	if err == nil && t.start.ID != e.Target {
		err = ErrSlow
	}
	return err
}

func (t *Tail) leaf() (Line, error) { return t.LineAt(t.start.Offset) }

func (t *Tail) parent(l Line) (p Line, whole bool, err error) {
	want := l.Parent
	if l.at >= 0 {
		p, err = t.LineAt(l.at)
	} else {
		p, err = t.Before(l.Offset)
	}
	if err == nil && (p.ID != want || p.Seq >= l.Seq) {
		err = ErrSlow
	}
	if err == nil {
		p, err = t.wholeBatch(p)
	}
	return p, true, err
}

func (t *Tail) find(r entry.Ref) (Line, error) {
	l, err := t.LineAt(r.At)
	if err == nil && l.ID != r.ID {
		err = ErrSlow
	}
	if err == nil {
		l, err = t.wholeBatch(l)
	}
	return l, err
}

func (t *Tail) Entry(l Line) (*entry.Entry, error) {
	if e := t.decoded[l.Offset]; e != nil {
		return e, nil
	}
	l.seal = t.seal
	return l.Decode()
}
