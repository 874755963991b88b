package session

import (
	"context"
	"errors"
	"time"

	"github.com/winnowgo/winnow"
)

// The history that a manager gets is a function of the log alone: the same code builds it in a running session and in
// one that was opened again. If its form changed after a restart, the provider's prompt cache would be lost. It
// consists of
//
//   - the messages in Keep of the newest healthy compaction on the branch that stand in front of its summary,
//   - the summary of that compaction,
//   - the rest of Keep,
//   - the messages from FirstKept on, each with the content of its newest edit on the branch.

// loaded is the state of a session at the leaf of its log.
type loaded struct {
	header   *Entry
	headerAt int64 // where a new one is written
	history  []winnow.Message
	places   []place // of the messages in history
	prefix   int     // number of messages that the newest compaction put before the first one that it kept

	from    *From // of a log that has not begun
	leaf    line  // heads only, without texts
	newest  line  // the last line that counts
	seq     int64 // the highest one, including lines that do not count
	size    int64
	isReset bool // the branch ends in a reset

	state      []byte
	deltas     [][]byte
	stateSize  int  // of state
	deltasSize int  // of all deltas
	needsFull  bool // deltas are missing: later ones are useless before a full state

	info    Info
	labels  map[string]string
	counts  Counts
	updated time.Time // the newest entry
	summed  int64     // offset of the newest entry with totals
	damage  []Damage
	unended bool // the log does not end in a newline
}

// place is where a message of a history comes from.
type place struct {
	ref       Ref
	isSummary bool // ref is that of the compaction
}

// load reads a log: from its end if that is in order, else all of it.
func load(ctx context.Context, log Log, codec Codec) (*loaded, error) {
	size, err := log.Size()
	if err != nil || size == 0 {
		return &loaded{}, err
	}
	l, err := loadTail(log, size, codec)
	if errors.Is(err, errSlow) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNotFound) {
		l, err = loadWhole(ctx, log, size, codec)
	}
	return l, err
}

func loadTail(log Log, size int64, codec Codec) (*loaded, error) {
	last := make([]byte, 1)
	if _, err := log.ReadAt(last, size-1); err != nil {
		return nil, err
	}
	if last[0] != '\n' {
		return nil, errSlow
	}
	t := newTail(log, size)
	var s sides
	if err := t.sides(&s); err != nil {
		return nil, err
	}
	l := &loaded{size: size, newest: withoutText(t.newest), seq: t.highest, updated: t.newestAt}
	l.take(&s)
	header, err := t.lineAt(0)
	if err == nil && header.kind == TypeSession {
		l.header, err = header.decode()
	} else {
		err = errSlow
	}
	if err != nil {
		return nil, err
	}
	if err := l.walk(t, codec); err != nil {
		return nil, err
	}
	if len(l.damage) > 0 { // the whole log says more about it
		return nil, errSlow
	}
	return l, nil
}

func loadWhole(ctx context.Context, log Log, size int64, codec Codec) (*loaded, error) {
	var s sides
	t, err := newTree(ctx, log, size, &s)
	if err != nil {
		return nil, err
	}
	l := &loaded{size: size, newest: t.newest, seq: t.scan.highest, unended: t.scan.unended}
	l.take(&s)
	if n := len(t.lines); n > 0 {
		newest, err := t.line(n - 1)
		if err != nil {
			return nil, err
		}
		l.updated = newest.time()
	}
	if t.header >= 0 {
		header, err := t.line(t.header)
		if err != nil {
			return nil, err
		}
		if l.header, err = header.decode(); err != nil {
			return nil, err
		}
	}
	l.damage = append(t.scan.damage, t.lost...)
	if t.current < 0 {
		return l, nil
	}
	return l, l.walk(t, codec)
}

func withoutText(l line) line {
	l.data, l.body = nil, nil
	return l
}

func (l *loaded) take(s *sides) {
	l.info, l.labels, l.counts, l.summed = s.info, s.labels, s.counts(), s.at
}

// report notes an entry that cannot be read, or that cannot count the way it says.
func (l *loaded) report(offset int64, id, reason string) {
	l.damage = append(l.damage, Damage{Offset: offset, ID: id, Reason: reason})
}

// summaryMessage returns the summary message of a compaction, as winnow.Manager made it.
func summaryMessage(e *Entry) winnow.Message {
	if e.Message != nil {
		return *e.Message
	}
	return winnow.Message{Role: winnow.RoleUser, Summary: true, Parts: []winnow.Part{{Text: e.Summary}}}
}

const branchSummaryIntro = "This is a summary of a branch of the conversation that was left:\n\n"

func branchSummaryMessage(e *Entry) winnow.Message {
	parts := []winnow.Part{{Text: branchSummaryIntro + e.Summary}}
	return winnow.Message{ID: e.ID, Role: winnow.RoleUser, Injected: true, Parts: parts}
}
