package jsonl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// The history that a manager gets is a function of the log alone: the same code builds it in a running session and in
// one that was opened again. If its form changed after a restart, the provider's prompt cache would be lost. It
// consists of
//
//   - the messages in Keep of the newest healthy compaction on the branch that stand in front of its summary,
//   - the summary of that compaction,
//   - the rest of Keep,
//   - the messages from FirstKept on, each with the content of its newest edit on the branch.

// Loaded is the state of a session at the leaf of its log.
type Loaded struct {
	Header   *entry.Entry
	HeaderAt int64 // where a new one is written
	History  []winnow.Message
	Places   []Place // of the messages in history
	Prefix   int     // number of messages that the newest compaction put before the first one that it kept

	From    *entry.From // of a log that has not begun
	Leaf    Line        // heads only, without texts
	Newest  Line        // the last line that counts
	Seq     int64       // the highest one, including lines that do not count
	Size    int64
	IsReset bool // the branch ends in a reset

	State      []byte
	Deltas     [][]byte
	StateSize  int  // of state
	DeltasSize int  // of all deltas
	NeedsFull  bool // deltas are missing: later ones are useless before a full state

	Info    entry.Info
	Labels  map[string]string
	Counts  entry.Counts
	Updated time.Time // the newest entry
	Summed  int64     // offset of the newest entry with totals
	Damage  []entry.Damage
	Unended bool // the log does not end in a newline
}

// Place is where a message of a history comes from.
type Place struct {
	Ref       entry.Ref
	IsSummary bool // ref is that of the compaction
}

// Load reads a log: from its end if that is in order, else all of it.
func Load(ctx context.Context, log Log, codec decoder) (*Loaded, error) {
	size, err := log.Size()
	if err != nil || size == 0 {
		return &Loaded{}, err
	}
	l, err := loadTail(log, size, codec)
	if errors.Is(err, ErrSlow) || errors.Is(err, errs.ErrTooLarge) || errors.Is(err, errs.ErrNotFound) {
		l, err = loadWhole(ctx, log, size, codec)
	}
	return l, err
}

func loadTail(log Log, size int64, codec decoder) (*Loaded, error) {
	last := make([]byte, 1)
	if _, err := log.ReadAt(last, size-1); err != nil {
		return nil, err
	}
	if last[0] != '\n' {
		return nil, ErrSlow
	}
	t := NewTail(log, size)
	var s Sides
	if err := t.Sides(&s); err != nil {
		return nil, err
	}
	l := &Loaded{Size: size, Newest: WithoutText(t.newest), Seq: t.highest, Updated: t.NewestAt}
	l.take(&s)
	header, err := t.LineAt(0)
	if err == nil && header.Kind == entry.TypeSession {
		l.Header, err = header.Decode()
	} else {
		err = ErrSlow
	}
	if err != nil {
		return nil, err
	}
	if err := l.Walk(t, codec); err != nil {
		return nil, err
	}
	if len(l.Damage) > 0 { // the whole log says more about it
		return nil, ErrSlow
	}
	return l, nil
}

func loadWhole(ctx context.Context, log Log, size int64, codec decoder) (*Loaded, error) {
	var s Sides
	t, err := NewTree(ctx, log, size, &s)
	if err != nil {
		return nil, err
	}
	l := &Loaded{Size: size, Newest: t.newest, Seq: t.Scan.Highest, Unended: t.Scan.Unended}
	l.take(&s)
	if n := len(t.Lines); n > 0 {
		newest, err := t.Line(n - 1)
		if err != nil {
			return nil, err
		}
		l.Updated = newest.time()
	}
	if t.Header >= 0 {
		header, err := t.Line(t.Header)
		if err != nil {
			return nil, err
		}
		if l.Header, err = header.Decode(); err != nil {
			return nil, err
		}
	}
	l.Damage = append(t.Scan.Damage, t.Lost...)
	if t.Current < 0 {
		return l, nil
	}
	return l, l.Walk(t, codec)
}

func WithoutText(l Line) Line {
	l.Data, l.body = nil, nil
	return l
}

func (l *Loaded) take(s *Sides) {
	l.Info, l.Labels, l.Counts, l.Summed = s.Info, s.Labels, s.Counts(), s.at
}

// report notes an entry that cannot be read, or that cannot count the way it says.
func (l *Loaded) report(offset int64, id, reason string) {
	l.Damage = append(l.Damage, entry.Damage{Offset: offset, ID: id, Reason: reason})
}

// SummaryMessage returns the summary message of a compaction, as winnow.Manager made it.
func SummaryMessage(e *entry.Entry) winnow.Message {
	if e.Message != nil {
		return *e.Message
	}
	return winnow.Message{Role: winnow.RoleUser, Summary: true, Parts: []winnow.Part{{Text: e.Summary}}}
}

const branchSummaryIntro = "This is a summary of a branch of the conversation that was left:\n\n"

func BranchSummaryMessage(e *entry.Entry) winnow.Message {
	parts := []winnow.Part{{Text: branchSummaryIntro + e.Summary}}
	return winnow.Message{ID: e.ID, Role: winnow.RoleUser, Injected: true, Parts: parts}
}

// CheckHeader returns an error if the log is of another key or format.
func (l *Loaded) CheckHeader(key string) error {
	switch {
	case l.Header == nil:
		return nil // damaged, or not written yet
	case l.Header.Format != FormatVersion:
		return fmt.Errorf("%w: the log of %q has format %d", errs.ErrFormat, key, l.Header.Format)
	case l.Header.Key != key:
		return fmt.Errorf("%w: the log of %q says that it is of %q", errs.ErrFormat, key, l.Header.Key)
	}
	return nil
}
