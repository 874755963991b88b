package session

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/winnowgo/winnow"
)

// walk reads the branch from its leaf to where the history begins.
func (l *loaded) walk(b branch, codec Codec) error {
	w := walker{branch: b, loaded: l, edits: map[string]edit{}}
	at, err := b.leaf()
	if err != nil {
		return err
	}
	l.leaf = withoutText(at)
	l.isReset = at.kind == TypeReset
	for at.kind != TypeSession {
		if err := w.take(at); err != nil {
			return err
		}
		if w.isComplete() {
			break
		}
		id, offset := at.id, at.offset
		next, whole, err := b.parent(at)
		if errors.Is(err, ErrNotFound) {
			l.report(offset, id, "its parent is missing, and nothing is before it")
			w.gap() // without a full state, deltas are valid only from the beginning
			break
		}
		if err != nil {
			return err
		}
		if !whole {
			l.report(offset, id, "its parent is missing: it follows "+next.id)
			w.gap()
		}
		at = next
	}
	return w.finish(codec)
}

// walker collects what a branch holds, the newest entry first.
type walker struct {
	branch
	*loaded
	edits     map[string]edit
	messages  []found
	summary   *Entry // the newest healthy compaction
	summaryAt int64
	reached   bool // the first kept message was reached
	full      bool // a full state was found
}

// edit is an edit and its place. The zero value means that there is no edit.
type edit struct {
	*Entry
	at int64
}

// found is a message of the history.
type found struct {
	message winnow.Message
	place   place
	source  *Source
}

func (w *walker) isComplete() bool { return w.full && w.summary != nil && w.reached }

// gap forgets deltas whose state is missing.
func (w *walker) gap() {
	if !w.full {
		w.deltas, w.deltasSize, w.needsFull = nil, 0, true
	}
}

func (w *walker) take(at line) error {
	if w.summary != nil && w.summary.FirstKept != nil && at.offset < w.summary.FirstKept.At {
		w.reached = true // the first kept message is missing: the summary covers what lies before
	}
	wanted := !w.reached
	switch at.kind {
	case TypeMessage, TypeCustomMessage, TypeBranchSummary:
		if !wanted {
			return nil
		}
	case TypeEdit, TypeCompaction, TypeErased:
	case TypeState:
		if w.full {
			return nil
		}
	default:
		return nil
	}
	e, err := w.entry(at)
	if errors.Is(err, ErrSealed) {
		return err
	}
	if err != nil {
		w.report(at.offset, at.id, "the entry cannot be read")
		if at.kind == TypeState {
			w.gap()
		}
		return nil
	}
	kind := at.kind
	if kind == TypeErased && e.Target != "" {
		kind = TypeEdit
	}
	switch kind {
	case TypeState:
		return w.takeState(e)
	case TypeEdit:
		if w.edits[e.Target].Entry == nil {
			w.edits[e.Target] = edit{e, at.offset}
		}
	case TypeCompaction:
		if w.summary == nil && !e.Degraded {
			w.summary, w.summaryAt = e, at.offset
			w.reached = e.FirstKept == nil
		}
	default:
		if !wanted {
			return nil
		}
		w.add(e, Ref{ID: at.id, At: at.offset}, w.edits[at.id])
		if w.summary != nil && w.summary.FirstKept.ID == at.id {
			w.reached = true
		}
	}
	return nil
}

func (w *walker) takeState(e *Entry) error {
	if e.Full == nil {
		delta, err := bytesOfJSON(e.Delta)
		if err != nil {
			w.gap()
			return nil
		}
		w.deltas = append(w.deltas, delta)
		w.deltasSize += len(delta)
		return nil
	}
	state, err := bytesOfJSON(e.Full.State)
	if err != nil {
		w.gap()
		return nil
	}
	w.full = true
	w.state, w.stateSize = state, len(state)
	return nil
}

// add appends the message of e, with the content of its edit.
func (w *walker) add(e *Entry, ref Ref, by edit) {
	f := found{place: place{ref: Ref{ID: ref.ID, At: ref.At}}, source: e.Source}
	if by.Entry != nil {
		f.place.ref.By = &Ref{ID: by.ID, At: by.at}
	}
	switch {
	case by.Entry != nil && by.Omit:
		return
	case by.Entry != nil && by.Message != nil:
		f.message, f.source = *by.Message, nil
	case e.Type == TypeBranchSummary:
		f.message = branchSummaryMessage(e)
	case e.Message != nil:
		f.message = *e.Message
	default:
		return
	}
	w.messages = append(w.messages, f)
}

// finish puts the history together.
func (w *walker) finish(codec Codec) error {
	slices.Reverse(w.messages)
	slices.Reverse(w.deltas)
	if w.summary != nil {
		kept, err := w.kept()
		if err != nil {
			return err
		}
		w.prefix = len(kept)
		w.messages = append(kept, w.messages...)
	}
	w.history = make([]winnow.Message, len(w.messages))
	w.places = make([]place, len(w.messages))
	for i, f := range w.messages {
		w.history[i], w.places[i] = f.message, f.place
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
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		var e *Entry
		if err == nil {
			e, err = w.entry(at)
		}
		if errors.Is(err, ErrSealed) {
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
	from := place{ref: Ref{ID: w.summary.ID, At: w.summaryAt}, isSummary: true}
	return slices.Insert(kept, front, found{message: summaryMessage(w.summary), place: from}), nil
}

// editOf returns the newest edit of a message that a compaction keeps.
func (w *walker) editOf(ref Ref) (edit, error) {
	if by := w.edits[ref.ID]; by.Entry != nil || ref.By == nil {
		return by, nil
	}
	at, err := w.find(*ref.By)
	if errors.Is(err, ErrNotFound) {
		w.report(ref.By.At, ref.By.ID, "the edit of a message that a compaction keeps is missing")
		return edit{}, nil
	}
	if err != nil {
		return edit{}, err
	}
	e, err := w.entry(at)
	return edit{e, at.offset}, err
}

// decodeSources lets the codec restore the sources.
func (w *walker) decodeSources(codec Codec) error {
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
	if err := codec.Decode(w.history, sources); err != nil {
		w.damage = append(w.damage, Damage{Reason: "the codec cannot read its sources: " + err.Error()})
		for i := range w.history {
			w.history[i] = w.messages[i].message
		}
	}
	return nil
}
