package jsonl

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/errs"
)

// Walk reads the branch from its leaf to where the history begins.
func (l *Loaded) Walk(b branch, codec Decoder) error {
	w := walker{branch: b, Loaded: l, edits: map[string]edit{}}
	at, err := b.leaf()
	if err != nil {
		return err
	}
	l.Leaf = WithoutText(at)
	l.IsReset = at.Kind == entry.TypeReset
	for at.Kind != entry.TypeSession {
		if err := w.take(at); err != nil {
			return err
		}
		if w.isComplete() {
			break
		}
		id, offset := at.ID, at.Offset
		next, whole, err := b.parent(at)
		if errors.Is(err, errs.ErrNotFound) {
			l.report(offset, id, "its parent is missing, and nothing is before it")
			w.gap() // without a full state, deltas are valid only from the beginning
			break
		}
		if err != nil {
			return err
		}
		if !whole {
			l.report(offset, id, "its parent is missing: it follows "+next.ID)
			w.gap()
		}
		at = next
	}
	return w.finish(codec)
}

// walker collects what a branch holds, the newest entry first.
type walker struct {
	branch
	*Loaded
	edits     map[string]edit
	messages  []found
	summary   *entry.Entry // the newest healthy compaction
	summaryAt int64
	reached   bool // the first kept message was reached
	full      bool // a full state was found
}

// edit is an edit and its place. The zero value means that there is no edit.
type edit struct {
	*entry.Entry
	at int64
}

// found is a message of the history.
type found struct {
	message winnow.Message
	place   Place
	source  *entry.Source
}

func (w *walker) isComplete() bool { return w.full && w.summary != nil && w.reached }

// gap forgets deltas whose state is missing.
func (w *walker) gap() {
	if !w.full {
		w.Deltas, w.NeedsFull = nil, true
	}
}

func (w *walker) take(at Line) error {
	if w.summary != nil && w.summary.FirstKept != nil && at.Offset < w.summary.FirstKept.At {
		w.reached = true // the first kept message is missing: the summary covers what lies before
	}
	switch at.Kind {
	case entry.TypeMessage, entry.TypeCustomMessage, entry.TypeBranchSummary:
		if w.reached {
			return nil
		}
	case entry.TypeEdit, entry.TypeCompaction, entry.TypeErased:
	case entry.TypeState:
		if w.full {
			return nil
		}
	default:
		return nil
	}
	e, err := w.Entry(at)
	if errors.Is(err, errs.ErrSealed) {
		return err
	}
	if err != nil {
		w.report(at.Offset, at.ID, "the entry cannot be read")
		if at.Kind == entry.TypeState {
			w.gap()
		}
		return nil
	}
	kind := at.Kind
	if kind == entry.TypeErased && e.Target != "" {
		kind = entry.TypeEdit
	}
	switch kind {
	case entry.TypeState:
		w.takeState(e)
	case entry.TypeEdit:
		if w.edits[e.Target].Entry == nil {
			w.edits[e.Target] = edit{e, at.Offset}
		}
	case entry.TypeCompaction:
		if w.summary == nil && !e.Degraded {
			w.summary, w.summaryAt = e, at.Offset
			w.reached = e.FirstKept == nil
		}
	default:
		if w.reached {
			return nil
		}
		w.add(e, entry.Ref{ID: at.ID, At: at.Offset}, w.edits[at.ID])
		if w.summary != nil && w.summary.FirstKept.ID == at.ID {
			w.reached = true
		}
	}
	return nil
}

func (w *walker) takeState(e *entry.Entry) {
	if e.Full != nil {
		w.full, w.State = true, e.Full.State
	} else {
		w.Deltas = append(w.Deltas, e.Delta)
	}
}

// add appends the message of e, with the content of its edit.
func (w *walker) add(e *entry.Entry, ref entry.Ref, by edit) {
	f := found{place: Place{Ref: entry.Ref{ID: ref.ID, At: ref.At}}, source: e.Source}
	if by.Entry != nil {
		f.place.Ref.By = &entry.Ref{ID: by.ID, At: by.at}
	}
	switch {
	case by.Entry != nil && by.Omit:
		return
	case by.Entry != nil && by.Message != nil:
		f.message, f.source = *by.Message, nil
	case e.Type == entry.TypeBranchSummary:
		f.message = BranchSummaryMessage(e)
	case e.Message != nil:
		f.message = *e.Message
	default:
		return
	}
	w.messages = append(w.messages, f)
}

// finish puts the history together.
func (w *walker) finish(codec Decoder) error {
	slices.Reverse(w.messages)
	slices.Reverse(w.Deltas)
	if w.summary != nil {
		kept, err := w.kept()
		if err != nil {
			return err
		}
		w.Prefix = len(kept)
		w.messages = append(kept, w.messages...)
	}
	w.History = make([]winnow.Message, len(w.messages))
	w.Places = make([]Place, len(w.messages))
	for i, f := range w.messages {
		w.History[i], w.Places[i] = f.message, f.place
	}
	return w.decodeSources(codec)
}

// kept returns the messages before the first kept message.
func (w *walker) kept() ([]found, error) {
	newer := w.messages
	w.messages = nil
	front := 0
	isInFront := func(i int, m *winnow.Message) bool {
		if w.summary.Front == nil { // in a log from before there was this member
			return front == i && m.Role == winnow.RoleSystem
		}
		return i < *w.summary.Front
	}
	for i, ref := range w.summary.Keep {
		at, err := w.find(ref)
		if err != nil && !errors.Is(err, errs.ErrNotFound) {
			return nil, err
		}
		var e *entry.Entry
		if err == nil {
			e, err = w.Entry(at)
		}
		if errors.Is(err, errs.ErrSealed) {
			return nil, err
		}
		if err != nil {
			w.report(ref.At, ref.ID, "a message that a compaction keeps is missing")
			continue
		}
		by, err := w.editOf(ref)
		if err != nil {
			return nil, err
		}
		w.add(e, ref, by)
		if n := len(w.messages); n > 0 && isInFront(i, &w.messages[n-1].message) {
			front = n
		}
	}
	kept := w.messages
	w.messages = newer
	from := Place{Ref: entry.Ref{ID: w.summary.ID, At: w.summaryAt}, IsSummary: true}
	return slices.Insert(kept, front, found{message: SummaryMessage(w.summary), place: from}), nil
}

// editOf returns the newest edit of a message that a compaction keeps.
func (w *walker) editOf(ref entry.Ref) (edit, error) {
	if by := w.edits[ref.ID]; by.Entry != nil || ref.By == nil {
		return by, nil
	}
	at, err := w.find(*ref.By)
	if errors.Is(err, errs.ErrNotFound) {
		w.report(ref.By.At, ref.By.ID, "the edit of a message that a compaction keeps is missing")
		return edit{}, nil
	}
	if err != nil {
		return edit{}, err
	}
	e, err := w.Entry(at)
	return edit{e, at.Offset}, err
}

// Decoder is the half of a session.Codec that reads.
type Decoder interface {
	Name() string
	Decode(messages []winnow.Message, sources []json.RawMessage) error
}

// decodeSources lets the codec restore the sources.
func (w *walker) decodeSources(codec Decoder) error {
	if codec == nil {
		return nil
	}
	sources := make([]json.RawMessage, len(w.messages))
	known := false
	for i, f := range w.messages {
		if f.source != nil && f.source.Codec == codec.Name() {
			sources[i], known = f.source.Data, true
		}
	}
	if !known {
		return nil
	}
	if err := codec.Decode(w.History, sources); err != nil {
		w.Damage = append(w.Damage, entry.Damage{Reason: "the codec cannot read its sources: " + err.Error()})
		for i := range w.History {
			w.History[i] = w.messages[i].message
		}
	}
	return nil
}
