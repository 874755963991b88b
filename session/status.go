package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
)

// Status summarizes a session: a row of [Store.List]. It is derived from the session's newest log.
type Status struct {
	Key             string    `json:"key"`
	Log             string    `json:"log"`   // its newest log, by the backend's name
	Bytes           int64     `json:"bytes"` // length of that log, up to the last line that counts
	Created         time.Time `json:"created,omitzero"`
	Updated         time.Time `json:"updated,omitzero"`         // the newest entry
	LastInteraction time.Time `json:"lastInteraction,omitzero"` // the newest message of a person
	Info            Info      `json:"info,omitzero"`
	Counts          Counts    `json:"counts"`
	Damage          int       `json:"damage,omitempty"` // damaged places found so far; Verify finds all

	// Open says that somebody has the turn. It is a hint: it may be false for a holder that has written nothing yet.
	Open bool `json:"open,omitempty"`
}

// Add updates the status with lines that were appended to its log. It is for a [Backend] that keeps the status of its
// sessions. When the backend creates a log, it begins with a Status that has only Key and Log; then it calls Add with
// the lines of each Append.
func (s *Status) Add(lines []byte) {
	for len(lines) > 0 {
		text, rest, _ := bytes.Cut(lines, []byte("\n"))
		n := len(lines) - len(rest)
		s.addText(text)
		s.Bytes += int64(n)
		lines = rest
	}
}

func (s *Status) addText(text []byte) {
	text, _, hasNUL := trimLine(text)
	if len(text) == 0 && !hasNUL {
		return
	}
	l, reason := parseLine(text)
	if reason != "" {
		s.Damage++
		return
	}
	s.addLine(&l)
}

// addLine adds a line that counts to the status.
func (s *Status) addLine(l *line) {
	e, err := l.decodeCounted()
	if err != nil {
		s.Damage++
		return
	}
	countEntry(&s.Counts, e)
	s.LastInteraction = s.Counts.LastTurn
	if e.Type == TypeInfo {
		mergeInfo(&s.Info, e.Info)
	}
	if l.kind == TypeSession && s.Created.IsZero() {
		s.Created, s.Key = e.Time, e.Key
	}
	if !e.Time.IsZero() {
		s.Updated = e.Time
	}
}

// readStatus returns the status of a log: from its end if that is in order, else from all of it.
func readStatus(ctx context.Context, key string, log Log) (*Status, error) {
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	return readStatusOf(ctx, key, log, size)
}

// readStatusOf is readStatus for the first size bytes of a log. If key is "", the log's key is used.
func readStatusOf(ctx context.Context, key string, log Log, size int64) (*Status, error) {
	if size == 0 {
		return nil, ErrNotFound
	}
	st, err := tailStatus(log, size)
	if errors.Is(err, errSlow) || errors.Is(err, ErrTooLarge) {
		st = &Status{}
		err = st.scan(ctx, log, size)
	}
	if err != nil {
		return nil, fmt.Errorf("session: the status of %q: %w", key, err)
	}
	st.Log = log.ID()
	if st.Counts.Messages == nil {
		st.Counts.Messages = map[winnow.Role]int{}
	}
	if key != "" {
		st.Key = key
	}
	return st, nil
}

// scan computes the status from the first size bytes of a log.
func (s *Status) scan(ctx context.Context, log Log, size int64) error {
	scan := newScanner(log, size)
	err := scan.scan(ctx, func(l *line) error {
		s.addLine(l)
		return nil
	})
	s.Damage += len(scan.damage)
	s.Bytes = scan.valid
	return err
}

const (
	// statusEvery: Close adds a [TypeStatus] entry if the log has grown by this many bytes since the last one. The
	// status of any session is then found in the last few kilobytes of its log. Such an entry has about 300 bytes.
	statusEvery = 8 << 10

	// An entry with many labels is longer: it is written only after this many bytes for each label.
	statusEveryLabel = 512

	headStep = 4 << 10 // how much is read of the beginning of a log
)

// mayAppend reports whether the session has a log and may write to its branch. The lock is held.
func (s *Session) mayAppend() bool { return s.dead == nil && !s.beside && s.log != nil }

// sumUp writes what nobody waits for when a session is closed: unwritten flushes and, if the last one is far back, an
// entry with totals. If that fails, the next status only takes a little longer. The lock is held.
func (s *Session) sumUp() {
	if !s.mayAppend() || s.at.isReset || s.at.leaf.id == "" {
		return
	}
	entries := s.flushEntries()
	isWhole := len(s.at.damage) == 0 // a reader that begins here would miss the damage
	if isWhole && s.at.size-s.at.summed >= int64(max(statusEvery, statusEveryLabel*len(s.at.labels))) {
		entries = append(entries, &Entry{Type: TypeStatus, Full: &FullState{}})
	}
	if len(entries) > 0 {
		_ = s.write(context.Background(), false, entries...)
	}
}

// statusStep is how much of a log is read at once for its status: about what follows the newest [TypeStatus] entry.
const statusStep = 2 * statusEvery

// tailStatus reads back to the newest entry with totals.
func tailStatus(log Log, size int64) (*Status, error) {
	t := newTail(log, size)
	t.w.step, t.ahead.step, t.counted = statusStep, headStep, true
	last, err := t.w.load(size-1, size, size-statusStep, size)
	if err != nil {
		return nil, err
	}
	if last[0] != '\n' {
		return nil, errSlow
	}
	var s sides
	if err := t.sides(&s); err != nil {
		return nil, err
	}
	st := &Status{Bytes: size, Info: s.info, Counts: s.counts(), Updated: t.newestAt}
	st.LastInteraction = st.Counts.LastTurn
	header, err := t.lineAt(0)
	if err != nil || header.kind != TypeSession {
		return nil, errors.Join(err, errSlow)
	}
	e, err := header.decode()
	if err != nil {
		return nil, errSlow
	}
	st.Created, st.Key = e.Time, e.Key
	return st, nil
}
