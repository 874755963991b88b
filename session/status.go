package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
)

// Status is what a session adds up to: a row of [Store.List]. It is derived from the newest log of the session.
type Status struct {
	Key             string    `json:"key"`
	Log             string    `json:"log"`   // its newest log, as the backend names it
	Bytes           int64     `json:"bytes"` // of that log, up to the last line that counts
	Created         time.Time `json:"created,omitzero"`
	Updated         time.Time `json:"updated,omitzero"`         // the newest entry
	LastInteraction time.Time `json:"lastInteraction,omitzero"` // the newest message of a person
	Info            Info      `json:"info,omitzero"`
	Counts          Counts    `json:"counts"`
	Damage          int       `json:"damage,omitempty"` // places that were met; Verify looks for all

	// Open says that somebody has the turn. It informs, and may leave out one who has written nothing yet.
	Open bool `json:"open,omitempty"`
}

// Add makes lines part of the status, which were appended to the log that it is of. It is for a [Backend] that keeps
// the status of its sessions: it calls Add with what its Append gets, and begins with an empty one that has the key
// and the log where it makes a log.
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

// addLine makes a line that counts part of the status.
func (s *Status) addLine(l *line) {
	e, err := l.decodeCounted()
	if err != nil {
		s.Damage++
		return
	}
	s.Counts.add(e)
	s.LastInteraction = s.Counts.LastTurn
	if e.Type == TypeInfo {
		s.Info.merge(e.Info)
	}
	if l.kind == TypeSession && s.Created.IsZero() {
		s.Created, s.Key = e.Time, e.Key
	}
	if !e.Time.IsZero() {
		s.Updated = e.Time
	}
}

// readStatus returns the status of a log: from its end where that is in order, else from the whole of it.
func readStatus(ctx context.Context, key string, log Log) (*Status, error) {
	size, err := log.Size()
	if err != nil {
		return nil, err
	}
	return readStatusOf(ctx, key, log, size)
}

// readStatusOf is readStatus for the first size bytes of a log. Where the key is not known, it is what the log says.
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

// scan makes the first size bytes of a log the status.
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
	// statusEvery is after how many bytes a session that is closed leaves a [TypeStatus] entry: the status of any
	// session is then found in the last few kilobytes of its log. Such an entry has about 300 bytes.
	statusEvery = 8 << 10

	// One with many labels is longer; it may outweigh its log as little.
	statusEveryLabel = 512

	headStep = 4 << 10 // what is read of the beginning of a log
)

// sumUp leaves what nobody waits for when a session is closed: flushes that are not written yet, and an entry that
// says what those before it add up to, if there is none for a while. Where it cannot be written, the next status takes
// a little longer. The lock is held.
func (s *Session) sumUp() {
	if s.dead != nil || s.beside || s.log == nil || s.at.isReset || s.at.leaf.id == "" {
		return
	}
	entries := s.flushEntries()
	isWhole := len(s.at.damage) == 0 // a reader that begins here would not meet the damage
	if isWhole && s.at.size-s.at.summed >= int64(max(statusEvery, statusEveryLabel*len(s.at.labels))) {
		entries = append(entries, &Entry{Type: TypeStatus, Full: &FullState{}})
	}
	if len(entries) > 0 {
		_ = s.write(context.Background(), false, entries...)
	}
}

// statusKeeper is a [Log] that remembers the status of its session once nobody writes to it.
type statusKeeper interface{ keep(*Status) }

// tellStatus tells the backend what the session adds up to. The lock is held.
func (s *Session) tellStatus() {
	log := s.log
	if sealed, ok := log.(keyedLog); ok {
		log = sealed.Log
	}
	k, ok := log.(statusKeeper)
	if !ok || s.dead != nil || s.beside || s.at.size == 0 {
		return
	}
	size, err := s.log.Size()
	if err == nil && size != s.at.size { // somebody wrote beside the branch
		err = s.takeIn(context.Background(), size)
	}
	if err != nil || s.at.header == nil || len(s.at.damage) > 0 || s.at.unended {
		return
	}
	st := &Status{
		Key: s.key, Log: s.log.ID(), Bytes: s.at.size, Info: s.at.info, Counts: s.at.counts.clone(),
		Created: s.at.header.Time.UTC().Round(0), Updated: s.at.updated.UTC().Round(0),
		LastInteraction: s.at.counts.LastTurn,
	}
	if s.store.opts.Seal != nil {
		st.Info.Title = nil // the backend has no keys, and what it keeps is for everybody
	}
	k.keep(st)
}

// statusStep is how much of a log is read at once for its status: what lies behind the newest [TypeStatus] entry.
const statusStep = 2 * statusEvery

// tailStatus reads back to the newest entry that says what is before it.
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
