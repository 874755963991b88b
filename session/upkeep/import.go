package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Import makes a new session of existing entries: those that [session.Store.Entries] yields, or those that package
// transcript reads from the files of other programs. It stores all of them or none.
//
// Entries keep their ids, parents, times and labels. An entry without an id gets one, and an entry without a time gets
// that of the entry before it. The first may be a header, whose key is ignored. The parent of an entry on a branch must
// precede it; without a ParentID the entry follows the header, except for an entry of [entry.TypeCustom], which then
// stands beside the branch. References to messages need no offsets. Entries of [entry.TypeState] and [entry.TypeStatus]
// are left out: they belong to the store that wrote them. Options.Redact is called for every message, and for each
// summary and data as if it were the text of an injected message.
//
// The error is [session.ErrExists] if the session already has entries, and [session.ErrFormat] if an id occurs twice or
// a parent is missing; a message with a role or a kind that is none is a [*winnow.InvalidMessageError]. The entries and
// what they point to must not be changed afterwards.
func Import(ctx context.Context, s *session.Store, key string, entries []*entry.Entry) error {
	turn, err := s.Backend().Turn(ctx, key)
	if err != nil {
		return err
	}
	log, err := turn.Log(ctx)
	if err == nil {
		err = errors.Join(fill(ctx, s.Options(), key, log, entries), log.Close())
	}
	return errors.Join(err, turn.Release())
}

// fill writes entries to an empty log.
func fill(ctx context.Context, opts session.Options, key string, log backend.Log, entries []*entry.Entry) error {
	size, err := log.Size()
	if err != nil {
		return err
	}
	if size > 0 {
		return fmt.Errorf("%w: %q", session.ErrExists, key)
	}
	im := importer{
		opts: opts, key: key, taken: make(map[string]bool, len(entries)), offsets: make(map[string]int64, len(entries)),
		parents: map[string]string{}, encoder: jsonl.Encoder{Seal: opts.Seal},
	}
	if err = im.write(ctx, entries); err == nil {
		err = log.Append(ctx, 0, im.encoder.Lines, opts.Durability == session.Sync)
	}
	if err != nil {
		return fmt.Errorf("session: importing %q: %w", key, err)
	}
	return nil
}

// importer writes entries in the form of a log.
type importer struct {
	opts    session.Options
	key     string
	encoder jsonl.Encoder
	taken   map[string]bool   // ids
	offsets map[string]int64  // by id, of the written lines
	parents map[string]string // by id of an entry that is left out: the entry that it followed
	sums    jsonl.Sides       // of what is written
	root    string            // the header
	leaf    string            // the newest entry of the branch
	ended   bool              // a reset ended the log
	seq     int64
	newest  int64     // offset of the last line
	time    time.Time // of the last line
}

func (im *importer) write(ctx context.Context, entries []*entry.Entry) error {
	if err := im.take(entries); err != nil {
		return err
	}
	header := &entry.Entry{Type: entry.TypeSession, Format: jsonl.FormatVersion, Key: im.key}
	if len(entries) > 0 && entries[0].Type == entry.TypeSession {
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
			if invalid := (*winnow.InvalidMessageError)(nil); errors.As(err, &invalid) {
				invalid.Index = i
			}
			return fmt.Errorf("entry %d, %q: %w", i+1, e.ID, err)
		}
	}
	return im.full()
}

// maxImported is the highest number that an imported id of our form may have. New entries get higher numbers.
const maxImported = jsonl.MaxSeq / 2

// take reserves the ids of entries.
func (im *importer) take(entries []*entry.Entry) error {
	for _, e := range entries {
		if e.ID == "" {
			continue
		}
		if im.taken[e.ID] {
			return fmt.Errorf("%w: the id %q is there twice", session.ErrFormat, e.ID)
		}
		if h := (jsonl.Head{ID: e.ID}); h.Number() > maxImported {
			return fmt.Errorf("%w: no number is left behind the id %q", session.ErrFormat, e.ID)
		}
		im.taken[e.ID] = true
	}
	return nil
}

// entry writes a copy of an entry.
func (im *importer) entry(e entry.Entry) error {
	switch {
	case e.Type == entry.TypeSession:
		return fmt.Errorf("%w: a second header", session.ErrFormat)
	case e.Type == entry.TypeState, e.Type == entry.TypeStatus:
		im.parents[e.ID] = im.parentOf(e.ParentID)
		return nil
	case !jsonl.IsOnBranch(e.Type) && e.Type != entry.TypeErased: // which stands where it stood, on a branch or beside
		e.ParentID = ""
	case e.ParentID != "":
		e.ParentID = im.parentOf(e.ParentID)
	case e.Type == entry.TypeErased, e.Type == entry.TypeCustom: // beside the branch
	default:
		e.ParentID = im.root
	}
	if e.Type == entry.TypeLeaf {
		e.Target = im.parentOf(e.Target)
	}
	if err := im.redact(&e); err != nil {
		return err
	}
	if e.Message != nil {
		if err := winnow.Validate([]winnow.Message{*e.Message}); err != nil {
			return err
		}
	}
	if err := clean(&e); err != nil {
		return err
	}
	jsonl.Refer(&e, im.offsets)
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
func clean(e *entry.Entry) error {
	var err error
	if e.Data != nil {
		e.Data, err = jsonl.OneLine(e.Data)
	}
	if e.Source != nil && err == nil {
		source := *e.Source
		source.Data, err = jsonl.OneLine(source.Data)
		e.Source = &source
	}
	if e.Exact = nil; e.Message != nil && err == nil {
		m := *e.Message
		m, err = jsonl.Canonical(m)
		e.Message = &m
	}
	for _, s := range []*string{&e.ID, &e.ParentID, &e.Name, &e.Summary, &e.Target, &e.Reason, &e.Label, &e.Model} {
		jsonl.ToUTF8(s)
	}
	return err
}

// placeAt sets the offset of e's parent, or of a leaf's target, if that is not the previous line.
func (im *importer) placeAt(e *entry.Entry) error {
	e.At = nil
	before := e.ParentID
	if e.Type == entry.TypeLeaf {
		before = e.Target
	}
	if before == "" {
		return nil
	}
	at, ok := im.offsets[before]
	if !ok {
		return fmt.Errorf("%w: %q does not stand before it", session.ErrFormat, before)
	}
	if e.Type == entry.TypeLeaf || at != im.newest {
		e.At = &at
	}
	return nil
}

// add writes e as the next line.
func (im *importer) add(e *entry.Entry) error {
	x := &im.encoder
	e.Seq, e.Batch = 0, [2]int64{} // the log is made whole or not at all
	im.seq = jsonl.SeqAfter(im.seq, e)
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
		e.Time = im.opts.Now()
	}
	im.time = e.Time
	at := int64(len(x.Lines))
	if err := x.Append(e); err != nil {
		return err
	}
	im.offsets[e.ID], im.newest = at, at
	im.sums.Take(e, at)
	switch {
	case e.ParentID != "":
		im.leaf, im.ended = e.ID, e.Type == entry.TypeReset
	case e.Type == entry.TypeLeaf:
		im.leaf, im.ended = e.Target, false
	}
	return nil
}

// full writes a full state without a manager's, so that no reader has to read the whole log.
func (im *importer) full() error {
	if im.leaf == im.root || im.ended {
		return nil
	}
	e := &entry.Entry{Type: entry.TypeState, ParentID: im.leaf, Full: &im.sums.FullState}
	if err := im.placeAt(e); err != nil {
		return err
	}
	return im.add(e)
}

// redact redacts an imported entry. The entry is a copy, but what it points to is not.
func (im *importer) redact(e *entry.Entry) error {
	if im.opts.Redact == nil {
		return nil
	}
	if e.Message != nil {
		m, isChanged, err := jsonl.Redacted(*e.Message, im.opts.Redact)
		if err != nil {
			return err
		}
		if isChanged {
			e.Source = nil // it has the old text
		}
		e.Message = &m
	}
	var err error
	if e.Summary, err = im.redactText(e.Summary); err != nil || e.Data == nil {
		return err
	}
	text, err := im.redactText(string(e.Data))
	if e.Data = json.RawMessage(text); !json.Valid(e.Data) {
		e.Data = jsontext.Quote(text)
	}
	return err
}

// redactText redacts a text outside of a message.
func (im *importer) redactText(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	parts := []winnow.Part{{Text: text}}
	m, _, err := jsonl.Redacted(winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: parts}, im.opts.Redact)
	var b strings.Builder
	for i := range m.Parts {
		b.WriteString(m.Parts[i].Text)
	}
	return b.String(), err
}
