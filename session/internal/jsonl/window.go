package jsonl

import (
	"bytes"
	"io"

	"github.com/winnowgo/winnow/session/internal/errs"
)

// Window reads a log in pieces.
type Window struct {
	Log  io.ReaderAt
	Size int64  // of the log; what lies beyond is ignored
	from int64  // offset of buf
	buf  []byte //
	Step int64  // how much is read at once (windowSize)
}

const (
	// StatusEvery: closing a session adds a status entry if the log has grown by this many bytes since the last one.
	// The status of any session is then found in the last few kilobytes of its log. Such an entry has about 300 bytes.
	StatusEvery = 8 << 10
	StatusStep  = 2 * StatusEvery // for reading a status: about what follows the newest status entry
	HeadStep    = 4 << 10         // for reading the beginning of a log

	WindowSize    = 256 << 10
	SmallStep     = 16 << 10             // for reading single lines: a few lines of usual length
	longestWindow = maxLine + WindowSize // nothing longer is a line
)

func (w *Window) firstStep() int64 {
	if w.Step > 0 {
		return w.Step
	}
	return WindowSize
}

// Bytes returns the bytes between two offsets, which lie within the log. They are valid until the next call.
func (w *Window) Bytes(from, to int64) ([]byte, error) {
	if from >= w.from && to <= w.from+int64(len(w.buf)) {
		return w.buf[from-w.from : to-w.from], nil
	}
	return w.Load(from, to, from, to)
}

// bytesAhead is bytes for a caller that continues after to.
func (w *Window) bytesAhead(from, to int64) ([]byte, error) {
	if from >= w.from && to <= w.from+int64(len(w.buf)) {
		return w.buf[from-w.from : to-w.from], nil
	}
	return w.Load(from, to, from, max(to, from+WindowSize))
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
// no newline. If tooLong, the text is cut at maxLine.
func (w *Window) LineAt(offset int64) (text []byte, next int64, ended bool, err error) {
	for n := w.firstStep(); ; n = min(2*n, longestWindow) {
		to := min(w.Size, offset+n)
		if end := w.from + int64(len(w.buf)); offset >= w.from && offset < end {
			to = max(to, end)
			if i := bytes.IndexByte(w.buf[offset-w.from:], '\n'); i >= 0 {
				return w.buf[offset-w.from:][:i], offset + int64(i) + 1, true, nil
			}
		}
		text, err := w.Load(offset, to, offset, to)
		if err != nil {
			return nil, 0, false, err
		}
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			return text[:i], offset + int64(i) + 1, true, nil
		}
		if to == w.Size {
			return text, to, false, nil
		}
		if n > maxLine {
			return text, to, false, nil
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
