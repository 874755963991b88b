package jsonl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

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
	Header  *entry.Entry
	History []winnow.Message
	Places  []Place // of the messages in history
	Prefix  int     // number of messages that the newest compaction put before the first one that it kept

	From    *entry.From // of a log that has not begun
	Leaf    Line        // heads only, without texts
	Newest  Line        // the last line that counts
	Seq     int64       // the highest one, including lines that do not count
	Size    int64
	Valid   int64 // offset after the last line that counts
	IsReset bool  // the branch ends in a reset

	Deltas    [][]byte // of State
	NeedsFull bool     // deltas are missing: later ones are useless before a full state

	Sides
	Damage  []entry.Damage
	Unended bool // the log does not end in a newline
}

// Place is where a message of a history comes from.
type Place struct {
	Ref       entry.Ref
	IsSummary bool // ref is that of the compaction
}

// Log is what of a log is read.
type Log interface {
	io.ReaderAt
	Size() (int64, error)
}

// Load reads a log: from its end if that is in order, else all of it. seal and codec may be nil.
func Load(ctx context.Context, log Log, seal Sealer, codec Decoder) (*Loaded, error) {
	return load(ctx, log, seal, codec, everything)
}

// ReadTotals is Load without the history. Without seal it returns what can be read without keys.
func ReadTotals(ctx context.Context, log Log, seal Sealer) (*Loaded, error) {
	return load(ctx, log, seal, nil, totals)
}

// ReadInfo is [ReadTotals] for the info and the time of the newest entry alone.
func ReadInfo(ctx context.Context, log Log, seal Sealer) (*Loaded, error) {
	return load(ctx, log, seal, nil, infoOnly)
}

// extent is how much of a log is read.
type extent int

const (
	everything extent = iota
	totals
	infoOnly
)

func load(ctx context.Context, log Log, seal Sealer, codec Decoder, e extent) (*Loaded, error) {
	size, err := log.Size()
	if err != nil || size == 0 {
		return &Loaded{}, err
	}
	l, err := loadTail(log, size, seal, codec, e)
	if errors.Is(err, ErrSlow) || errors.Is(err, errs.ErrTooLarge) || errors.Is(err, errs.ErrNotFound) {
		l, err = loadWhole(ctx, log, size, seal, codec, e)
	}
	return l, err
}

func loadTail(log Log, size int64, seal Sealer, codec Decoder, e extent) (*Loaded, error) {
	t := NewTail(log, size, seal)
	if t.extent = e; e != everything {
		t.W.Step, t.ahead.Step = statusStep, HeadStep
	}
	s, err := t.sides()
	if err != nil {
		return nil, err
	}
	l := &Loaded{Size: size, Valid: size, Newest: WithoutText(t.newest), Seq: t.highest, Sides: s}
	if e == infoOnly {
		return l, nil
	}
	if l.Header, err = t.Header(); err != nil || e == totals {
		return l, err
	}
	if err := l.Walk(t, codec); err != nil {
		return nil, err
	}
	if len(l.Damage) > 0 { // the whole log says more about it
		return nil, ErrSlow
	}
	return l, nil
}

func loadWhole(ctx context.Context, log Log, size int64, seal Sealer, codec Decoder, e extent) (*Loaded, error) {
	var s Sides
	t, err := NewTree(ctx, log, size, seal, &s)
	if err != nil {
		return nil, err
	}
	l := &Loaded{Size: size, Valid: t.Scan.Valid, Newest: t.newest, Seq: t.Scan.Highest, Sides: s}
	l.Unended, l.Damage = t.Scan.Unended, append(t.Scan.Damage, t.Lost...)
	if t.Header >= 0 {
		header, err := t.Line(t.Header)
		if err != nil {
			return nil, err
		}
		if l.Header, err = header.Decode(); err != nil {
			return nil, err
		}
	}
	if t.Current < 0 || e != everything {
		return l, nil
	}
	return l, l.Walk(t, codec)
}

func WithoutText(l Line) Line {
	l.Data = nil
	return l
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

// Sides is what a log says beside the branch: all but the State of its totals.
type Sides struct {
	entry.FullState
	Summed int64 // offset of the newest entry with totals; 0: none
}

// Take takes in an entry that comes after what s says, at an offset in the log.
func (s *Sides) Take(e *entry.Entry, at int64) {
	if e.Full != nil {
		s.Info, s.Labels, s.Counts = e.Full.Info, maps.Clone(e.Full.Labels), CloneCounts(e.Full.Counts)
		s.Summed = at
	}
	CountEntry(&s.Counts, e)
	switch {
	case e.Type == entry.TypeInfo:
		MergeInfo(&s.Info, e.Info)
	case e.Type == entry.TypeLabel && e.Label == "":
		delete(s.Labels, e.Target)
	case e.Type == entry.TypeLabel:
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		s.Labels[e.Target] = e.Label
	}
}

// MergeInfo takes in what next changes.
func MergeInfo(i, next *entry.Info) {
	if next == nil {
		return
	}
	if next.Title != nil {
		i.Title = next.Title
	}
	if next.Pinned != nil {
		i.Pinned = next.Pinned
	}
	if next.Archived != nil {
		i.Archived = next.Archived
	}
}

// CloneCounts returns a copy that shares nothing with c.
func CloneCounts(c entry.Counts) entry.Counts {
	out := c
	out.Messages, out.Models = maps.Clone(c.Messages), maps.Clone(c.Models)
	if out.Messages == nil {
		out.Messages = map[winnow.Role]int{}
	}
	return out
}

// CountEntry counts e in c.
func CountEntry(c *entry.Counts, e *entry.Entry) {
	if e.Type == entry.TypeStatus {
		return
	}
	c.Entries++
	switch countedAs(e) {
	case entry.TypeMessage:
		m := e.Message
		if m == nil {
			return
		}
		if c.Messages == nil {
			c.Messages = make(map[winnow.Role]int, 4)
		}
		c.Messages[m.Role]++
		if beginsTurn(m) {
			c.Turns++
			c.LastTurn = e.Time.UTC().Round(0)
		}
		countUsage(c, e.Model, m.Usage)
		countRequest(c, m, e.Batch)
	case entry.TypeCompaction:
		c.Compactions++
		c.Tokens = e.TokensAfter
		if e.Degraded {
			c.Degraded++
		}
	case entry.TypeFlush:
		c.Flushes++
	case entry.TypeEdit:
		c.Edits++
		c.Tokens = 0
	case entry.TypeLeaf:
		c.Tokens = 0
	case entry.TypeErased:
		c.Erased++
		c.Tokens = 0
	case entry.TypeUsage:
		countUsage(c, e.Model, e.Usage)
		c.Window = cmp.Or(e.Window, c.Window)
	}
}

// countRequest takes in the tokens of the request that m answers. An answer may be several messages, of which one has
// the usage.
func countRequest(c *entry.Counts, m *winnow.Message, batch [2]int64) {
	switch u := m.Usage; {
	case m.Role != winnow.RoleAssistant:
	case u != nil:
		c.Tokens = u.Prompt()
	case batch[0] <= 1:
		c.Tokens = 0
	}
}

func countUsage(c *entry.Counts, model string, u *winnow.Usage) {
	if u == nil {
		return
	}
	c.LastUsage = u
	AddUsage(&c.Usage, u)
	if c.Models == nil {
		c.Models = make(map[string]entry.ModelUsage, 1)
	}
	of := c.Models[model]
	of.Calls++
	of.Last = *u
	AddUsage(&of.Sum, u)
	c.Models[model] = of
}

// AddUsage adds u to sum.
func AddUsage(sum, u *winnow.Usage) {
	sum.Input += u.Input
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.LongWrite += u.LongWrite
	sum.Output += u.Output
}

// beginsTurn reports whether a person wrote m.
func beginsTurn(m *winnow.Message) bool {
	return m.Role == winnow.RoleUser && !m.Injected && !m.Summary
}

// countedAs returns the type that an entry counts as.
func countedAs(e *entry.Entry) entry.Type {
	switch {
	case e.Type != entry.TypeErased:
		return e.Type
	case e.Was != "":
		return e.Was
	case e.Target != "":
		return entry.TypeEdit
	case e.Message != nil && e.Name == "":
		return entry.TypeMessage
	}
	return entry.TypeErased
}
