package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Import makes a new session of existing entries: those that [Store.Entries] yields, or those that package transcript
// reads from the files of other programs. It stores all of them or none.
//
// Entries keep their ids, parents, times and labels. An entry without an id gets one, and an entry without a time gets
// that of the entry before it. The first may be a header, whose key is ignored. The parent of an entry on a branch must
// precede it; without a ParentID the entry follows the header, except for an entry of [TypeCustom], which then stands
// beside the branch. References to messages need no offsets. Entries of [TypeState] and [TypeStatus] are left out: they
// belong to the store that wrote them. Options.Redact is called for every message, and for each summary and data as if
// it were the text of an injected message.
//
// The error is [ErrExists] if the session already has entries, and [ErrFormat] if an id occurs twice or a parent is
// missing. The entries and what they point to must not be changed afterwards.
func (s *Store) Import(ctx context.Context, key string, entries []*Entry) error {
	target, err := s.Resume(ctx, key)
	if err != nil {
		return err
	}
	err = target.fill(ctx, entries)
	return errors.Join(err, target.Close())
}

// fill writes the first log of a session, which must not be used afterwards.
func (s *Session) fill(ctx context.Context, entries []*Entry) error {
	if s.at.size > 0 {
		return fmt.Errorf("%w: %q", ErrExists, s.key)
	}
	im := importer{
		session: s, taken: make(map[string]bool, len(entries)), offsets: make(map[string]int64, len(entries)),
		parents: map[string]string{}, labels: map[string]string{},
	}
	if err := im.write(ctx, entries); err != nil {
		return fmt.Errorf("session: importing %q: %w", s.key, err)
	}
	durable := s.store.opts.Durability == Sync
	if err := s.log.Append(ctx, 0, s.encoder.lines, durable); err != nil {
		return fmt.Errorf("session: importing %q: %w", s.key, err)
	}
	return nil
}

// importer writes entries in the form of a log.
type importer struct {
	session *Session
	taken   map[string]bool   // ids
	offsets map[string]int64  // by id, of the written lines
	parents map[string]string // by id of an entry that is left out: the entry that it followed
	labels  map[string]string
	info    Info
	counts  Counts
	root    string // the header
	leaf    string // the newest entry of the branch
	ended   bool   // a reset ended the log
	seq     int64
	newest  int64     // offset of the last line
	time    time.Time // of the last line
}

func (im *importer) write(ctx context.Context, entries []*Entry) error {
	if err := im.take(entries); err != nil {
		return err
	}
	im.session.encoder.lines = make([]byte, 0, roomFor(entries))
	header := im.session.newHeader()
	if len(entries) > 0 && entries[0].Type == TypeSession {
		header.ID, header.Time, header.From = entries[0].ID, entries[0].Time, entries[0].From
		entries = entries[1:]
	}
	if err := im.add(header); err != nil {
		return err
	}
	im.root, im.leaf = header.ID, header.ID
	for i, e := range entries {
		if i&1023 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := im.entry(*e); err != nil {
			return fmt.Errorf("entry %d, %q: %w", i+1, e.ID, err)
		}
	}
	return im.full()
}

// roomFor estimates the length of the log of entries, in bytes.
func roomFor(entries []*Entry) int {
	const perLine = 200
	n := 0
	for _, e := range entries {
		n += perLine + len(e.Data) + len(e.Summary)
		if e.Source != nil {
			n += len(e.Source.Data)
		}
		if e.Message == nil {
			continue
		}
		n += len(e.Message.Details)
		for i := range e.Message.Parts {
			p := &e.Message.Parts[i]
			n += perLine/2 + len(p.Text) + len(p.Signature) + len(p.Arguments)
		}
	}
	return n + n/8 // escapes
}

// maxImported is the highest number that an imported id of our form may have. New entries get higher numbers.
const maxImported = maxSeq / 2

// take reserves the ids of entries.
func (im *importer) take(entries []*Entry) error {
	for _, e := range entries {
		if e.ID == "" {
			continue
		}
		if im.taken[e.ID] {
			return fmt.Errorf("%w: the id %q is there twice", ErrFormat, e.ID)
		}
		if h := (head{id: e.ID}); h.number() > maxImported {
			return fmt.Errorf("%w: no number is left behind the id %q", ErrFormat, e.ID)
		}
		im.taken[e.ID] = true
	}
	return nil
}

// entry writes a copy of an entry.
func (im *importer) entry(e Entry) error {
	switch {
	case e.Type == TypeSession:
		return fmt.Errorf("%w: a second header", ErrFormat)
	case e.Type == TypeState, e.Type == TypeStatus:
		im.parents[e.ID] = im.parentOf(e.ParentID)
		return nil
	case !isOnBranch(e.Type) && e.Type != TypeErased: // what was erased stands where it stood, on a branch or beside it
		e.ParentID = ""
	case e.ParentID != "":
		e.ParentID = im.parentOf(e.ParentID)
	case e.Type == TypeErased, e.Type == TypeCustom: // beside the branch
	default:
		e.ParentID = im.root
	}
	if e.Type == TypeLeaf {
		e.Target = im.parentOf(e.Target)
	}
	if err := im.session.redactEntry(&e); err != nil {
		return err
	}
	if err := e.clean(); err != nil {
		return err
	}
	im.refer(&e)
	if err := im.placeAt(&e); err != nil {
		return err
	}
	return im.add(&e)
}

// parentOf returns id itself, or the entry that stands in for it if it was left out.
func (im *importer) parentOf(id string) string {
	if parent, ok := im.parents[id]; ok {
		return parent
	}
	return id
}

// clean brings the content of e into the form that this package writes.
func (e *Entry) clean() error {
	for _, raw := range []*json.RawMessage{&e.Data, &e.Delta} {
		if err := toOneLine(raw); err != nil {
			return err
		}
	}
	if e.Source != nil {
		source := *e.Source
		if err := toOneLine(&source.Data); err != nil {
			return err
		}
		e.Source = &source
	}
	if e.Exact = nil; e.Message != nil {
		m, err := canonical(*e.Message)
		if err != nil {
			return err
		}
		e.Message = &m
	}
	for _, s := range []*string{&e.ID, &e.ParentID, &e.Name, &e.Summary, &e.Target, &e.Reason, &e.Label, &e.Model} {
		toUTF8(s)
	}
	return nil
}

func toOneLine(raw *json.RawMessage) (err error) {
	if *raw != nil {
		*raw, err = oneLine(*raw)
	}
	return err
}

// refer sets the offsets of references to those of this log. A reference to a missing entry is dropped.
func (im *importer) refer(e *Entry) {
	e.Keep = moved(e.Keep, im.offsets)
	if e.FirstKept == nil {
		return
	}
	first := moved([]Ref{*e.FirstKept}, im.offsets)
	if e.FirstKept = nil; len(first) > 0 {
		e.FirstKept = &first[0]
	}
}

// placeAt sets the offset of e's parent, or of a leaf's target, if that is not the previous line.
func (im *importer) placeAt(e *Entry) error {
	e.At = nil
	before := e.ParentID
	if e.Type == TypeLeaf {
		before = e.Target
	}
	if before == "" {
		return nil
	}
	at, ok := im.offsets[before]
	if !ok {
		return fmt.Errorf("%w: %q does not stand before it", ErrFormat, before)
	}
	if e.Type == TypeLeaf || at != im.newest {
		e.At = &at
	}
	return nil
}

// add writes e as the next line.
func (im *importer) add(e *Entry) error {
	x := &im.session.encoder
	e.Seq, e.Batch = 0, [2]int64{} // the log is made whole or not at all
	im.seq = seqAfter(im.seq, e)
	e.Seq = im.seq
	for e.ID == "" {
		if id := "e" + strconv.FormatInt(im.seq, 10); !im.taken[id] {
			e.ID, e.Seq = id, im.seq
			break
		}
		im.seq++
	}
	if e.Time.IsZero() { // it gets the time of the line before it
		e.Time = im.time
	}
	if e.Time.IsZero() {
		e.Time = im.session.store.opts.Now()
	}
	im.time = e.Time
	at := int64(len(x.lines))
	if err := x.append(e); err != nil {
		return err
	}
	im.offsets[e.ID], im.newest = at, at
	countEntry(&im.counts, e)
	switch {
	case e.ParentID != "":
		im.leaf, im.ended = e.ID, e.Type == TypeReset
	case e.Type == TypeLeaf:
		im.leaf, im.ended = e.Target, false
	case e.Type == TypeInfo:
		mergeInfo(&im.info, e.Info)
	case e.Type == TypeLabel && e.Label == "":
		delete(im.labels, e.Target)
	case e.Type == TypeLabel:
		im.labels[e.Target] = e.Label
	}
	return nil
}

// full writes a full state without a manager's, so that no reader has to read the whole log.
func (im *importer) full() error {
	if im.leaf == im.root || im.ended {
		return nil
	}
	e := &Entry{Type: TypeState, ParentID: im.leaf}
	e.Full = &FullState{Counts: cloneCounts(im.counts), Info: im.info, Labels: im.labels}
	if err := im.placeAt(e); err != nil {
		return err
	}
	return im.add(e)
}
