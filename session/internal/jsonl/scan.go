package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Window reads a log in pieces.
type Window struct {
	Log  io.ReaderAt
	Size int64  // of the log; what lies beyond is ignored
	from int64  // offset of buf
	buf  []byte //
	Step int64  // how much is read at once (WindowSize)
}

const (
	// StatusEvery: closing a session adds a status entry if the log has grown by this many bytes since the last one.
	// The status of any session is then found in the last few kilobytes of its log. Such an entry has about 300 bytes.
	StatusEvery = 8 << 10
	statusStep  = 2 * StatusEvery // for reading a status: about what follows the newest status entry
	HeadStep    = 4 << 10         // for reading the beginning of a log

	WindowSize    = 256 << 10
	SmallStep     = 16 << 10             // for reading single lines: a few lines of usual length
	longestWindow = maxLine + WindowSize // nothing longer is a line
)

func (w *Window) firstStep() int64 { return cmp.Or(w.Step, WindowSize) }

// Bytes returns the bytes between two offsets, which lie within the log. They are valid until the next call.
func (w *Window) Bytes(from, to int64) ([]byte, error) {
	if from >= w.from && to <= w.from+int64(len(w.buf)) {
		return w.buf[from-w.from : to-w.from], nil
	}
	return w.Load(from, to, from, max(to, from+w.Step))
}

// Load reads from low to high, which includes from to to.
func (w *Window) Load(from, to, low, high int64) ([]byte, error) {
	low, high = max(0, low), min(w.Size, high)
	n := int(high - low)
	if cap(w.buf) < n {
		w.buf = nil // freed before the larger one is allocated: lines can be long
		w.buf = make([]byte, n)
	}
	w.buf = w.buf[:n]
	w.from = low
	if read, err := w.Log.ReadAt(w.buf, low); err != nil && (err != io.EOF || read < n) {
		w.buf = w.buf[:0]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return w.buf[from-low : to-low], nil
}

// LineAt returns the text that begins at offset, without its newline, and the offset after it. ended is false if it has
// no newline. If it is too long, the text is cut at maxLine.
func (w *Window) LineAt(offset int64) (text []byte, next int64, ended bool, err error) {
	if w.from <= offset && offset <= w.from+int64(len(w.buf)) {
		text = w.buf[offset-w.from:]
	}
	for {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			return text[:i], offset + int64(i) + 1, true, nil
		}
		n := int64(len(text))
		if offset+n == w.Size || n > maxLine {
			return text, offset + n, false, nil
		}
		to := min(w.Size, offset+min(max(w.firstStep(), 2*n), longestWindow))
		if text, err = w.Load(offset, to, offset, to); err != nil {
			return nil, 0, false, err
		}
	}
}

// LineBefore returns the text of the line whose newline ends at offset end, without the newline, and where the line
// begins.
func (w *Window) LineBefore(end int64) (text []byte, start int64, err error) {
	stop := end - 1                                                        // the newline itself
	for n := int64(0); ; n = min(max(w.firstStep(), 2*n), longestWindow) { // first in the bytes read already
		low := max(0, end-n)
		isHere := w.from <= stop && stop <= w.from+int64(len(w.buf))
		if n == 0 && !isHere {
			continue
		}
		if n > 0 && (!isHere || w.from > low) {
			if _, err := w.Load(low, low, low, end); err != nil {
				return nil, 0, err
			}
		}
		if i := bytes.LastIndexByte(w.buf[:stop-w.from], '\n'); i >= 0 || w.from == 0 {
			return w.buf[i+1 : stop-w.from], w.from + int64(i) + 1, nil
		}
		if n == longestWindow {
			return nil, low, errs.ErrTooLarge
		}
	}
}

// StartBefore returns where the line that ends at offset end begins, however long it is.
func (w *Window) StartBefore(end int64) (int64, error) {
	w.buf = nil // drop the window of a long line
	for end > 0 {
		low := max(0, end-WindowSize)
		text, err := w.Bytes(low, end)
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
			return low + int64(i) + 1, nil
		}
		end = low
	}
	return 0, nil
}

// Scanner reads a log from its beginning: all lines that count, and where it is damaged. It takes time linear in the
// log, and as much memory as the longest line.
type Scanner struct {
	w       Window
	ahead   Window // rereads the lines of a batch that is whole
	seal    Sealer
	From    int64  // offset to begin at
	Seq     int64  // of the last line that counted
	Highest int64  // highest number of all lines
	pending []Line // lines of an unfinished batch, without their texts
	Damage  []entry.Damage
	Unended bool             // the log does not end in a newline
	Valid   int64            // offset after the last line that counts
	skips   func(*Line) bool // yield does not need the text of such a line; nil: it needs all
}

func NewScanner(log io.ReaderAt, size int64, seal Sealer) *Scanner {
	w := Window{Log: log, Size: size, Step: WindowSize}
	return &Scanner{w: w, ahead: w, seal: seal}
}

// maxDamage is how many damaged places are reported separately; the last one includes the rest.
const maxDamage = 10_000

func (s *Scanner) report(offset, length int64, id, reason string) {
	if n := len(s.Damage); n >= maxDamage {
		d := &s.Damage[n-1]
		d.Length, d.ID, d.Reason = offset+length-d.Offset, "", "more damage than is listed"
		return
	}
	s.Damage = append(s.Damage, entry.Damage{Offset: offset, Length: length, ID: id, Reason: reason})
}

// Scan calls yield with each line that counts, in order. Its text is valid during the call.
func (s *Scanner) Scan(ctx context.Context, yield func(*Line) error) error {
	for at, n := s.From, 0; at < s.w.Size; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text, next, ended, err := s.w.LineAt(at)
		if err != nil {
			return err
		}
		if len(text) > maxLine {
			s.report(at, next-at, "", "longer than a line may be")
		} else if err := s.text(text, at, next, ended, yield); err != nil {
			return err
		}
		s.Unended = !ended
		at = next
	}
	s.breakBatch()
	return nil
}

// text takes one line of the file.
func (s *Scanner) text(text []byte, at, next int64, ended bool, yield func(*Line) error) error {
	trimmed, front, hasNUL := TrimLine(text)
	if hasNUL {
		s.report(at, int64(len(text)-len(trimmed)), "", "NULs")
	}
	if len(bytes.TrimSpace(trimmed)) == 0 {
		return nil
	}
	at += int64(front)
	l, reason := ParseLine(trimmed)
	l.Offset, l.Next = at, next
	if reason == "" {
		return s.take(&l, yield)
	}
	if !ended && reason == "no JSON object" {
		reason = "an unfinished line"
	}
	return s.pieces(trimmed, at, reason, yield)
}

// pieces takes the lines that are whole within one that is damaged: between two of them a newline is missing.
func (s *Scanner) pieces(text []byte, at int64, reason string, yield func(*Line) error) error {
	end := at + int64(len(text))
	for _, l := range wholeLines(text) {
		start := end - int64(len(text)) + l.Offset
		if start > at {
			s.report(at, start-at, "", reason)
		}
		at = start + int64(len(l.Data))
		l.Offset, l.Next = start, at
		if err := s.take(&l, yield); err != nil {
			return err
		}
	}
	if at < end {
		s.report(at, end-at, "", reason)
	}
	return nil
}

// take yields l, or holds it back until its batch is complete.
func (s *Scanner) take(l *Line, yield func(*Line) error) error {
	l.seal = s.seal
	s.Highest = max(s.Highest, l.Number())
	if l.Seq <= s.Seq {
		s.breakBatch()
		s.report(l.Offset, int64(len(l.Data)), l.ID, "seq does not grow")
		return nil
	}
	if n := len(s.pending); n > 0 && !follows(&s.pending[n-1], l) {
		s.breakBatch()
	}
	if l.Batch[1] > 1 && l.Batch[0] > 1 && len(s.pending) == 0 {
		s.Seq = l.Seq
		s.report(l.Offset, int64(len(l.Data)), l.ID, "the beginning of its batch is missing")
		return nil
	}
	s.Seq = l.Seq
	if l.Batch[0] == l.Batch[1] && len(s.pending) == 0 {
		s.Valid = l.Next
		return yield(l)
	}
	s.pending = append(s.pending, *l)
	if l.Batch[0] < l.Batch[1] {
		return nil
	}
	defer func() { s.pending = nil }()
	for i := range s.pending {
		b := &s.pending[i]
		if s.skips != nil && s.skips(b) { // so it is not read twice
			if err := yield(b); err != nil {
				return err
			}
			continue
		}
		text, err := s.ahead.Bytes(b.Offset, b.Offset+int64(len(b.Data)))
		if err != nil {
			return err
		}
		again, _ := ParseLine(text)
		again.Offset, again.Next, again.seal = b.Offset, b.Next, b.seal
		if err := yield(&again); err != nil {
			return err
		}
	}
	s.Valid = l.Next
	return nil
}

// breakBatch gives up an unfinished batch.
func (s *Scanner) breakBatch() {
	for _, l := range s.pending {
		s.report(l.Offset, int64(len(l.Data)), l.ID, "the batch is not complete")
	}
	s.pending = nil
}

// maxPieces is how many possible beginnings of lines are tried within a damaged line, and how many possible ends for
// each, so that a text full of them costs not much more than any other.
const maxPieces = 16

// wholeLines returns the lines in our form within a text that is not one: a newline was lost, or lines were fused.
// Their offsets are those in the text.
func wholeLines(text []byte) (lines []Line) {
	start := []byte(`{"seq":`)
	from := 0
	for range maxPieces {
		i := bytes.Index(text[from:], start)
		if i < 0 {
			return lines
		}
		from += i
		if l, ok := lineIn(text[from:]); ok {
			l.Offset = int64(from)
			lines = append(lines, l)
			from += len(l.Data)
		} else {
			from++
		}
	}
	// A line at the end, after a text with more beginnings than were tried.
	if last := bytes.LastIndex(text, start); last >= from {
		if l, ok := lineIn(text[last:]); ok && last+len(l.Data) == len(text) {
			l.Offset = int64(last)
			lines = append(lines, l)
		}
	}
	return lines
}

// lineIn returns the line in our form that text begins with.
func lineIn(text []byte) (l Line, ok bool) {
	end := 0
	for range maxPieces {
		i := bytes.Index(text[end:], []byte(crcMember))
		if end += i + crcTail; i < 0 || end > len(text) {
			break
		}
		if endsInSum(text[:end]) {
			if l, reason := ParseLine(text[:end]); reason == "" {
				return l, true
			}
		}
		end -= crcTail - 1
	}
	return l, false
}
