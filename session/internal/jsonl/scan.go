package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/crc32"

	"github.com/winnowgo/winnow/session/entry"
)

// scanner reads a log from its beginning: all lines that count, and where it is damaged. It takes time linear in the
// log, and as much memory as the longest line.
type scanner struct {
	w       Window
	ahead   Window // rereads the lines of a batch that is whole
	seal    sealer
	From    int64  // offset to begin at
	Seq     int64  // of the last line that counted
	Highest int64  // highest number of all lines
	pending []Line // lines of an unfinished batch, without their texts
	Damage  []entry.Damage
	Unended bool             // the log does not end in a newline
	Valid   int64            // offset after the last line that counts
	skips   func(*Line) bool // yield does not need the text of such a line; nil: it needs all
}

func NewScanner(log Log, size int64) *scanner {
	w := Window{Log: log, Size: size}
	return &scanner{w: w, ahead: w, seal: sealerOf(log)}
}

// maxDamage is how many damaged places are reported separately; the last one includes the rest.
const maxDamage = 10_000

func (s *scanner) report(offset, length int64, id, reason string) {
	if n := len(s.Damage); n >= maxDamage {
		d := &s.Damage[n-1]
		d.Length, d.ID, d.Reason = offset+length-d.Offset, "", "more damage than is listed"
		return
	}
	s.Damage = append(s.Damage, entry.Damage{Offset: offset, Length: length, ID: id, Reason: reason})
}

// Scan calls yield with each line that counts, in order. Its text is valid during the call.
func (s *scanner) Scan(ctx context.Context, yield func(*Line) error) error {
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
	s.breakBatch("the batch is not complete")
	return nil
}

// text takes one line of the file.
func (s *scanner) text(text []byte, at, next int64, ended bool, yield func(*Line) error) error {
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
	pieces := wholeLines(trimmed)
	if len(pieces) == 0 {
		s.report(at, int64(len(trimmed)), "", reason)
		return nil
	}
	return s.pieces(trimmed, at, pieces, yield)
}

// pieces takes the lines that are whole within one that is damaged: between two of them a newline is missing.
func (s *scanner) pieces(text []byte, at int64, pieces [][2]int, yield func(*Line) error) error {
	from := 0
	for _, p := range append(pieces, [2]int{len(text), len(text)}) {
		if p[0] > from {
			s.report(at+int64(from), int64(p[0]-from), "", "no entry")
		}
		if from = p[1]; p[0] == p[1] {
			continue
		}
		l, reason := ParseLine(text[p[0]:p[1]])
		l.Offset, l.Next = at+int64(p[0]), at+int64(p[1])
		if reason != "" {
			s.report(l.Offset, l.Next-l.Offset, "", reason)
		} else if err := s.take(&l, yield); err != nil {
			return err
		}
	}
	return nil
}

// take yields l, or holds it back until its batch is complete.
func (s *scanner) take(l *Line, yield func(*Line) error) error {
	l.seal = s.seal
	s.Highest = max(s.Highest, l.Number())
	if l.Seq <= s.Seq {
		s.breakBatch("the batch is not complete")
		s.report(l.Offset, int64(len(l.Data)), l.ID, "seq does not grow")
		return nil
	}
	if n := len(s.pending); n > 0 && !follows(&s.pending[n-1], l) {
		s.breakBatch("the batch is not complete")
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
	defer s.dropPending()
	for i := range s.pending {
		b := &s.pending[i]
		if s.skips != nil && s.skips(b) { // so it is not read twice
			if err := yield(b); err != nil {
				return err
			}
			continue
		}
		text, err := s.ahead.bytesAhead(b.Offset, b.Offset+int64(len(b.Data)))
		if err != nil {
			return err
		}
		if err := yield(b.withText(text)); err != nil {
			return err
		}
	}
	s.Valid = l.Next
	return nil
}

// breakBatch gives up an unfinished batch.
func (s *scanner) breakBatch(reason string) {
	for _, l := range s.pending {
		s.report(l.Offset, int64(len(l.Data)), l.ID, reason)
	}
	s.dropPending()
}

// maxSparePending limits the memory that is kept for the next batch, in lines.
const maxSparePending = 1 << 10

// dropPending forgets the lines held back, and the texts that they point to.
func (s *scanner) dropPending() {
	clear(s.pending)
	if s.pending = s.pending[:0]; cap(s.pending) > maxSparePending {
		s.pending = nil
	}
}

// maxPieces is how many possible beginnings of lines are tried within a damaged line, so that a text full of them costs
// no more than any other.
const maxPieces = 16

const lineStart = `{"seq":`

// wholeLines returns where whole lines in our form lie in a text that is not one: a newline was lost, or lines were
// fused.
func wholeLines(text []byte) (pieces [][2]int) {
	from := 0
	for n := 0; n < maxPieces; n++ {
		i := bytes.Index(text[from:], []byte(lineStart))
		if i < 0 {
			break
		}
		from += i
		if length := lineLength(text[from:]); length > 0 {
			pieces = append(pieces, [2]int{from, from + length})
			from += length
			continue
		}
		from++
	}
	if n := len(pieces); n > 0 && pieces[n-1][1] == len(text) {
		return pieces
	}
	// A line at the end, after a text with more beginnings than were tried.
	if i := bytes.LastIndex(text[from:], []byte(lineStart)); i >= 0 {
		if last := from + i; lineLength(text[last:]) == len(text)-last {
			pieces = append(pieces, [2]int{last, len(text)})
		}
	}
	return pieces
}

// lineLength returns the length of the line in our form that text begins with, or 0.
func lineLength(text []byte) int {
	sum, done := uint32(0), 0
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(crcMember))
		if i < 0 || at+i+crcTail > len(text) {
			return 0
		}
		at += i
		sum = crc32.Update(sum, Castagnoli, text[done:at])
		done = at
		end := at + crcTail
		if want, ok := sumAt(text[at:]); ok && want == sum && endsInSum(text[:end]) && json.Valid(text[:end]) {
			return end
		}
		at++
	}
}
