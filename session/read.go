package session

import (
	"errors"
	"fmt"
	"time"
)

// Damage is a part of a log that is ignored.
type Damage struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"` // 0: the line counts, but not the way it says
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason"`
}

func (d Damage) String() string {
	if d.ID != "" {
		return fmt.Sprintf("offset %d, entry %s: %s", d.Offset, d.ID, d.Reason)
	}
	return fmt.Sprintf("offset %d, %d bytes: %s", d.Offset, d.Length, d.Reason)
}

// branch reads a history from a log: entries from a leaf towards the root.
type branch interface {
	// leaf returns the newest entry of the branch: the header if the branch is empty.
	leaf() (line, error)
	// parent returns the path entry before l, which is not a header. whole is false if an entry between them is
	// missing.
	parent(l line) (p line, whole bool, err error)
	// find returns the entry that r names.
	find(r Ref) (line, error)
	// entry decodes a line.
	entry(l line) (*Entry, error)
}

// errSlow: the log is damaged. It has to be read from the beginning.
var errSlow = errors.New("session: the log has to be read whole")

// tail reads a log from its end, so that the cost depends on the part in use and not on the length of the log. It knows
// only what it has read, and gives up with errSlow if that is not in order.
type tail struct {
	w       window
	ahead   window // for lines elsewhere
	seal    Sealer
	decoded map[int64]*Entry
	newest  line     // the last line of the log
	highest int64    // highest number of the lines read
	start   line     // leaf
	checked [2]int64 // batches between these offsets are known to be whole

	counted  bool      // read only what is counted: decode less, and ignore the leaf
	infoOnly bool      // likewise, and count nothing
	newestAt time.Time // of newest
}

func newTail(log Log, size int64) *tail {
	return &tail{w: window{log: log, size: size}, ahead: window{log: log, size: size, step: smallStep},
		seal: sealerOf(log), decoded: map[int64]*Entry{}}
}

// before returns the line before the one at offset.
func (t *tail) before(offset int64) (line, error) {
	for offset > 0 {
		text, start, err := t.w.lineBefore(offset)
		if err != nil {
			return line{}, err
		}
		if len(text) == 0 {
			offset = start
			continue
		}
		return parseAt(text, start, offset)
	}
	return line{}, errSlow
}

// parseAt parses the text of a line. It gives up if the line is not in order.
func parseAt(text []byte, start, next int64) (line, error) {
	trimmed, front, hasNUL := trimLine(text)
	if hasNUL {
		return line{}, errSlow
	}
	l, reason := parseLine(trimmed)
	if reason != "" {
		return line{}, errSlow
	}
	l.offset, l.next = start+int64(front), next
	return l, nil
}

// lineAt returns the line at offset. It has its own window.
func (t *tail) lineAt(offset int64) (line, error) {
	if offset < 0 || offset >= t.w.size {
		return line{}, errSlow
	}
	w := &t.ahead
	if offset >= t.w.from && offset < t.w.from+int64(len(t.w.buf)) {
		w = &t.w
	}
	text, next, ended, err := w.lineAt(offset)
	if err != nil || !ended {
		return line{}, errors.Join(err, errSlow)
	}
	return parseAt(text, offset, next)
}

// checkBatch gives up if l belongs to a batch that is not whole.
func (t *tail) checkBatch(l line) error {
	if l.batch[1] < 2 || t.checked[0] <= l.offset && l.offset < t.checked[1] {
		return nil
	}
	first, last := l, l
	for first.batch[0] > 1 {
		p, err := t.before(first.offset)
		if err != nil || !follows(&p, &first) {
			return errors.Join(err, errSlow)
		}
		first = p
	}
	for last.batch[0] < last.batch[1] {
		n, err := t.lineAt(last.next)
		if err != nil || !follows(&last, &n) {
			return errors.Join(err, errSlow)
		}
		last = n
	}
	t.checked = [2]int64{first.offset, last.next}
	return nil
}

// follows reports whether b is the line after a in its batch.
func follows(a, b *line) bool {
	return a.batch[1] == b.batch[1] && a.batch[0]+1 == b.batch[0] && a.seq+1 == b.seq
}

// sides reads the leaf and the side entries, back to the newest entry with totals.
func (t *tail) sides(s *sides) error {
	found, complete := t.counted, false
	newer := int64(-1)
	for at := t.w.size; ; {
		l, err := t.before(at)
		if err != nil {
			return err
		}
		if newer >= 0 && l.seq >= newer {
			return errSlow
		}
		newer, t.highest = l.seq, max(t.highest, l.number())
		if t.newest.id == "" {
			t.newest, t.newestAt = l, l.time()
		}
		at = l.offset
		again, err := t.wholeBatch(l)
		if err != nil {
			return err
		}
		l = again
		if !found && (l.isPath() || l.kind == TypeLeaf || l.kind == TypeSession) {
			found = true
			t.start = l
			if l.kind == TypeLeaf {
				if err := t.startAtTarget(l); err != nil {
					return err
				}
			}
		}
		if !complete {
			if complete, err = t.addTo(s, l); err != nil {
				return err
			}
		}
		if complete && found {
			return nil
		}
		if l.kind == TypeSession {
			if l.offset > 3 || l.seq != 1 { // at most a byte order mark precedes it
				return errSlow
			}
			return nil
		}
	}
}

// addTo adds an entry to s, and reports whether earlier entries no longer matter.
func (t *tail) addTo(s *sides, l line) (complete bool, err error) {
	if t.infoOnly && l.kind != TypeInfo && l.kind != TypeStatus && !l.isFullState() {
		return false, nil
	}
	var e *Entry
	if t.counted {
		e, err = l.decodeCounted()
	} else if e, err = t.entry(l); err == nil && (l.kind == TypeMessage || l.kind == TypeState) {
		t.decoded[l.offset] = e
	}
	if errors.Is(err, ErrSealed) {
		return false, err
	}
	if err != nil {
		return false, errSlow
	}
	if complete = s.add(e); complete {
		s.at = l.offset
	}
	return complete, nil
}

// wholeBatch checks the batch of l. The check may move the window, so it returns l with its text read again.
func (t *tail) wholeBatch(l line) (line, error) {
	if l.batch[1] < 2 {
		return l, nil
	}
	if err := t.checkBatch(l); err != nil {
		return l, err
	}
	return t.lineAt(l.offset)
}

func (t *tail) startAtTarget(l line) error {
	e, err := l.decode()
	if err != nil {
		return errSlow
	}
	t.start, err = t.lineAt(l.at)
	if err == nil && t.start.id != e.Target {
		err = errSlow
	}
	return err
}

func (t *tail) leaf() (line, error) { return t.lineAt(t.start.offset) }

func (t *tail) parent(l line) (p line, whole bool, err error) {
	want := l.parent
	if l.at >= 0 {
		p, err = t.lineAt(l.at)
	} else {
		p, err = t.before(l.offset)
	}
	if err == nil && (p.id != want || p.seq >= l.seq) {
		err = errSlow
	}
	if err == nil {
		p, err = t.wholeBatch(p)
	}
	return p, true, err
}

func (t *tail) find(r Ref) (line, error) {
	l, err := t.lineAt(r.At)
	if err == nil && l.id != r.ID {
		err = errSlow
	}
	if err == nil {
		l, err = t.wholeBatch(l)
	}
	return l, err
}

func (t *tail) entry(l line) (*Entry, error) {
	if e := t.decoded[l.offset]; e != nil {
		return e, nil
	}
	l.seal = t.seal
	return l.decode()
}
